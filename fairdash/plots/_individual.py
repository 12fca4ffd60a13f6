"""Pairs of people who are alike, on the scale of P(1)."""

import pandas as pd

from fairdash._escaping import in_lines, wrap
from fairdash._wording import number, percent
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, records
from fairdash.plots.theme import GROUPS, INK, Picture, Spec, value_axis

_MOST_CHANGES = 10  # differences under the pointer
_WIDE = 44  # letters a line
_OF_PAIRS = {
    "similar": ("a person", "the most similar other person"),
    "changed": ("as they are", "only this changed"),
    "invented": ("a person", "invented look-alike"),
}


def plot_pairs(
    table: pd.DataFrame, *, kind: str, share: float, n: int, threshold: float = 0.5
) -> Picture:
    """Draw pairs of people who are alike, one row a pair, on the scale of P(1).

    Parameters
    ----------
    table : DataFrame
        A row for each pair: ``pair`` in words, ``before`` and ``after`` (P(1) of both),
        ``decision_changed``, and ``changes``, a list of what differs.
    kind : {"similar", "changed", "invented"}
        Who the second of a pair is.
    share, n : float, int
        Share of pairs decided otherwise among all people looked at, and how many.
    threshold : float
        P(1) above which the model decides 1.
    """
    first, second = _OF_PAIRS[kind]
    marks = [
        marks_of(table, column, None, _pair_hover, series=i)
        for i, column in enumerate(("before", "after"))
    ]
    axis = value_axis(
        in_lines("P(1), decided", f"1 above {number(threshold)}"),
        ".0%",
        nticks=4,
        tickangle=0,
        range=[-0.02, 1.02],
    )
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["pair"].astype(str).tolist(),
        [Series(first, INK, "circle", 10), Series(second, GROUPS[1], "diamond", 11)],
        [Panel(axis | {"showgrid": True}, limit=threshold)],
        ticks=[wrap(str(pair), _WIDE) for pair in table["pair"]],
        joined=True,
        least=38,
        around=106,
        lowest=220,
        legend=True,
    )
    whom = {
        "similar": "have a most similar person who is decided otherwise",
        "changed": "are decided otherwise when only this changes",
        "invented": "have an invented look-alike who is decided otherwise",
    }[kind]
    listed = "; ".join(
        f"{row['pair']}, {percent(row['before'], 0)} and {percent(row['after'], 0)}"
        for row in records(table)
    )
    headline = f"{percent(share, 1)} of {n:,} people {whom}"
    return Picture(figure, headline, f"P(1) of pairs. {headline}. {listed}.", table)


def _pair_hover(row: Spec) -> str:
    # More would not fit under the pointer.
    differences = [str(change) for change in row["changes"][:_MOST_CHANGES]]
    ends = f"P(1) {percent(row['before'], 1)} and {percent(row['after'], 1)}"
    return in_lines(ends, *differences)
