"""Maps of the probability over two features, and the rows on them."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.plots._rows import numbers
from fairdash.plots._theme import TEXT, Spec

EDGE = "#262730"  # on a light map in both themes
_COLOURS = [[0.0, "#2166ac"], [0.5, "#f7f7f7"], [1.0, "#b2182b"]]


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
            "tickformat": ".1~%",
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
