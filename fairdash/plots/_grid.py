"""A metric over the grid of λ and τ."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash.plots._front import GROUND, METRICS, metric_words
from fairdash.plots._rows import (
    numbers,
    records,
    scatter,
)
from fairdash.plots._theme import INK, MUTED, PAPER, Picture, Spec, fade, finish

_TICKS = 6
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")


def plot_grid(table: pd.DataFrame, *, metric: str, unsure: str = "") -> Picture:
    """Draw cells of a metric over λ (across) and τ (up), and where the limit is kept.

    Its figure is a heat map; transparent markers to click on, one per row of ``table``;
    a line along the limit; crosses. Cells are the rows of ``table``, one per setting:
    fairness_weight, tau, value (of ``metric``, see ``METRICS``), within and constant
    (does not decide; its cell is crossed out and has no colour); and if known quiet
    (not above what chance shows; its cell is pale). ``unsure`` is said instead of the
    range of the metric, where that is not beyond chance.
    """
    deciding = table[~table["constant"].astype(bool)]
    across = sorted(table["fairness_weight"].unique())
    up = sorted(table["tau"].unique())
    column = table["fairness_weight"].map(across.index).to_numpy()
    row = table["tau"].map(up.index).to_numpy()
    values = np.full((len(up), len(across)), np.nan)
    values[row, column] = table["value"].where(~table["constant"].astype(bool))
    within = np.zeros(values.shape, dtype=bool)
    within[row, column] = table["within"]
    title, share = METRICS[metric]
    scale = [[i / (len(GROUND) - 1), shade] for i, shade in enumerate(GROUND)]
    data: list[Spec] = [
        {
            "type": "heatmap",
            "z": [numbers(pd.Series(line)) for line in values],
            "colorscale": scale,
            "xgap": 1,
            "ygap": 1,
            "hoverinfo": "skip",
            "colorbar": {
                "thickness": 10,
                "outlinewidth": 0,
                "tickformat": ".1~%" if share else "~g",
                "nticks": 4,
            },
        },
        scatter(
            column.tolist(),
            row.tolist(),
            mode="markers",
            hover=[
                f"λ {one['fairness_weight']:g}, τ {one['tau']:g}<br>"
                f"{title.split(' (')[0]} {metric_words(metric, one['value'])}"
                + (
                    "<br>decides alike for everyone, or as chance might"
                    if one["constant"]
                    else ""
                )
                for one in records(table)
            ],
            marker={"size": 16, "opacity": 0, "symbol": "square"},
            selected={"marker": {"opacity": 0}},
            unselected={"marker": {"opacity": 0}},
        ),
        *_pale(row, column, table, values.shape),
        _edge(within),
        _crosses(row, column, table["constant"].to_numpy(bool)),
    ]
    layout: Spec = {
        "xaxis": _ticks(across) | {"title": "fairness weight λ"},
        "yaxis": _ticks(up) | {"title": "locality τ", "showgrid": False},
    }
    return Picture(
        finish(data, layout, height=380, right=4),
        unsure or _grid_headline(deciding, metric),
        _grid_description(deciding, metric),
        table,
    )


def _grid_description(table: pd.DataFrame, metric: str) -> str:
    """Where the metric is smallest and largest."""
    known = table.dropna(subset=["value"])
    name = METRICS[metric][0].split(" (")[0]
    if known.empty:
        return f"{name} is undefined at every setting."
    ranked = records(known.sort_values("value"))
    ends = ranked[0], ranked[-1]
    words = [
        f"{metric_words(metric, end['value'])} at λ {end['fairness_weight']:g}, "
        f"τ {end['tau']:g}"
        for end in ends
    ]
    return f"{name} over the grid: from {words[0]} to {words[1]}."


def _grid_headline(table: pd.DataFrame, metric: str) -> str:
    """Between which values the metric moves over the grid."""
    known = table["value"].dropna()
    name = METRICS[metric][0].split(" (")[0]
    if known.empty:
        return f"{name} is undefined at every setting"
    low, high = (metric_words(metric, float(v)) for v in (known.min(), known.max()))
    return f"{name[0].upper()}{name[1:]} runs from {low} to {high} on test rows"


def _ticks(values: Sequence[float]) -> Spec:
    """Return an axis of cells that names some of them."""
    step = max(1, round(len(values) / _TICKS))
    at = list(range(0, len(values), step))
    return {
        "tickvals": at,
        "ticktext": [f"{values[i]:.3g}" for i in at],
        "range": [-0.5, len(values) - 0.5],
        "ticks": "",
    }


def _edge(within: Any) -> Spec:
    """Return the line between the cells that keep the limit and those that do not."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for i, j in zip(*np.nonzero(within[:, 1:] != within[:, :-1]), strict=True):
        xs += [j + 0.5, j + 0.5, None]
        ys += [i - 0.5, i + 0.5, None]
    for i, j in zip(*np.nonzero(within[1:] != within[:-1]), strict=True):
        xs += [j - 0.5, j + 0.5, None]
        ys += [i + 0.5, i + 0.5, None]
    return scatter(xs, ys, line={"color": INK, "width": 2}, hoverinfo="skip")


def _pale(row: Any, column: Any, table: pd.DataFrame, shape: Any) -> list[Spec]:
    """Return a veil over the cells that chance alone explains, if they are known."""
    if "quiet" not in table or not table["quiet"].any():
        return []
    z = np.full(shape, np.nan)
    z[row, column] = table["quiet"].where(table["quiet"], np.nan).astype(float)
    veil = [[0, fade(PAPER, 0.75)], [1, fade(PAPER, 0.75)]]
    cells: Spec = {"type": "heatmap", "z": [numbers(pd.Series(line)) for line in z]}
    return [cells | {"colorscale": veil, "showscale": False, "hoverinfo": "skip"}]


def _crosses(row: Any, column: Any, constant: Any) -> Spec:
    """Return a cross in every cell whose model does not decide."""
    return scatter(
        column[constant].tolist(),
        row[constant].tolist(),
        mode="markers",
        marker={"symbol": "x-thin-open", "size": 9, "color": MUTED},
        hoverinfo="skip",
    )
