"""Noisy groups: who is mistaken for whom, and what is certain of a model."""

import math

import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import fitting, number, percent, wrap
from fairdash.plots._noise_study import zero_line
from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import (
    BELOW_BUTTONS,
    INK,
    MUTED,
    Spec,
    fade,
    finish,
    text,
)

# column, name, symbol, whether filled with ink
_CHECKS = (
    ("noisy", "noisy groups", "circle-open", MUTED),
    ("true", "true groups", "diamond", INK),
    ("drawn", "20 random draws", "line-ns-open", MUTED),
    ("ball", "exact, TV ball", "square", "#000006"),
    ("soft", "exact, soft", "triangle-up-open", "#000008"),
)


def plot_certificates(table: pd.DataFrame) -> go.Figure:
    """One row per model: violations found, and how large they can be.

    Parameters
    ----------
    table : DataFrame
        label, and largest violations ``noisy``, ``true``, ``drawn``, ``soft`` and
        ``ball``; NaN where unknown.

    Returns
    -------
    Figure: one trace of marks for each kind, one line per model
    """
    places = list(range(len(table)))
    kinds = [column for column, *_ in _CHECKS]
    low, high = table[kinds].min(axis=1), table[kinds].max(axis=1)
    data: list[Spec] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": [x for a, b in zip(low, high, strict=True) for x in (a, b, None)],
            "y": [y for place in places for y in (place, place, None)],
            "line": {"color": fade(MUTED, 0.4), "width": 1},
            "hoverinfo": "skip",
            "showlegend": False,
        }
    ]
    for column, name, symbol, colour in _CHECKS:
        if table[column].notna().any():
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": numbers(table[column]),
                    "y": places,
                    "cliponaxis": False,
                    "text": [
                        f"{label}<br>{name}: {number(value)}"
                        for label, value in zip(
                            table["label"], table[column], strict=True
                        )
                    ],
                    "hovertemplate": "%{text}<extra></extra>",
                    "marker": {
                        "color": colour,
                        "symbol": symbol,
                        "size": 11,
                        "line": {"width": 2, "color": colour},
                    },
                }
            )
    layout: Spec = {
        "xaxis": {
            "title": "largest violation (0 or less: kept)",
            "showgrid": True,
            "nticks": 7,
        },
        "yaxis": {
            "tickvals": places,
            "ticktext": [wrap(str(label), 26) for label in table["label"]],
            "range": [len(places) - 0.5, -0.5],
            "showgrid": False,
        },
        "shapes": [zero_line("x")],
    }
    height = 150 + BELOW_BUTTONS + 34 * max(len(places), 3)
    return finish(data, layout, height=height, top=56 + BELOW_BUTTONS, legend=True)


def describe_certificates(table: pd.DataFrame) -> str:
    """Alt text: the numbers of every model."""
    rows = [
        f"{row['label']}: "
        + ", ".join(
            f"{name} {number(row[column])}"
            for column, name, *_ in _CHECKS
            if not math.isnan(row[column])
        )
        for row in records(table)
    ]
    return f"Largest violation by model. {'; '.join(rows)}."


def certificate_finding(table: pd.DataFrame) -> str:
    """How many models are certain to keep the constraint over the ball."""
    known = table["ball"].dropna()
    kept, n = int((known <= 0).sum()), len(known)
    passed = int((table["drawn"] <= 0).sum())
    if kept:
        return f"{kept} of {n} models surely keep the constraint at this radius"
    return fitting(
        f"No model is safe at this radius; {passed} of {n} pass 20 random draws",
        "No model is safe at this radius",
    )


def plot_confusion(counts: pd.DataFrame) -> go.Figure:
    """Rows by true group (down) and noisy group (across), as shares of the true group.

    Parameters
    ----------
    counts : DataFrame
        True groups in rows, noisy groups in columns.

    Returns
    -------
    Figure: a heat map with the share and the number of rows in every cell
    """
    shares = counts.div(counts.sum(axis=1), axis=0)
    notes = [
        text(
            f"{percent(float(shares.loc[true, noisy]), 0)}<br>"
            f"{counts.loc[true, noisy]:,}",
            colour=INK,
            x=noisy,
            y=true,
        )
        for true in counts.index
        for noisy in counts.columns
    ]
    data: list[Spec] = [
        {
            "type": "heatmap",
            "x": list(map(str, counts.columns)),
            "y": list(map(str, counts.index)),
            "z": [numbers(shares.loc[true]) for true in counts.index],
            "colorscale": [[0, fade("#000005", 0.05)], [1, fade("#000005", 0.5)]],
            "zmin": 0,
            "zmax": 1,
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
            "hoverinfo": "skip",
        }
    ]
    layout: Spec = {
        "xaxis": {
            "title": "noisy group Ĝ",
            "type": "category",
            "tickvals": list(map(str, counts.columns)),
            "ticktext": [wrap(str(name), 8) for name in counts.columns],
            "tickangle": 0,
        },
        "yaxis": {
            "title": "true group G",
            "type": "category",
            "tickvals": list(map(str, counts.index)),
            "ticktext": [wrap(str(name), 12) for name in counts.index],
            "autorange": "reversed",
            "showgrid": False,
        },
        "annotations": notes,
    }
    return finish(data, layout, height=130 + 62 * len(counts))


def describe_confusion(counts: pd.DataFrame) -> str:
    """Alt text: the share of every true group that keeps its name."""
    shares = counts.div(counts.sum(axis=1), axis=0)
    rows = [
        f"{true}: "
        + ", ".join(
            f"{percent(float(shares.loc[true, noisy]), 0)} as {noisy}"
            for noisy in counts.columns
        )
        for true in counts.index
    ]
    return f"How true groups appear among noisy ones. {'; '.join(rows)}."


def confusion_finding(counts: pd.DataFrame) -> str:
    """Whose rows are most often given to another group."""
    if set(counts.index) != set(counts.columns):
        return f"{len(counts)} true groups stand behind {len(counts.columns)} noisy"
    wrong = {
        str(name): 1 - counts.loc[name, name] / counts.loc[name].sum()
        for name in counts.index
    }
    worst = max(wrong, key=wrong.__getitem__)
    return fitting(
        f"{percent(wrong[worst], 1)} of {worst} appear as another group",
        f"Up to {percent(wrong[worst], 1)} of a group appear as another",
    )
