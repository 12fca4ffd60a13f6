"""The rates of groups, by each column that groups are of."""

import pandas as pd

from fairdash._wording import count, group_label, interval, percent
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, records
from fairdash.plots.theme import INK, Picture, Spec, value_axis


def plot_group_rates(table: pd.DataFrame, *, headline: str, axis: str) -> Picture:
    """One row per group: its rate with its interval.

    Parameters
    ----------
    table : DataFrame
        feature (the column of the group), group, value, low, high, n, and reason where
        there is no value.
    axis : str
        What the rate is.
    """
    labels = [group_label(row["feature"], str(row["group"])) for row in records(table)]
    named = table.assign(label=labels)
    marks = marks_of(named, "value", ("low", "high"), _words).assign(series=0)
    figure = draw_rows(
        marks,
        labels,
        [Series(axis, INK, named=False)],
        [Panel(value_axis(axis, showgrid=True, rangemode="tozero", tickformat=".0%"))],
        reasons=table["reason"].astype(str).tolist(),
        least=30,
        top=20,
    )
    described = "; ".join(map(_words, records(named)))
    return Picture(figure, headline, f"{headline}. {described}.", table)


def _words(row: Spec) -> str:
    ends = interval(row["low"], row["high"], percent) or "no interval"
    return f"{row['label']}: {percent(row['value'])} ({ends}) of {count(row['n'])} rows"
