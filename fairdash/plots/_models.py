"""Models side by side: accuracy, DI and Worst-1-DI with intervals."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import between, number, percent, wrap
from fairdash.plots._rows import dots, name_axis, numbers, records
from fairdash.plots._theme import BAND, INK, Spec, finish, model_marks, text

PANELS = {
    "accuracy": "Accuracy",
    "demographic_parity_difference": "DI",
    "worst_1_di": "Worst-1-DI",
}


def plot_comparison(table: pd.DataFrame) -> go.Figure:
    """Three panels with one row per model.

    Parameters
    ----------
    table : DataFrame
        label, colour_role, and accuracy, demographic_parity_difference, worst_1_di,
        each with ``_low`` and ``_high``: rows of ``fairdash.metrics.evaluate``, or of
        ``summarise_seeds``. The first row stands on top.

    Returns
    -------
    Figure: per model and panel one trace of a mark, its value above
    """
    places = [float(i) for i in range(len(table))]
    rows = name_axis(table["label"].tolist(), places, below=0)
    rows["ticktext"] = [wrap(label, 16) for label in table["label"]]
    layout: Spec = {"yaxis": rows, "annotations": []}
    data: list[Spec] = []
    marks = model_marks(table["colour_role"].tolist())
    for panel, (metric, title) in enumerate(PANELS.items()):
        axis = "" if panel == 0 else str(panel + 1)
        share = metric == "accuracy"
        left, width = panel * 0.36, 0.28
        for i, (colour, symbol) in enumerate(marks):
            row = table.iloc[[i]]
            value = float(row[metric].iloc[0])
            words = percent(value, 1) if share else number(value)
            ends = row[f"{metric}_low"], row[f"{metric}_high"]
            spec = dots(
                row[metric], *ends, [places[i]],
                colour=colour,
                symbol=symbol,
                name=row["label"].iloc[0],
                xaxis=f"x{axis}",
                text=[words],
                textposition="top center",
                textfont={"color": INK, "size": 12},
                hovertemplate=f"{title} {words}, {_interval(row, metric)}",
            )  # fmt: skip
            data.append(spec | {"mode": "markers+text"})
        layout[f"xaxis{axis}"] = {
            "domain": [left, left + width],
            "anchor": "y",
            "tickformat": ".1~%" if share else "~g",
            "nticks": 3,
            "tickangle": 0,
            "showgrid": True,
            "rangemode": "normal" if share else "tozero",
        }
        place: Spec = {"xref": f"x{axis} domain", "yref": "y domain", "yshift": 6}
        layout["annotations"].append(
            text(f"<b>{title}</b>", INK, x=0, y=1, yanchor="bottom", **place)
        )
    height = 64 * len(table) + 60
    return finish(data, layout, height=height, top=30)


def describe_comparison(table: pd.DataFrame) -> str:
    """Alt text: the three numbers of every model."""
    models = "; ".join(
        f"{row['label']}: accuracy {percent(row['accuracy'], 1)}, "
        f"DI {number(row['demographic_parity_difference'])}, "
        f"Worst-1-DI {number(row['worst_1_di'])} "
        f"({between(row['worst_1_di_low'], row['worst_1_di_high'])})"
        for row in records(table)
    )
    return f"Models with 95% intervals. {models}."


def plot_overview(table: pd.DataFrame, *, chance: float = float("nan")) -> go.Figure:
    """Small figure for Home: accuracy against Worst-1-DI, one mark per model.

    Parameters
    ----------
    table : DataFrame as for :func:`plot_comparison`
    chance : float, optional
        Worst-1-DI that chance alone reaches; the grey band ends there.

    Returns
    -------
    Figure: one trace per model
    """
    data: list[Spec] = []
    marks = model_marks(table["colour_role"].tolist())
    for i, (colour, symbol) in enumerate(marks):
        row = table.iloc[[i]]
        ends = row["worst_1_di_low"], row["worst_1_di_high"]
        name = row["label"].iloc[0]
        accuracy = numbers(row["accuracy"])
        words = f"{name}: {percent(float(row['accuracy'].iloc[0]), 1)} accurate, "
        words += f"Worst-1-DI {number(float(row['worst_1_di'].iloc[0]))}"
        spec = dots(
            row["worst_1_di"], *ends, [0.0],
            colour=colour, symbol=symbol, name=name, hovertemplate=words,
        )  # fmt: skip
        up, down = row["accuracy_high"], row["accuracy_low"]
        whisker = {"array": numbers(up - row["accuracy"])}
        whisker |= {"arrayminus": numbers(row["accuracy"] - down)}
        data.append(spec | {"y": accuracy, "error_y": spec["error_x"] | whisker})
    layout: Spec = {
        "xaxis": {
            "title": "Worst-1-DI (← fairer)",
            "showgrid": True,
            "rangemode": "tozero",
            "tickformat": ".2f",
            "nticks": 6,
        },
        "yaxis": {"title": "accuracy", "tickformat": ".1~%", "nticks": 6},
    }
    if not np.isnan(chance):
        band: Spec = {"type": "rect", "fillcolor": BAND, "line": {"width": 0}}
        edge = {"x0": 0, "x1": chance, "y0": 0, "y1": 1, "yref": "y domain"}
        layout["shapes"] = [{**band, **edge, "layer": "below"}]
        at: Spec = {"x": 0, "y": 0, "yref": "y domain", "xanchor": "left"}
        note = text("chance alone", yanchor="bottom", xshift=4, **at)
        layout["annotations"] = [note]
    return finish(data, layout, height=340, legend=True)


def _interval(row: pd.DataFrame, metric: str) -> str:
    ends = float(row[f"{metric}_low"].iloc[0]), float(row[f"{metric}_high"].iloc[0])
    if metric == "accuracy":
        return f"{percent(ends[0], 1)}–{percent(ends[1], 1)}"
    return between(*ends)
