"""Fair log-loss: predictor against approximator, and where truncation begins."""

from typing import Any

import pandas as pd

from fairdash._wording import fitting, listing, number
from fairdash.plots._picture import Picture
from fairdash.plots._rows import records, scatter, upright_line
from fairdash.plots._theme import MUTED, Spec, fade, finish, group_colours

_DASHES = ("dash", "solid")  # by outcome, where the constraint tells them apart
_GIVEN = ("negative outcome", "positive outcome")


def plot_players(
    curves: pd.DataFrame, points: pd.DataFrame, *, groups: tuple[str, ...]
) -> Picture:
    """Approximator Q over predictor P, one line a group (Figure 1 of the paper).

    Parameters
    ----------
    curves : DataFrame
        group, outcome (0, 1, or -1 where both share a curve), p, q; in order of p.
    points : DataFrame as for `plot_truncation`
    groups : tuple of str
        Of the data set, in its order.

    Returns
    -------
    Picture: the diagonal, where Q believes P, and a line per group and outcome
    """
    colours = group_colours(groups)
    diagonal: Spec = scatter(
        [0, 1],
        [0, 1],
        line={"color": MUTED, "width": 1.5, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
    )
    data: list[Spec] = [diagonal]
    for key, part in curves.groupby(["outcome", "group"], sort=False):
        outcome, group = int(str(key[0])), str(key[1])
        words = f"{group}, {_GIVEN[outcome]}" if outcome >= 0 else group
        data.append(
            scatter(
                part["p"],
                part["q"],
                name=words,
                line={
                    "color": colours[group],
                    "width": 2,
                    "dash": _DASHES[outcome] if outcome >= 0 else "solid",
                },
                hovertemplate=f"{words}: P %{{x:.2f}}, Q %{{y:.2f}}<extra></extra>",
            )
        )
    layout: Spec = {
        "xaxis": {"title": "predictor P", "range": [0, 1], "nticks": 6},
        "yaxis": {"title": "approximator Q", "range": [0, 1.02], "nticks": 6},
    }
    return Picture(
        finish(data, layout, height=340, legend=True),
        "What the predictor plays against",
        f"Approximator Q over predictor P by group. {_ends(points)}",
        points,
        "The two players at the fitted multipliers (λ).",
    )


def plot_truncation(
    bars: pd.DataFrame, points: pd.DataFrame, *, groups: tuple[str, ...]
) -> Picture:
    """Histogram of the scores before truncation, with the points where it begins.

    Parameters
    ----------
    bars : DataFrame
        group, score (middle of a bin), share (of the group's rows).
    points : DataFrame
        group, outcome, point, side ("above" or "below"); without a point, NaN.
    groups : tuple of str

    Returns
    -------
    Picture: a stepped line per group, and a dashed line per truncation point
    """
    colours = group_colours(groups)
    data: list[Spec] = []
    for key, part in bars.groupby("group", sort=False):
        group = str(key)
        data.append(
            scatter(
                part["score"],
                part["share"],
                name=group,
                line={"color": colours[group], "width": 2, "shape": "hvh"},
                fill="tozeroy",
                fillcolor=fade(colours[group], 0.1),
                hovertemplate=f"{group}: %{{y:.1%}} of rows<extra></extra>",
            )
        )
    lines: list[Spec] = [
        upright_line(cut["point"], color=colours[cut["group"]], width=2, dash="dash")
        for cut in _cuts(points)
    ]
    layout: Spec = {
        "xaxis": {"title": "score before truncation", "range": [0, 1], "nticks": 6},
        "yaxis": {"title": "rows", "tickformat": ".1~%", "rangemode": "tozero"},
        "shapes": lines,
    }
    return Picture(
        finish(data, layout, height=340, legend=True),
        _headline(points),
        f"Histogram of scores by group before truncation. {_ends(points)}",
        points,
    )


def _headline(points: pd.DataFrame) -> str:
    """Say where probabilities stop."""
    cuts = _cuts(points)
    if not cuts:
        return "Probabilities meet the constraint without truncation"
    ends = [f"{cut['group']} {_end(cut)}" for cut in cuts]
    return fitting(
        f"Probabilities stop: {listing(ends)}",
        f"Probabilities are truncated at {len(cuts)} points",
    )


def _ends(points: pd.DataFrame) -> str:
    cuts = _cuts(points)
    if not cuts:
        return "No probability is truncated."
    ends = [f"{cut['group']} {_end(cut)}" for cut in cuts]
    return f"Truncated: {listing(ends)}."


def _cuts(points: pd.DataFrame) -> list[dict[str, Any]]:
    return records(points.dropna(subset="point"))


def _end(cut: dict[str, Any]) -> str:
    given = f" given a {_GIVEN[int(cut['outcome'])]}" if cut["outcome"] >= 0 else ""
    return f"{cut['side']} {number(cut['point'], 2)}{given}"
