"""Estimates against the limits that a policy sets them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from fairdash._wording import interval, number
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, records
from fairdash.plots.theme import GROUPS, INK, MUTED, Picture, Spec, fade, value_axis

_BETWEEN = 0.08  # of the width, between two axes
_STATUSES = {
    "pass": Series("kept", INK, "circle", 10),
    "fail": Series("broken", GROUPS[1], "diamond", 10),
    "undecided": Series("undecided", MUTED, "circle-open", 10),
    "not surely broken": Series("not surely broken", GROUPS[1], "diamond-open", 10),
}
_LIMIT = Series("limit", fade(INK, 0.6), "line-ns-open", 14)
_POSSIBLE = Series("least and largest possible", MUTED, "x-thin-open", 8)


def plot_limits(table: pd.DataFrame, *, headline: str, axis: str = "value") -> Picture:
    """One row per estimate: its interval, and the limit it is held against.

    Gaps, ratios and values have an axis each, side by side.

    Parameters
    ----------
    table : DataFrame
        label, value, low, high, limit (a number on the same axis) and status: "pass",
        "fail", "undecided" or "not surely broken". With bound_low and bound_high these
        are marked too: the least and the largest value that is possible. With axis, of
        each row what its numbers are, such as "gap" or "ratio".
    axis : str
        Title of the axis of all rows, without that column.
    """
    titles = [axis]
    of_row = pd.Series(axis, index=table.index)
    if "axis" in table and len(table):
        of_row = table["axis"].astype(str)
        titles = list(dict.fromkeys(of_row))
    series: list[Series] = []
    marks: list[pd.DataFrame] = []
    for panel, title in enumerate(titles):
        for look, of_look in _marks(table, of_row == title):
            # The legend names a look once, in the first panel that has such marks.
            earlier = {kind.name for kind in series if kind.named}
            named = len(of_look) > 0 and look.name not in earlier
            marks.append(of_look.assign(series=len(series)))
            series.append(replace(look, panel=panel, named=named))
    figure = draw_rows(
        pd.concat(marks),
        table["label"].astype(str).tolist(),
        series,
        _panels(titles),
        least=30,
        legend=True,
        top=40,
    )
    described = "; ".join(_held(row) for row in records(table))
    return Picture(figure, headline, f"{headline}. {described}.", table)


def _marks(
    table: pd.DataFrame, in_panel: "pd.Series[bool]"
) -> Iterator[tuple[Series, pd.DataFrame]]:
    """Yield the look of each series of one axis and its marks, of the rows in it."""
    for status, look in _STATUSES.items():
        only = in_panel & (table["status"] == status)
        yield look, marks_of(table, "value", ("low", "high"), _held, only=only)
    yield _LIMIT, marks_of(table, "limit", None, _limit_words, only=in_panel)
    if "bound_low" in table:
        low = marks_of(table, "bound_low", None, _held, only=in_panel)
        high = marks_of(table, "bound_high", None, _held, only=in_panel)
        yield _POSSIBLE, pd.concat([low, high])


def _limit_words(row: Spec) -> str:
    return f"limit {row['limit']:g}"


def _panels(titles: Sequence[str]) -> list[Panel]:
    """Return an axis a title, side by side."""
    width = (1 - _BETWEEN * (len(titles) - 1)) / len(titles)
    panels = []
    for place, title in enumerate(titles):
        start = place * (width + _BETWEEN)
        domain = [start, min(1.0, start + width)]
        look = value_axis(title, showgrid=True, rangemode="tozero", domain=domain)
        panels.append(Panel(look))
    return panels


def _held(row: Spec) -> str:
    ends = f"{number(row['value'])} ({interval(row['low'], row['high'])})"
    return f"{row['label']}: {ends}, limit {row['limit']:g}, {row['status']}"
