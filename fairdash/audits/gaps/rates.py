"""A table before any model: base rates by group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from fairdash._wording import (
    ROWS,
    Kpi,
    Noun,
    count,
    gap_size,
    interval_note,
    percent,
    plural,
    spoken_value,
)
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.gaps.local import not_estimable
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import LocalMeasure, intervals, views

_HOW = """
Each row is a subgroup. A dot is the share of a group's rows with a positive
outcome, with its 95% Wilson interval. A dashed line is the share in the whole group.
A subgroup with fewer rows than the smallest size is *not estimable*.

Base rates are facts of the table, not of a model. A model that repeats them repeats
their gaps. Other measures compare decisions with outcomes: they need a model, or a
column of scores.
"""


@dataclass(frozen=True, eq=False)
class BaseRates:
    """How often the outcome is positive, by group and by subgroup.

    Attributes
    ----------
    whole, gap : Interval
        The rate over all rows, with Wilson's interval; the largest minus the smallest
        rate of the groups, with the folded interval of Newcombe.
    groups, cells : DataFrame
        group, n, rate, ci_low, ci_high over all rows; with subgroup, estimable and
        reason inside subgroups.
    local : DataFrame
        Of `fairdash.metrics.views.gap_table`.
    """

    whole: intervals.Interval
    gap: intervals.Interval
    groups: pd.DataFrame
    cells: pd.DataFrame
    local: pd.DataFrame


def outcome_rates(dataset: Dataset, subgroups: Subgroups) -> LocalMeasure:
    """Return the share of outcome 1 by group and subgroup of a data set's rows."""
    return LocalMeasure.of(
        "selection_rate",
        None,
        dataset.y,
        sensitive_features=dataset.groups,
        subgroups=dataset.label_subgroups(subgroups),
        min_size=subgroups.min_size,
        sample_weight=dataset.sample_weight,
        cluster=dataset.unit,
    )


def base_rates(dataset: Dataset, subgroups: Subgroups) -> BaseRates:
    """Return the base rates of a data set under ``subgroups``.

    With sampling weights rates are weighted, with intervals of the linearised variance;
    numbers of rows stay those of rows.
    """
    local = outcome_rates(dataset, subgroups)
    table = local.estimates()
    names = {"value": "rate", "low": "ci_low", "high": "ci_high"}
    rates = table[table["measure"] == "selection_rate"].rename(columns=names)
    rates["estimable"] = rates["reason"] == ""
    inside = rates["subgroup"].notna()
    numbers = ["group", "n", *names.values()]
    everyone = local.everyone.interval(0.95)
    return BaseRates(
        intervals.Interval(*(part[0] for part in everyone)),
        local.overall(),
        rates.loc[~inside, numbers].reset_index(drop=True),
        rates.loc[inside, ["subgroup", *numbers, "estimable", "reason"]].reset_index(
            drop=True
        ),
        views.gap_table(table, "selection_rate"),
    )


def base_rate_kpis(
    rates: BaseRates, used: int, read: int, *, guessed: bool, noun: Noun = ROWS
) -> list[Kpi]:
    """Return rows used of those read, base rate, its gap, subgroups estimable.

    The gap is a finding: of roles that are only ``guessed`` it is not shown. ``noun``
    says what ``used`` and ``read`` count.
    """
    estimable = rates.local["estimable"]
    few = "estimable"
    if not estimable.all():
        few = f"estimable; {not_estimable(rates.local)}"
    share = f"{percent(used / read)} of the file"
    if percent(used / read) == percent(1.0):
        but = f" but {noun.counted(read - used)}" if used < read else ""
        share = f"all of the file{but}"
    kpis = [
        Kpi(f"{noun.several.capitalize()} used", count(used), share),
        Kpi(
            "Base rate P(y = 1)",
            percent(float(rates.whole.value)),
            _ends(rates.whole, percent),
        ),
        Kpi(
            "Gap in base rate",
            gap_size(float(rates.gap.value)),
            _ends(rates.gap, gap_size),
            help="Largest minus smallest base rate of the groups.",
        ),
        Kpi(
            "Subgroups",
            f"{estimable.sum()} of {len(estimable)}",
            few,
            help="Those with enough rows of two groups. Test rows are fewer.",
        ),
    ]
    return [kpi for kpi in kpis if not (guessed and kpi.label == "Gap in base rate")]


def base_rates_answer(
    rates: BaseRates,
    dataset: Dataset,
    cards: Sequence[Kpi],
    *,
    guessed: bool = False,
    reversal: str = "",
) -> Answer:
    """Return how often the outcome is positive, by group and subgroup.

    Of roles that are only ``guessed`` nothing is said as a finding. ``reversal`` is
    what `reversal_words` says of the same rows.
    """
    roles = dataset.roles
    weighted = f", weighted by {roles.sample_weight}" if roles.sample_weight else ""
    size = plural(dataset.n_people, "row")
    if roles.count is not None:
        people = plural(dataset.n_people, "person", "people")
        size = f"{people}, counted by {roles.count}"
    arguments = {
        "overall": rates.groups,
        "groups": dataset.group_names,
        "outcome": roles.outcome(),
        "source": f"{size}{weighted}.",
        "feature": roles.group_prefix(),
    }
    figure = Drawing("plot_base_rates", rates.cells, arguments)
    words = "Base rates, if the guess is right."
    if not guessed:
        words = base_rates_verdict(rates, roles.outcome_verb(), roles.group_prefix())
    return Answer(words, cards, figure, how=_HOW, details=reversal)


def base_rates_verdict(rates: BaseRates, verb: str, feature: str) -> str:
    """Say how many of the lowest and of the highest group have the outcome 1.

    ``verb`` is of `Roles.outcome_verb`, such as "are approved".
    """
    groups = rates.groups.dropna(subset="rate").sort_values("rate")
    if not rates.gap.low > 0:
        return "No clear gap in base rates between groups."
    lowest, highest = (
        f"{percent(row['rate'], 0)} of {spoken_value(feature, row['group'])}"
        for _, row in groups.iloc[[0, -1]].iterrows()
    )
    return f"{lowest} and {highest} {verb}."


def _ends(estimate: intervals.Interval, style: Callable[[float], str]) -> str:
    return interval_note(float(estimate.low), float(estimate.high), style)
