"""Estimates against the limits that a policy sets them."""

import pandas as pd

from fairdash._wording import interval, number
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, records
from fairdash.plots.theme import GROUPS, INK, MUTED, Picture, Spec, fade, value_axis

_STATUSES = {
    "pass": ("kept", INK, "circle"),
    "fail": ("broken", GROUPS[1], "diamond"),
    "undecided": ("undecided", MUTED, "circle-open"),
    "not surely broken": ("not surely broken", GROUPS[1], "diamond-open"),
}


def plot_limits(
    table: pd.DataFrame, *, headline: str, caption: str = "", axis: str = "value"
) -> Picture:
    """One row per estimate: its interval, and the limit it is held against.

    Parameters
    ----------
    table : DataFrame
        label, value, low, high, limit (a number on the same axis) and status: "pass",
        "fail", "undecided" or "not surely broken". With bound_low and bound_high these
        are marked too: the least and the largest value that is possible.
    """
    marks = [
        marks_of(table, "value", ("low", "high"), _held, only=table["status"] == status)
        for status in _STATUSES
    ]
    marks.append(marks_of(table, "limit", None, lambda row: f"limit {row['limit']:g}"))
    series = [Series(*look, 10) for look in _STATUSES.values()]
    series.append(Series("limit", fade(INK, 0.6), "line-ns-open", 14))
    if "bound_low" in table:
        both = [marks_of(table, f"bound_{end}", None, _held) for end in ("low", "high")]
        marks.append(pd.concat(both))
        series.append(Series("least and largest possible", MUTED, "x-thin-open", 8))
    figure = draw_rows(
        pd.concat([own.assign(series=i) for i, own in enumerate(marks)]),
        table["label"].astype(str).tolist(),
        series,
        [Panel(value_axis(axis, showgrid=True, rangemode="tozero"))],
        least=30,
        legend=True,
        top=40,
    )
    said = "; ".join(_held(row) for row in records(table))
    return Picture(figure, headline, f"{headline}. {said}.", table, caption)


def _held(row: Spec) -> str:
    ends = f"{number(row['value'])} ({interval(row['low'], row['high'])})"
    return f"{row['label']}: {ends}, limit {row['limit']:g}, {row['status']}"
