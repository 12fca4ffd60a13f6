"""What an audited table says, in the form that pages show."""

from collections.abc import Iterator

import pandas as pd

from fairdash._wording import (
    Kpi,
    count,
    gap_size,
    headed,
    interval,
    number,
    plural,
    sentences,
)
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.decisions import Audit
from fairdash.audits.tables.audit import TableAudit
from fairdash.metrics import catalog

_HOW = """
Each row is a group. A dot is the share of its rows that are decided positively, with
its 95% interval. Of several columns of groups each stands by itself, then all crossed.
"""
_RATE = "selection_rate"
_COMPARED = ("gap in ", "ratio of ")


def table_answer(audited: TableAudit) -> Answer:
    """Return the verdict of a table, the rates of its groups, and every estimate."""
    estimates = audited.estimates()
    rows = audited.rows
    verdict = _surest(audited).verdict
    if audited.deciding.alike:
        verdict = sentences(audited.deciding.brief("The table"), verdict)
    rates = _rates(estimates)
    figure = None
    if len(rates):
        arguments = {
            "headline": f"Share {audited.question.decided}, by group",
            "axis": f"share {audited.question.decided}",
        }
        figure = Drawing("plot_group_rates", rates, arguments)
    return Answer(
        verdict,
        _cards(audited, estimates),
        figure,
        Listing("Every measure", _listed(estimates), f"{rows.words}."),
        facts=(audited.source.name, audited.source.words),
        details=sentences(*(part.verdict for part in audited.audits.values())),
        caption=sentences(*rows.remarks),
        how=_HOW,
        file="fairdash-audit.csv",
        data=estimates,
    )


def _surest(audited: TableAudit) -> Audit:
    """Return the audit by the columns whose gap over all rows is farthest from 0.

    Where no gap is clear this is the first one; each verdict holds for all of them.
    """
    parts = list(audited.audits.values())

    def distance(part: Audit) -> float:
        first = part.findings[0]
        gaps = [f for f in part.findings if f.sure and f.measure == first.measure]
        ends = [max(gap.low, -gap.high) for gap in gaps if gap.subgroup is None]
        return max(ends, default=0.0)

    return max(parts, key=distance)


def _rates(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the selection rate of each group over all rows."""
    is_rate = estimates["measure"] == _RATE
    over_all = estimates["subgroup"].isna() & estimates["group"].notna()
    columns = ["feature", "group", "value", "low", "high", "n", "reason"]
    return estimates.loc[is_rate & over_all, columns].reset_index(drop=True)


def _cards(audited: TableAudit, estimates: pd.DataFrame) -> list[Kpi]:
    n_excluded = sum(part.rows for part in audited.rows.excluded)
    excluded = f"{count(n_excluded)} of {count(audited.source.rows)} excluded"
    cards = [Kpi("Rows counted", count(audited.rows.n), excluded)]
    measure = str(estimates["measure"].iloc[0])
    gaps = estimates[estimates["measure"] == f"gap in {measure}"]
    is_inside = gaps["subgroup"].notna()
    cards += _gap_card("Largest gap", gaps[~is_inside], measure, "over all rows")
    cards += _gap_card("Largest inside", gaps[is_inside], measure, "in a subgroup")
    n_groups = len(_rates(estimates).drop_duplicates(["feature", "group"]))
    if n_groups:
        columns = plural(len(audited.audits), "column")
        cards.append(Kpi("Groups", count(n_groups), f"of {columns}"))
    return cards


def _gap_card(
    label: str, gaps: pd.DataFrame, measure: str, place: str
) -> Iterator[Kpi]:
    """Yield the card of the largest of some gaps, none where none is defined."""
    sizes = gaps["value"].abs()
    if not sizes.notna().any():
        return
    index = int(sizes.to_numpy(float, na_value=-1).argmax())
    value, low, high = gaps[["value", "low", "high"]].to_numpy(float)[index]
    if value < 0:  # its sign says who is compared with whom
        low, high = -high, -low
    style = gap_size if catalog.measure_of(measure).in_points else number
    ends = interval(low, high, style)
    definition = f"In {catalog.measure_in_text(measure)}, {place}."
    yield Kpi(label, style(abs(value)), ends, help=definition)


def _listed(estimates: pd.DataFrame) -> pd.DataFrame:
    table = estimates.assign(measure=estimates["measure"].map(_measure_words))
    return headed(table.drop(columns="pairs"), feature="Column", reason="Why not")


def _measure_words(name: str) -> str:
    for prefix in _COMPARED:
        if name.startswith(prefix):
            measure = name.removeprefix(prefix)
            return f"{prefix.capitalize()}{catalog.measure_in_text(measure)}"
    return catalog.MEASURE_NAMES.get(name, name)
