"""Figures of individual fairness: what does not count, what consistency costs."""

import pandas as pd
import plotly.graph_objects as go

from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import (
    GROUPS,
    INK,
    MUTED,
    Spec,
    fade,
    finish,
    model_marks,
)
from fairdash.plots._words import fitting, percent

_ROW, _LONGEST = 30, 34


def plot_consistency(table: pd.DataFrame) -> go.Figure:
    """Balanced accuracy against consistency, a mark for each model (Figure 2).

    Parameters
    ----------
    table : DataFrame
        ``label``, ``colour_role``, ``consistency`` with ``_low`` and ``_high``,
        ``balanced_accuracy``, ``chosen``, and ``fairness_weight``, NaN where a method
        has none. Models of one method are joined in order of their weight.

    Returns
    -------
    Figure: a line for each method with several weights, then one trace per model, then
    the ring of the chosen one
    """
    data: list[Spec] = []
    marks = model_marks(table["colour_role"].tolist())
    colours = dict(zip(table["colour_role"], (c for c, _ in marks), strict=True))
    weighed = table.dropna(subset=["fairness_weight"])
    for role, rows in weighed.groupby("colour_role", sort=False):
        if len(rows) < 2:
            continue
        ordered = rows.sort_values("fairness_weight")
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": numbers(ordered["consistency"]),
                "y": numbers(ordered["balanced_accuracy"]),
                "line": {"color": fade(colours[str(role)], 0.5), "width": 1.5},
                "hoverinfo": "skip",
            }
        )
    for row, (colour, symbol) in zip(records(table), marks, strict=True):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": row["label"],
                "x": [row["consistency"]],
                "y": [row["balanced_accuracy"]],
                "marker": {"color": colour, "symbol": symbol, "size": 11},
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [row["consistency_high"] - row["consistency"]],
                    "arrayminus": [row["consistency"] - row["consistency_low"]],
                    "color": fade(colour, 0.45),
                    "thickness": 1.5,
                    "width": 0,
                },
                "text": [row["label"]],
                "hovertemplate": "%{text}<br>consistency %{x:.1%}<br>"
                "balanced accuracy %{y:.1%}<extra></extra>",
            }
        )
    ring = table[table["chosen"]]
    data.append(
        {
            "type": "scatter",
            "mode": "markers",
            "x": numbers(ring["consistency"]),
            "y": numbers(ring["balanced_accuracy"]),
            "marker": {"color": INK, "symbol": "circle-open", "size": 20},
            "hoverinfo": "skip",
        }
    )
    layout: Spec = {
        "xaxis": {
            "title": "consistency (fairer →)",
            "tickformat": ".0%",
            "showgrid": True,
            "nticks": 6,
        },
        "yaxis": {"title": "balanced accuracy", "tickformat": ".0%", "nticks": 6},
    }
    return finish(data, layout, height=380)


def describe_consistency(table: pd.DataFrame) -> str:
    """Alt text: consistency and balanced accuracy of every model."""
    listed = "; ".join(
        f"{row['label']}: consistency {percent(row['consistency'], 1)}, balanced "
        f"accuracy {percent(row['balanced_accuracy'], 1)}"
        for row in records(table)
    )
    return f"Balanced accuracy against consistency. {listed}."


def consistency_finding(table: pd.DataFrame) -> str:
    """Say which model treats most people alike."""
    known = table.dropna(subset=["consistency"])
    if known.empty:
        return "Consistency cannot be estimated on these rows"
    best = max(records(known), key=lambda row: float(row["consistency"]))
    share = percent(float(best["consistency"]), 1)
    if len(known) == 1:
        return f"{share} of people keep their prediction"
    return fitting(
        f"Most consistent: {best['label']}, {share} keep their prediction",
        f"The most consistent model keeps {share} of predictions",
    )


def plot_fair_metric(table: pd.DataFrame) -> go.Figure:
    """Draw the share of the features' variance along each direction that is free.

    Parameters
    ----------
    table : DataFrame
        Of ``fairdash.metrics.FairMetric.table``.
    """
    names = [_short(str(name)) for name in table["direction"]]
    learned = [
        str(label).startswith(("predicts", "pairs", "learned"))
        for label in table["direction"]
    ]
    data: list[Spec] = [
        {
            "type": "bar",
            "orientation": "h",
            "x": numbers(table["variance"]),
            "y": list(range(len(names))),
            "marker": {"color": [GROUPS[0] if one else MUTED for one in learned]},
            "text": [percent(float(v), 1) for v in table["variance"]],
            "textposition": "outside",
            "cliponaxis": False,
            "customdata": table["columns"].tolist(),
            "hovertemplate": "%{x:.1%} of the variance<br>%{customdata}<extra></extra>",
        }
    ]
    layout: Spec = {
        "xaxis": {
            "title": "share of the variance of all features",
            "tickformat": ".0%",
            "rangemode": "tozero",
            "nticks": 5,
        },
        "yaxis": {
            "tickvals": list(range(len(names))),
            "ticktext": names,
            "autorange": "reversed",
            "showgrid": False,
        },
    }
    height = max(190, 90 + _ROW * len(names))
    return finish(data, layout, height=height, right=52, top=8)


def describe_fair_metric(table: pd.DataFrame) -> str:
    """Alt text: every free direction with its share."""
    listed = "; ".join(
        f"{row['direction']}: {percent(row['variance'], 1)} of the variance, mostly "
        f"{row['columns']}"
        for row in records(table)
    )
    return f"Directions that do not count. {listed}."


def fair_metric_finding(table: pd.DataFrame) -> str:
    """Say how much of what is known of people does not count."""
    share = percent(float(table["variance"].sum()), 0)
    return f"{share} of what the features vary in does not count"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
