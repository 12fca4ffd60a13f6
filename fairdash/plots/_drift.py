"""The gaps of a model on two tables, and how they change."""

import math

import pandas as pd

from fairdash._wording import interval, number, points
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, reasons_of, records
from fairdash.plots.theme import INK, MUTED, Picture, Spec, value_axis


def plot_gap_changes(
    table: pd.DataFrame, *, headline: str, caption: str, low: str, high: str
) -> Picture:
    """One row per subgroup: the gap before and after, and its change beside.

    Of ``fairdash.audits.gap_changes``; a gap is the rate of the group ``high`` less
    that of ``low``.
    """
    marks = []
    for i, (when, aside) in enumerate((("before", -0.12), ("after", 0.12))):

        def hover(row: Spec, when: str = when) -> str:
            return _gap(row, when)

        ends = f"{when}_low", f"{when}_high"
        marks.append(marks_of(table, f"gap_{when}", ends, hover, series=i, aside=aside))
    clear = (table["ci_low"] > 0) | (table["ci_high"] < 0)
    for i, only in ((2, clear), (3, ~clear)):
        ends = "ci_low", "ci_high"
        marks.append(marks_of(table, "change", ends, _changed, series=i, only=only))
    gaps = value_axis(f"gap, {high} − {low}", nticks=6, domain=[0, 0.54], zeroline=True)
    changes = value_axis("change", nticks=4, domain=[0.62, 1], zeroline=True)
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
    said = "; ".join(
        f"{row['subgroup']}: {_changed(row)}"
        for row in records(table[table["estimable"]])
    )
    return Picture(
        figure,
        headline,
        f"{headline}. {said or 'No subgroup is estimable'}.",
        table,
        caption,
    )


def _gap(row: Spec, when: str) -> str:
    if math.isnan(row[f"gap_{when}"]):
        return ""
    ends = interval(row[f"{when}_low"], row[f"{when}_high"])
    return f"{row['subgroup']}: {number(row[f'gap_{when}'])} ({ends})"


def _changed(row: Spec) -> str:
    ends = f"{points(row['ci_low'])} to {points(row['ci_high'])}"
    return f"{points(row['change'])} ({ends})"
