"""How often the outcome came at a score, by group."""

import pandas as pd

from fairdash._wording import fitting, group_label, percent
from fairdash.plots._picture import Picture
from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import PAPER, Spec, fade, finish, group_colours

_SYMBOLS = ("circle", "square", "diamond", "triangle-up")


def plot_calibration(
    table: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    feature: str = "",
    outcome: str = "y = 1",
    score: str = "score",
) -> Picture:
    """One line per group over the scores; calibrated by group where lines agree.

    Parameters
    ----------
    table : DataFrame of ``fairdash.metrics.calibration_curve``
    groups : tuple of str
        In the fixed order of the data set.
    feature : str, default=""
        The sensitive feature, which names of groups follow.
    outcome, score : str
        What the share is of, and what the scores are.

    Returns
    -------
    Picture
        Its figure has a trace of marks with Wilson intervals per group. The headline
        says how many scores have groups whose intervals do not overlap.
    """
    bins = list(dict.fromkeys(table["bin"]))
    data: list[Spec] = []
    for i, (name, colour) in enumerate(group_colours(groups).items()):
        cells = table[table["group"] == name]
        shift = 0.12 * (i - (len(groups) - 1) / 2)
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": group_label(feature, name),
                "x": [bins.index(label) + shift for label in cells["bin"]],
                "y": numbers(cells["rate"]),
                "line": {"color": fade(colour, 0.55), "width": 1.5},
                "marker": {
                    "color": colour,
                    "symbol": _SYMBOLS[i % len(_SYMBOLS)],
                    "size": 8,
                    "line": {"color": PAPER, "width": 1},
                },
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": numbers(cells["ci_high"] - cells["rate"]),
                    "arrayminus": numbers(cells["rate"] - cells["ci_low"]),
                    "color": fade(colour, 0.55),
                    "thickness": 2,
                    "width": 0,
                },
                "text": [_hover(cell, feature) for cell in records(cells)],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    layout: Spec = {
        "xaxis": {
            "title": score,
            "tickvals": list(range(len(bins))),
            "ticktext": bins,
            "showgrid": False,
        },
        "yaxis": {
            "title": f"share with {outcome}",
            "tickformat": ".0%",
            "range": [0, 1.02],
            "showgrid": True,
        },
    }
    apart = _apart(table)
    return Picture(
        figure=finish(data, layout, height=360, legend=True),
        headline=_headline(apart, len(bins)),
        alt=_alt(table, score, apart),
        table=table,
        caption=f"Share with {outcome} at each score, by group, with 95% Wilson "
        "intervals. Where lines agree, a score means the same in all groups.",
    )


def _apart(table: pd.DataFrame) -> list[Spec]:
    """Return the scores at which the intervals of two groups do not overlap."""
    found = []
    for label, cells in table.dropna(subset="rate").groupby("bin", sort=False):
        ends = [int(cells["ci_low"].argmax()), int(cells["ci_high"].argmin())]
        more, less = records(cells.iloc[ends])
        if more["ci_low"] > less["ci_high"]:
            found.append({"bin": label, "more": more, "less": less})
    return found


def _headline(apart: list[Spec], n_bins: int) -> str:
    if not apart:
        return "At every score the groups' intervals overlap: it means about the same"
    first = max(apart, key=lambda one: one["more"]["rate"] - one["less"]["rate"])
    more, less = first["more"], first["less"]
    rates = f"{percent(more['rate'], 0)} and {percent(less['rate'], 0)}"
    return fitting(
        f"At {first['bin']} it means {rates} for {more['group']} and {less['group']}",
        f"Groups are apart at {len(apart)} of {n_bins} scores, most at {first['bin']}",
    )


def _alt(table: pd.DataFrame, score: str, apart: list[Spec]) -> str:
    ends = []
    for name, cells in table.dropna(subset="rate").groupby("group", sort=False):
        first, last = records(cells.iloc[[0, -1]])
        rates = f"{percent(first['rate'], 0)} at {first['bin']}"
        ends.append(f"{name} {rates} to {percent(last['rate'], 0)} at {last['bin']}")
    bins = ", ".join(str(one["bin"]) for one in apart) or "none"
    return (
        f"Share with the outcome by {score} and group: {'; '.join(ends)}. Scores at "
        f"which intervals do not overlap: {bins}."
    )


def _hover(cell: Spec, feature: str) -> str:
    rate = f"{percent(cell['rate'], 1)} of {cell['n']:,} rows"
    interval = f"{percent(cell['ci_low'], 1)}–{percent(cell['ci_high'], 1)}"
    return f"{group_label(feature, cell['group'])}, {cell['bin']}: {rate} ({interval})"
