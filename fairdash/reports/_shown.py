"""An answer, an audit, a report or a figure as the cell of a notebook shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import pandas as pd

from fairdash import plots
from fairdash._wording import number
from fairdash.audits import Answer, Audit, gap_names
from fairdash.metrics import MEASURE_NAMES
from fairdash.plots import Picture
from fairdash.reports._answers import blocks_of
from fairdash.reports._blocks import Block, Figure, Section, Table, Words
from fairdash.reports._report import Report
from fairdash.reports._written import to_html

_HEIGHT = 640  # pixels of the frame; what is taller scrolls inside


@dataclass(frozen=True)
class Shown:
    """What `show` returns: a notebook draws it, `page` is its whole HTML page."""

    page: str

    def _repr_html_(self) -> str:
        """Return a frame with the page, which loads nothing from elsewhere."""
        return (
            f'<iframe title="fairdash" srcdoc="{escape(self.page)}" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )


def show(
    found: Answer | Audit | Report | Picture,
    section: str | None = None,
    *,
    facts: Sequence[str] = (),
) -> Shown:
    """Show an answer, an audit, a report or a figure in a notebook, as pages do.

    Parameters
    ----------
    section : str, optional
        Of a report, one of `fairdash.reports.SECTIONS`; by default all.
    facts : sequence of str
        Lines under the title of an answer or an audit, such as which rows were
        excluded.

    Returns
    -------
    Shown
        With which a cell ends. It brings plotly.js along, 1.8 MB, and needs no network.

    Raises
    ------
    ValueError
        When the report has no such section.

    Examples
    --------
    >>> import fairdash
    >>> audit = fairdash.audit(
    ...     [0, 1, 0, 1] * 50, [0, 1, 1, 0] * 50, sensitive_features=["a", "b"] * 100
    ... )
    >>> audit.verdict in fairdash.show(audit).page
    True
    """
    if isinstance(found, Picture):
        sections = [Section("figure", "Figure", [Figure(found, "")])]
        return Shown(to_html(found.headline, [], sections, ""))
    if isinstance(found, Answer):
        sections = [Section("answer", "Answer", blocks_of(found))]
        return Shown(to_html("fairdash", [*found.facts, *facts], sections, ""))
    if isinstance(found, Audit):
        sections = [Section("audit", "Every measure by group", audit_blocks(found))]
        return Shown(to_html("Audit", [found.rows, *facts], sections, ""))
    sections = [one for one in found.sections if section in (None, one.name)]
    if not sections:
        raise ValueError(f"The report has no section {section!r}.")
    return Shown(to_html(found.title, found.facts, sections, found.note))


def audit_blocks(found: Audit) -> list[Block]:
    """Return the verdict of an audit, its table, and its figures."""
    table = found.table.rename(index=MEASURE_NAMES)
    shown = table.rename_axis("Measure").reset_index()
    shown = shown.rename(columns={"gap": "Gap", "ci_low": "Low", "ci_high": "High"})
    blocks: list[Block] = [
        Words(found.verdict, finding=True),
        Table("Every measure by group", shown),
    ]
    groups = tuple(dict.fromkeys(found.by_group["group"].astype(str)))
    if found.calibration is not None:
        blocks.append(
            Figure(plots.plot_calibration(found.calibration, groups=groups), "")
        )
    if found.local is not None:
        blocks.append(_local(found, found.local, groups))
    return blocks


def _local(found: Audit, local: pd.DataFrame, groups: tuple[str, ...]) -> Figure:
    """Return the gaps of the first measure inside subgroups."""
    measure = str(local["measure"].iloc[0])
    table = local[local["measure"] == measure].assign(label="decisions")
    values = [
        pd.DataFrame(
            {
                "label": "decisions",
                "subgroup": table["subgroup"],
                "group": name,
                "n": table[f"n_{name}"],
                "value": table[f"value_{name}"],
            }
        )
        for name in groups
    ]
    overall = found.gaps.loc[found.gaps["measure"] == measure, "difference"].abs()
    model = {"label": "decisions", "colour_role": "own scores"}
    chance = float(table["chance"].iloc[0])
    picture = plots.plot_local_di(
        table,
        pd.concat(values, ignore_index=True),
        pd.DataFrame([{**model, "overall": overall.max()}]),
        groups=groups,
        chance=chance,
        names=gap_names(measure),
    )
    words = f"{MEASURE_NAMES[measure]} by subgroup. Grey: up to {number(chance)}, what "
    return Figure(picture, f"{words}chance alone shows.")
