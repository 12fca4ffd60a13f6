"""How often the outcome came: by subgroup, and at a score."""

import pandas as pd

from fairdash._wording import (
    fitting,
    group_label,
    percent,
)
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    marks_of,
    offsets,
    reasons_of,
    records,
)
from fairdash.plots._theme import (
    Picture,
    Spec,
    group_colours,
    value_axis,
)


def plot_calibration(
    table: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    feature: str = "",
    outcome: str = "y = 1",
    score: str = "score",
) -> Picture:
    """One row per span of scores; calibrated by group where its marks agree.

    Its figure has a trace of marks with Wilson intervals per group. ``table`` is of
    ``fairdash.metrics.calibration_curve``, ``outcome`` what the share is of, ``score``
    what the scores are.
    """
    series, marks = [], []
    for i, ((name, colour), aside) in enumerate(
        zip(group_colours(groups).items(), offsets(len(groups)), strict=True)
    ):
        series.append(Series(group_label(feature, name), colour))
        own = table[table["group"] == name]
        ends = "ci_low", "ci_high"
        marks.append(marks_of(own, "rate", ends, _hover, series=i, aside=aside))
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        list(dict.fromkeys(table["bin"].astype(str))),
        series,
        [Panel(value_axis(f"share with {outcome}", ".0%", showgrid=True))],
        least=20 + 4 * len(groups),
        around=110,
        lowest=240,
        legend=True,
    )
    return Picture(
        figure=figure,
        headline=f"Share with {outcome} at each {score}, by group",
        alt=f"Share with {outcome} by {score} and group, with 95% intervals.",
        table=table,
        caption=f"Share with {outcome} at each score, by group, with 95% Wilson "
        "intervals. Where marks agree, a score means the same in all groups.",
    )


def plot_base_rates(
    table: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    outcome: str = "y = 1",
    source: str = "",
    feature: str = "",
) -> Picture:
    """One row per subgroup, one mark per group; dashed: the whole group.

    The headline names the subgroup whose groups are furthest apart. Its figure has per
    group a trace of marks with Wilson intervals and a dashed line. The tables are
    ``cells`` and ``groups`` of ``fairdash.audits.base_rates``; ``outcome`` says what
    the share is of, ``source`` which rows these are, such as "1,200 rows".
    """
    subgroups = list(dict.fromkeys(table["subgroup"].astype(str)))
    series, marks = [], []
    for i, ((group, colour), aside) in enumerate(
        zip(group_colours(groups).items(), offsets(len(groups)), strict=True)
    ):
        own = table[table["group"] == group]
        total = float(overall.loc[overall["group"] == group, "rate"].item())
        label, share = group_label(feature, group), percent(total, 0)
        series.append(
            Series(
                f"{label} · all rows {share}",
                colour,
                reference=total,
                reference_words=f"{label}, {share} of all rows",
            )
        )
        estimable = own.assign(rate=own["rate"].where(own["estimable"]))
        ends = "ci_low", "ci_high"
        marks.append(marks_of(estimable, "rate", ends, _hover, series=i, aside=aside))
    axis = value_axis(
        f"share with {outcome}", ".1~%", nticks=8, showgrid=True, rangemode="tozero"
    )
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        subgroups,
        series,
        [Panel(axis)],
        reasons=reasons_of(table.drop_duplicates("subgroup")),
        grouped=True,
        least=20 + 4 * len(groups),
        around=110,
        lowest=240,
        legend=True,
    )
    words = _widest(table)
    whole = ", ".join(
        f"{row['group']} {percent(row['rate'], 0)} ({row['n']:,} rows)"
        for row in records(overall)
    )
    return Picture(
        figure=figure,
        headline=words,
        alt="Base rates with 95% intervals by subgroup and group. All rows: "
        f"{whole}. {words}.",
        table=table,
        caption=f"Share with {outcome} by subgroup, with 95% Wilson intervals. Dashed: "
        f"the whole group. {source}".rstrip(),
    )


def _widest(table: pd.DataFrame) -> str:
    """Say in which subgroup the rates are furthest apart."""
    rates = table[table["estimable"]].groupby("subgroup", sort=False)
    ends = rates.agg(
        least=("rate", "min"),
        most=("rate", "max"),
        low=("ci_low", "max"),
        high=("ci_high", "min"),
    )
    if ends.empty:
        return "No subgroup has enough rows of every group"
    rows = records(ends.reset_index())
    widest = max(rows, key=lambda row: float(row["most"] - row["least"]))
    name = widest["subgroup"]
    apart = f"{percent(widest['least'], 0)} to {percent(widest['most'], 0)}"
    apart += ", intervals overlap" if widest["low"] <= widest["high"] else ""
    return fitting(
        f"Base rates are furthest apart in {name}: {apart}",
        f"Base rates, {name}: {apart}",
    )


def _hover(cell: Spec) -> str:
    rate = f"{percent(cell['rate'], 1)} of {cell['n']:,} rows"
    interval = f"{percent(cell['ci_low'], 1)}–{percent(cell['ci_high'], 1)}"
    place = cell.get("subgroup", cell.get("bin"))
    return f"{place}, {cell['group']}: {rate} ({interval})"
