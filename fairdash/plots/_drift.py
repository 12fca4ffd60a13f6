"""The gaps of a model on two tables, and how they change."""

import math
from collections.abc import Callable
from functools import partial

import pandas as pd

from fairdash._change import excludes_zero
from fairdash._wording import change, number
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, reasons_of, records
from fairdash.plots.theme import INK, MUTED, Picture, Spec, value_axis

_GAPS = [
    "gap_before",
    "before_low",
    "before_high",
    "gap_after",
    "after_low",
    "after_high",
    "change",
    "ci_low",
    "ci_high",
]


def plot_gap_changes(
    table: pd.DataFrame,
    *,
    headline: str,
    title: str,
    caption: str = "",
    in_points: bool = True,
) -> Picture:
    """One row per subgroup: the gap before and after, and its change beside.

    Of ``fairdash.audits.gap_changes``, drawn in percentage points if a gap is
    ``in_points``; or of ``changes_by_group``. ``title`` says what is compared.
    """
    drawn = table.assign(**100 * table[_GAPS]) if in_points else table
    unit = ", points" if in_points else ""
    marks = []
    for i, (when, aside) in enumerate((("before", -0.12), ("after", 0.12))):
        hover = partial(_gap, when=when, in_points=in_points)
        ends = (f"{when}_low", f"{when}_high")
        marks.append(marks_of(drawn, f"gap_{when}", ends, hover, series=i, aside=aside))
    changed = partial(_changed, in_points=in_points)
    # Clear changes in ink, others muted: two series of one name.
    clear = excludes_zero(table["ci_low"], table["ci_high"])
    for i, only in ((2, clear), (3, ~clear)):
        ends = ("ci_low", "ci_high")
        marks.append(marks_of(drawn, "change", ends, changed, series=i, only=only))
    gaps = value_axis(f"{title}{unit}", nticks=6, domain=[0, 0.54], zeroline=True)
    changes = value_axis(f"change{unit}", nticks=4, domain=[0.62, 1], zeroline=True)
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["subgroup"].astype(str).tolist(),
        [
            Series("reference", INK, "circle-open", 10),
            Series("other table", INK, "circle", 10),
            Series("change", INK, "diamond", 10, panel=1, named=False),
            Series("change", MUTED, "diamond", 10, panel=1, named=False),
        ],
        [Panel(gaps), Panel(changes)],
        reasons=reasons_of(table),
        joined=True,
        least=34,
        around=97,
        legend=True,
        top=40,
    )
    changes_in_words = [
        f"{row['subgroup']}: {changed(row)}"
        for row in records(drawn[table["estimable"]])
    ]
    described = "; ".join(changes_in_words) or "No subgroup is estimable"
    return Picture(figure, headline, f"{headline}. {described}.", table, caption)


def _gap(row: Spec, when: str, in_points: bool) -> str:
    if math.isnan(row[f"gap_{when}"]):
        return ""
    columns = (f"gap_{when}", f"{when}_low", f"{when}_high")
    return f"{row['subgroup']}: {_estimate(row, columns, in_points, number)}"


def _changed(row: Spec, in_points: bool) -> str:
    return _estimate(row, ("change", "ci_low", "ci_high"), in_points, change)


def _estimate(
    row: Spec,
    columns: tuple[str, str, str],
    in_points: bool,
    style: Callable[[float, int], str],
) -> str:
    digits = 1 if in_points else 3
    unit = " points" if in_points else ""
    value, low, high = (style(row[name], digits) for name in columns)
    return f"{value}{unit} ({low} to {high})"
