"""Fair log-loss on two features: probabilities, decision and truncation boundaries."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from fairdash._wording import number
from fairdash.plots._surface import EDGE, heat_map, marks
from fairdash.plots._theme import Spec, finish, text

_GAP = 0.07  # between maps
_SYMBOLS = ("circle-open", "circle")  # by outcome


def plot_two_features(
    surfaces: NDArray[np.float64],
    points: pd.DataFrame,
    lines: pd.DataFrame,
    *,
    axis: NDArray[np.float64],
    groups: Sequence[str],
) -> go.Figure:
    """Probability of the positive outcome over two features, a map per group.

    Parameters
    ----------
    surfaces : ndarray of shape (n_groups, n_axis, n_axis)
        By group, second and first feature.
    points : DataFrame
        x, y, group, outcome of the training rows drawn.
    lines : DataFrame
        group, kind ("decision" or "truncation"), x0, y0, x1, y1.
    axis : ndarray of shape (n_axis,)
        Values of either feature.
    groups : sequence of str

    Returns
    -------
    Figure: for each group a heat map, its rows of both outcomes, and its boundaries
    """
    data: list[Spec] = []
    layout: Spec = {"annotations": []}
    width = (1 + _GAP) / len(groups)
    for k, group in enumerate(groups):
        name = "" if k == 0 else str(k + 1)
        at = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        data.append(
            heat_map(
                surfaces[k],
                axis,
                showscale=k == len(groups) - 1,
                hovertemplate=f"{group}: %{{z:.1%}}<extra></extra>",
                **at,
            )
        )
        mine = points[points["group"] == group]
        data += [
            marks(mine[mine["outcome"] == outcome], symbol, **at)
            for outcome, symbol in enumerate(_SYMBOLS)
        ]
        data += [_line(lines, group, kind, at) for kind in ("decision", "truncation")]
        span = [float(axis[0]), float(axis[-1])]
        layout[f"xaxis{name}"] = {
            "title": "feature 1",
            "domain": [k * width, (k + 1) * width - _GAP],
            "range": span,
            "nticks": 5,
        }
        layout[f"yaxis{name}"] = {
            "title": "feature 2" if k == 0 else "",
            "range": span,
            "anchor": f"x{name}",
            "nticks": 5,
        }
        layout["annotations"].append(
            text(
                group,
                xref=f"x{name} domain",
                yref="paper",
                x=0,
                y=1.02,
                xanchor="left",
                yanchor="bottom",
            )
        )
    return finish(data, layout, height=360, right=60)


def describe_two_features(gap: float, multiplier: float) -> str:
    """Alt text: what the map shows at a multiplier."""
    return (
        "Two heat maps of the probability over two features, one per group, with the "
        "line where decisions change and the line where truncation begins. At a "
        f"multiplier of {number(multiplier, 2)} mean probabilities are "
        f"{number(gap)} apart."
    )


def _line(lines: pd.DataFrame, group: str, kind: str, at: Spec) -> Spec:
    mine = lines[(lines["group"] == group) & (lines["kind"] == kind)]
    xs: list[float | None] = []
    ys: list[float | None] = []
    for x0, y0, x1, y1 in mine[["x0", "y0", "x1", "y1"]].to_numpy().tolist():
        xs += [x0, x1, None]
        ys += [y0, y1, None]
    dash = "solid" if kind == "decision" else "dash"
    return {
        "type": "scatter",
        "mode": "lines",
        "x": xs,
        "y": ys,
        "line": {"color": EDGE, "width": 2.5, "dash": dash},
        "hovertemplate": f"{kind} boundary<extra></extra>",
        **at,
    }
