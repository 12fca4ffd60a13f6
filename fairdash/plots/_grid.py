"""A metric over the grid of λ and τ, along each of them, and by another choice."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import number
from fairdash.plots._front import GROUND, METRICS, metric_words
from fairdash.plots._rows import (
    numbers,
    records,
    scatter,
    stairs,
    upright_line,
    whiskers,
)
from fairdash.plots._theme import INK, MUTED, Picture, Spec, fade, finish

_TICKS = 6
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross")
_SHADES = (GROUND[3], GROUND[5], GROUND[7], GROUND[9])


def plot_grid(table: pd.DataFrame, *, metric: str) -> Picture:
    """Draw cells of a metric over λ (across) and τ (up), and where the limit is kept.

    Its figure is a heat map; transparent markers to click on, one per row of ``table``;
    a line along the limit; crosses. Cells are the rows of ``table``, one per setting:
    fairness_weight, tau, value (of ``metric``, see ``METRICS``), within and constant
    (does not decide; its cell is crossed out and has no colour).
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
        _edge(within),
        _crosses(row, column, table["constant"].to_numpy(bool)),
    ]
    layout: Spec = {
        "xaxis": _ticks(across) | {"title": "fairness weight λ"},
        "yaxis": _ticks(up) | {"title": "locality τ", "showgrid": False},
    }
    return Picture(
        finish(data, layout, height=380, right=4),
        _grid_headline(deciding, metric),
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


def plot_by_tau(table: pd.DataFrame, *, metric: str) -> Picture:
    """Draw lines of a metric against τ, one per range of λ, ± one standard deviation.

    Its figure has a line per part, the darkest for the largest λ. The table has tau,
    part (words for the range of λ, in order), mean of the metric and sd over the models
    of the range.
    """
    data: list[Spec] = []
    parts = list(dict.fromkeys(table["part"]))
    shades = _SHADES[len(_SHADES) - len(parts) :]
    for part, shade in zip(parts, shades, strict=True):
        mine = table[table["part"] == part]
        data.append(
            scatter(
                mine["tau"],
                mine["mean"],
                mode="lines+markers",
                name=part,
                line={"color": shade, "width": 2},
                marker={"size": 6, "color": shade},
                error_y=whiskers(
                    mine["sd"].fillna(0.0), colour=fade(shade, 0.5), thickness=1.2
                ),
                hovertemplate=f"{part}, τ %{{x:g}}: %{{y:.3f}}<extra></extra>",
            )
        )
    title, share = METRICS[metric]
    layout: Spec = {
        "xaxis": {"title": "locality τ", "nticks": _TICKS},
        "yaxis": {"title": title, "tickformat": ".1~%" if share else "~g", "nticks": 5},
    }
    name = title.split(" (")[0]
    return Picture(
        finish(data, layout, height=360, legend=True),
        _by_tau_headline(table, metric),
        f"{name} against τ for {len(parts)} ranges of λ.",
        table,
    )


def _by_tau_headline(table: pd.DataFrame, metric: str) -> str:
    """How far τ moves the metric in the last range of λ that is drawn."""
    name = METRICS[metric][0].split(" (")[0]
    if table.empty:
        return "At no λ do the models of every τ decide"
    part = table["part"].iloc[-1]
    last = table[table["part"] == part]["mean"]
    span = metric_words(metric, float(last.max() - last.min()))
    return f"At {part}, τ moves {name} by {span} on test rows"


def plot_ratio_by_tau(
    edges: Sequence[float],
    density: Mapping[float, Sequence[float]],
    spread: Mapping[float, float],
) -> Picture:
    """Draw how the weights r are distributed at several τ.

    Its figure has one line of steps per τ. Density and standard deviation of r are by
    τ; the last bin also holds everything beyond.
    """
    data: list[Spec] = []
    shades = _SHADES[-len(density) :][::-1]
    for (tau, bars), shade in zip(density.items(), shades, strict=True):
        data.append(
            stairs(edges, bars, name=f"τ {tau:g}", line={"color": shade, "width": 2})
        )
    layout: Spec = {
        "xaxis": {"title": "weight r", "nticks": _TICKS},
        "yaxis": {"title": "density", "rangemode": "tozero", "nticks": 4},
        "shapes": [upright_line(1, color=MUTED, dash="dot")],
    }
    low, high = min(spread), max(spread)
    ends = f"{number(spread[low], 2)} at τ {low:g}"
    if low != high:
        ends += f", {number(spread[high], 2)} at {high:g}"
    table = pd.DataFrame({"tau": list(spread), "sd": list(spread.values())})
    return Picture(
        finish(data, layout, height=360, legend=True),
        f"Standard deviation of r: {ends}",
        f"Density of r at {len(density)} values of τ.",
        table,
    )


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


def _crosses(row: Any, column: Any, constant: Any) -> Spec:
    """Return a cross in every cell whose model does not decide."""
    return scatter(
        column[constant].tolist(),
        row[constant].tolist(),
        mode="markers",
        marker={"symbol": "x-thin-open", "size": 9, "color": MUTED},
        hoverinfo="skip",
    )
