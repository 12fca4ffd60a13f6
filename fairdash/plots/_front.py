"""The front of a sweep: what accuracy costs in fairness, method by method."""

import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import fitting, listing, number, percent
from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import (
    BAND,
    METHODS,
    OTHER_METHOD,
    VEIL,
    Spec,
    fade,
    finish,
    text,
)

METRICS: dict[str, tuple[str, bool]] = {
    "accuracy": ("accuracy", True),
    "worst_1_di": ("Worst-1-DI (← fairer)", False),
    "demographic_parity_difference": ("DI (← fairer)", False),
    "worst_2_di": ("Worst-2-DI (← fairer)", False),
    "worst_3_di": ("Worst-3-DI (← fairer)", False),
    "equalized_odds_difference": ("odds gap (← fairer)", False),
    "equal_opportunity_difference": ("opportunity gap (← fairer)", False),
    "demographic_parity_ratio": ("parity ratio (fairer →)", False),
    "balanced_accuracy": ("balanced accuracy", True),
    "auc": ("AUC", False),
    "log_loss": ("log loss", False),
}
GROUND = [f"#{i:06d}" for i in range(11, 21)]  # Streamlit's sequential colours


def metric_words(metric: str, value: float) -> str:
    """Return a value as the screen writes that metric: 65.1% or 0.144."""
    return percent(value, 1) if METRICS[metric][1] else number(value)


def plot_front(
    models: pd.DataFrame,
    runs: pd.DataFrame,
    *,
    axes: tuple[str, str] = ("worst_1_di", "accuracy"),
    chance: float = float("nan"),
    training: pd.DataFrame | None = None,
) -> go.Figure:
    """One mark per model, the front of each method as steps, single runs behind.

    Parameters
    ----------
    models : DataFrame
        One row per setting: label, method (as on screen), colour_role, x, y, x_sd and
        y_sd (NaN for one seed), within (keeps the limit), front (lies on its method's
        front), line (a corner of the line drawn), knee (where the front bends most).
    runs : DataFrame
        One row per single run: method, colour_role, x, y; empty for one seed.
    axes : pair of str
        Metrics along x and y, see `METRICS`.
    chance : float, optional
        Value of x that chance alone reaches; the grey band ends there.
    training : DataFrame, optional
        One row per model that is not finished: label, method, colour_role, x, y.

    Returns
    -------
    Figure: first one trace of marks per method, in order of appearance and with the
    rows of ``models`` in their order; then fronts, runs and models in training
    """
    methods = list(dict.fromkeys(models["method"]))
    data: list[Spec] = []
    for method in methods:
        mine = models[models["method"] == method]
        data.append(_marks(mine, axes))
    for method in methods:
        mine = models[(models["method"] == method) & models["line"]]
        if len(mine):
            data.append(_line(mine.sort_values("x")))
    for method, mine in runs.groupby("method", sort=False):
        data.append(_single(str(method), mine))
    if training is not None:
        for method, mine in training.groupby("method", sort=False):
            data.append(_growing(mine, axes, named=method not in methods))
    layout: Spec = {
        "xaxis": _axis(axes[0]) | {"showgrid": True},
        "yaxis": _axis(axes[1]),
        "annotations": [_knee(row) for row in records(models[models["knee"]])],
    }
    if chance == chance:
        band: Spec = {"type": "rect", "fillcolor": BAND, "line": {"width": 0}}
        edge = {"x0": 0, "x1": chance, "y0": 0, "y1": 1, "yref": "y domain"}
        layout["shapes"] = [{**band, **edge, "layer": "below"}]
        at: Spec = {"x": chance, "y": 0, "yref": "y domain", "xanchor": "right"}
        note = text("chance alone", yanchor="bottom", xshift=-4, **at)
        layout["annotations"].append(note)
    return finish(data, layout, height=420, legend=True)


def describe_front(models: pd.DataFrame, axes: tuple[str, str]) -> str:
    """Alt text: both ends of every method's front."""
    parts = []
    for method in dict.fromkeys(models["method"]):
        mine = models[(models["method"] == method) & models["front"]]
        if not len(mine):
            parts.append(f"{method}: no model within the limit")
            continue
        ends = mine.sort_values("x").iloc[[0, -1]]
        values = " to ".join(
            f"{metric_words(axes[0], end['x'])} at {metric_words(axes[1], end['y'])}"
            for end in records(ends)
        )
        parts.append(f"{method}: {values}")
    names = f"{METRICS[axes[1]][0]} against {METRICS[axes[0]][0]}"
    return f"Fronts of {names}. {'; '.join(parts)}."


def front_finding(models: pd.DataFrame, limit: float) -> str:
    """How many models keep the limit, and which methods have none."""
    none = [
        str(method)
        for method, mine in models.groupby("method", sort=False)
        if not mine["within"].any()
    ]
    kept = int(models["within"].sum())
    words = f"{kept} of {len(models)} settings keep DI within {limit:g}"
    if not kept:
        return f"No setting keeps DI within {limit:g}: raise the limit to see fronts"
    return fitting(f"{words}, none of {listing(none)}", words) if none else words


def _marks(mine: pd.DataFrame, axes: tuple[str, str]) -> Spec:
    colour, symbol = _mark(mine)
    rows = records(mine)
    sizes = [10 if row["front"] else 7 for row in rows]
    shades = [colour if row["front"] else fade(colour, 0.5) for row in rows]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": rows[0]["method"],
        "legendgroup": rows[0]["method"],
        "x": numbers(mine["x"]),
        "y": numbers(mine["y"]),
        "text": [_hover(row, axes) for row in rows],
        "hovertemplate": "%{text}<extra></extra>",
        "zorder": 3,
        "marker": {
            "size": sizes,
            "color": shades,
            "symbol": [symbol if row["within"] else f"{symbol}-open" for row in rows],
            "opacity": 1,
        },
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
        "error_x": _spread(mine, "x", colour),
        "error_y": _spread(mine, "y", colour),
    }


def _spread(mine: pd.DataFrame, axis: str, colour: str) -> Spec:
    """Return whiskers of one standard deviation, on the front alone."""
    spread = mine[f"{axis}_sd"].where(mine["front"]).fillna(0.0)
    return {
        "type": "data",
        "array": spread.tolist(),
        "color": fade(colour, 0.45),
        "thickness": 1.2,
        "width": 0,
        "visible": bool((spread > 0).any()),
    }


def _line(front: pd.DataFrame) -> Spec:
    colour, _ = _mark(front)
    return {
        "type": "scatter",
        "mode": "lines",
        "legendgroup": front["method"].iloc[0],
        "showlegend": False,
        "x": numbers(front["x"]),
        "y": numbers(front["y"]),
        "line": {"color": colour, "width": 2, "shape": "hv"},
        "hoverinfo": "skip",
        "zorder": 2,
    }


def _single(method: str, mine: pd.DataFrame) -> Spec:
    colour, _ = _mark(mine)
    return {
        "type": "scatter",
        "mode": "markers",
        "legendgroup": method,
        "showlegend": False,
        "x": numbers(mine["x"]),
        "y": numbers(mine["y"]),
        "marker": {"color": fade(colour, 0.22), "size": 4},
        "hoverinfo": "skip",
        "zorder": 1,
    }


def _growing(mine: pd.DataFrame, axes: tuple[str, str], *, named: bool) -> Spec:
    """Return models in training: marks that are still to move, in the legend if new."""
    colour, symbol = _mark(mine)
    method = mine["method"].iloc[0]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": method,
        "legendgroup": method,
        "showlegend": named,
        "x": numbers(mine["x"]),
        "y": numbers(mine["y"]),
        "text": [f"{_values(row, axes)}<br>in training" for row in records(mine)],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {"color": fade(colour, 0.4), "size": 5, "symbol": symbol},
        "zorder": 1,
    }


def _knee(row: Spec) -> Spec:
    """Return the word beside the mark where a front bends most."""
    colour, _ = METHODS.get(row["colour_role"], OTHER_METHOD)
    arrow: Spec = {"showarrow": True, "arrowhead": 0, "arrowcolor": colour}
    arrow |= {"arrowwidth": 1.2, "ax": 26, "ay": 24, "standoff": 6}
    return text("knee", colour, x=row["x"], y=row["y"], bgcolor=VEIL) | arrow


def _mark(mine: pd.DataFrame) -> tuple[str, str]:
    return METHODS.get(mine["colour_role"].iloc[0], OTHER_METHOD)


def _axis(metric: str) -> Spec:
    title, share = METRICS[metric]
    return {"title": title, "tickformat": ".1~%" if share else "~g", "nticks": 6}


def _hover(row: Spec, axes: tuple[str, str]) -> str:
    note = "" if row["within"] else "<br>over the DI limit"
    if row["knee"]:
        note = "<br>knee of the front"
    return f"{_values(row, axes)}{note}"


def _values(row: Spec, axes: tuple[str, str]) -> str:
    values = [
        f"{METRICS[metric][0].split(' (')[0]} {metric_words(metric, row[axis])}"
        for metric, axis in zip(axes, "xy", strict=True)
    ]
    return "<br>".join([row["label"], *values])
