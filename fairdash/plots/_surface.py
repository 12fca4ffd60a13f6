"""The probability over two features, one of which should not count."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairdash.plots._rows import numbers
from fairdash.plots._theme import INK, TEXT, Spec, finish, text
from fairdash.plots._words import number

EDGE = "#262730"  # on a light map in both themes
_COLOURS = [[0.0, "#2166ac"], [0.5, "#f7f7f7"], [1.0, "#b2182b"]]
_SYMBOLS = ("circle", "square")  # by group


def plot_surface(
    surface: NDArray[np.float64],
    points: pd.DataFrame,
    *,
    axis: NDArray[np.float64],
    groups: Sequence[str],
) -> go.Figure:
    """Probability of the positive outcome, its boundary, and the free direction.

    Parameters
    ----------
    surface : ndarray of shape (n_axis, n_axis)
        By second and first feature. The first is free.
    points : DataFrame
        x, y, group, outcome of the training rows drawn.
    axis : ndarray of shape (n_axis,)
        Values of either feature.
    groups : sequence of str
        At most two.

    Returns
    -------
    Figure: a heat map with the line of probability one half, the rows by group and
    outcome, and an arrow along the free direction
    """
    boundary = {"coloring": "heatmap", "start": 0.5, "end": 0.5, "size": 1}
    line = {"color": EDGE, "width": 2.5}
    data = [
        heat_map(surface, axis, type="contour", contours=boundary, line=line),
        *(
            marks(points[(points["group"] == group) & (points["outcome"] == outcome)],
                  symbol + ("" if outcome else "-open"))
            for group, symbol in zip(groups, _SYMBOLS, strict=False)
            for outcome in (0, 1)
        ),
    ]  # fmt: skip
    low, high = float(axis[0]), float(axis[-1])
    across = (high - low) / 3
    above: Spec = {"xref": "x", "yref": "paper", "y": 1.05, "yanchor": "middle"}
    arrow: Spec = {
        **above,
        **{"x": low + across, "ax": low, "axref": "x", "ay": 0, "text": ""},
        **{"showarrow": True, "arrowside": "end+start", "arrowhead": 2},
        **{"startarrowhead": 2, "arrowwidth": 2, "arrowcolor": INK},
    }
    words = text("free direction", x=low + across, xanchor="left", xshift=6, **above)
    layout: Spec = {
        "xaxis": {"title": "feature 1", "range": [low, high], "nticks": 5},
        "yaxis": {"title": "feature 2", "range": [low, high], "nticks": 5},
        "annotations": [arrow, words],
    }
    return finish(data, layout, height=360, right=60)


def surface_finding(change: float) -> str:
    """Say how much the probability moves along the free direction."""
    return (
        f"Feature 1 alone moves the probability by up to {number(100 * change, 1)} pt"
    )


def describe_surface(name: str, change: float) -> str:
    """Alt text: what the map of a model shows."""
    return (
        f"Heat map of the probability of {name} over two features, with the line where "
        "decisions change and an arrow along feature 1, which should not count. Along "
        f"it the probability moves by at most {number(100 * change, 1)} points."
    )


def heat_map(z: NDArray[np.float64], axis: NDArray[np.float64], **more: Any) -> Spec:
    """Return a map of probabilities over two features of the same range."""
    return {
        "type": "heatmap",
        "x": axis.tolist(),
        "y": axis.tolist(),
        "z": z.round(4).tolist(),
        "zmin": 0,
        "zmax": 1,
        "colorscale": _COLOURS,
        "colorbar": {
            "title": {"text": "P", "font": {"size": 13, "color": TEXT}},
            "thickness": 12,
            "tickformat": ".0%",
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "tickfont": {"size": 12, "color": TEXT},
        },
        "hovertemplate": "%{z:.1%}<extra></extra>",
        **more,
    }


def marks(rows: pd.DataFrame, symbol: str, **more: Any) -> Spec:
    """Return rows as faint marks that leave the map readable."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(rows["x"]),
        "y": numbers(rows["y"]),
        "marker": {"symbol": symbol, "size": 5, "color": EDGE, "opacity": 0.55},
        "hoverinfo": "skip",
        **more,
    }
