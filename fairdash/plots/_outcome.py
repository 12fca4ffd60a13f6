"""Rates of the outcome: by subgroup, and at a score."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from fairdash._escaping import wrap
from fairdash._wording import group_label, percent
from fairdash.plots import _rows as rows
from fairdash.plots.theme import Picture, Spec, group_colours, value_axis

_MOST_LINES = 4  # dashed, of whole groups


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
    series = [
        rows.Series(group_label(feature, name), colour)
        for name, colour in group_colours(groups).items()
    ]
    figure = _rows(table, "bin", groups, series, outcome)
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

    More than four dashed lines would hide the marks: the legend has their values.
    Its figure has per group a trace of marks with Wilson intervals and a dashed line.
    The tables are ``cells`` and ``groups`` of ``fairdash.audits.gaps.base_rates``;
    ``outcome`` says what the share is of, ``source`` which rows these are.
    """
    series = []
    has_lines = len(groups) <= _MOST_LINES
    for group, colour in group_colours(groups).items():
        total = float(overall.loc[overall["group"] == group, "rate"].item())
        label = group_label(feature, group)
        share = percent(total, 0)
        series.append(
            rows.Series(
                f"{label} · all rows {share}",
                colour,
                reference=total if has_lines else float("nan"),
                reference_words=f"{label}, {share} of all rows",
            )
        )
    estimable = table.assign(rate=table["rate"].where(table["estimable"]))
    reasons = rows.reasons_of(table.drop_duplicates("subgroup"))
    look = {"reasons": reasons, "grouped": True}
    figure = _rows(estimable, "subgroup", groups, series, outcome, **look)
    words = f"Share with {outcome} by subgroup and group"
    whole = ", ".join(
        f"{row['group']} {percent(row['rate'], 0)} ({row['n']:,} rows)"
        for row in rows.records(overall)
    )
    dashed = " Dashed: the whole group." if has_lines else ""
    return Picture(
        figure=figure,
        headline=words,
        alt=f"{words}, with 95% intervals. All rows: {whole}.",
        table=table,
        caption=f"Share with {outcome} by subgroup, with 95% Wilson intervals.{dashed} "
        f"{source}".rstrip(),
    )


def plot_planted(
    table: pd.DataFrame, *, groups: tuple[str, ...], outcome: str, feature: str = ""
) -> Picture:
    """One row per subgroup of a sample: who was marked down, and by how much.

    Its figure has a trace per group of the shares that people decided, and strokes
    where a fair rule decides otherwise. ``table`` is ``rates`` of
    `fairdash.datasets.Sample.truth`.
    """
    series = [
        rows.Series(group_label(feature, name), colour)
        for name, colour in group_colours(groups).items()
    ]
    moved = table[table["decided"] != table["fair"]]
    words = [
        f"{cell['subgroup']}, {group_label(feature, cell['group'])}: "
        f"{percent(cell['decided'], 0)}, by a fair rule {percent(cell['fair'], 0)}"
        for cell in rows.records(moved)
    ]

    def strokes(places: list[float]) -> list[Spec]:
        at = dict(zip(table["subgroup"].unique(), places, strict=True))
        y = [at[name] for name in moved["subgroup"]]
        return [rows.strokes(moved["fair"].tolist(), y, "a fair rule", words)]

    share = table["decided"]
    n = table["rows"]
    shares = table.assign(rate=share, ci_low=share, ci_high=share, n=n)
    figure = _rows(shares, "subgroup", groups, series, outcome, extra=strokes)
    worst = words[(moved["fair"] - moved["decided"]).abs().argmax()]
    caption = f"Share with {outcome} of {n.sum():,} rows drawn like the sample."
    return Picture(figure, worst, f"{caption} {worst}.", table, caption)


def _rows(
    table: pd.DataFrame,
    place: str,
    groups: tuple[str, ...],
    series: list[rows.Series],
    outcome: str,
    **look: Any,
) -> go.Figure:
    marks = []
    ends = ("ci_low", "ci_high")
    for i, aside in enumerate(rows.offsets(len(groups))):
        of_group = table[table["group"] == groups[i]]
        if of_group.empty:
            continue
        marks.append(
            rows.marks_of(of_group, "rate", ends, _hover, series=i, aside=aside)
        )
    title = wrap(f"share with {outcome}", 34)
    axis = value_axis(title, ".1~%", nticks=8, showgrid=True, rangemode="tozero")
    return rows.draw_rows(
        pd.concat(marks, ignore_index=True),
        list(dict.fromkeys(table[place].astype(str))),
        series,
        [rows.Panel(axis)],
        least=20 + 4 * len(groups),
        around=110 + 20 * max(len(groups) - 3, 0),  # legends of a phone are tall
        lowest=240,
        legend=True,
        **look,
    )


def _hover(cell: Spec) -> str:
    rate = f"{percent(cell['rate'], 1)} of {cell['n']:,} rows"
    interval = f"{percent(cell['ci_low'], 1)}–{percent(cell['ci_high'], 1)}"
    place = cell.get("subgroup", cell.get("bin"))
    return f"{place}, {cell['group']}: {rate} ({interval})"
