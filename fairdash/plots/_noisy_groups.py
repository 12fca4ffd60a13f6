"""Noisy groups: the worst case by the share recorded wrongly, and model by model."""

import math

import numpy as np
import pandas as pd

from fairdash._wording import in_points, number, percent, wrap
from fairdash.plots._rows import (
    Panel,
    Series,
    draw_rows,
    marks_of,
    records,
    scatter,
    upright_line,
)
from fairdash.plots._theme import (
    BELOW_BUTTONS,
    INK,
    MUTED,
    Picture,
    Spec,
    fade,
    finish,
    text,
    value_axis,
)

# column, name, symbol, colour
_CHECKS = (
    ("noisy", "noisy groups", "circle-open", MUTED),
    ("ball", "exact, TV ball", "square", "#000006"),
    ("soft", "exact, soft", "triangle-up-open", "#000008"),
)


def plot_certificates(table: pd.DataFrame) -> Picture:
    """One row per model: violations found, and how large they can be.

    Parameters
    ----------
    table : DataFrame
        label, and largest violations ``noisy``, ``soft`` and ``ball``, NaN where
        unknown; ``kept``, whether the ball's is at most 0 on every
        split; ``status``, "" for a model that decides. The others are grey, named as
        what they are, do not stretch the axis and are not counted.
    """
    shown = [check for check in _CHECKS if table[check[0]].notna().any()]
    decides = table["status"] == ""
    opacity = np.where(decides, 1, 0.35)
    marks = []
    for i, (column, name, _, _) in enumerate(shown):

        def hover(row: Spec, column: str = column, name: str = name) -> str:
            return f"{row['label']}<br>{name}: {number(row[column])}"

        own = marks_of(table, column, None, hover, series=i)
        marks.append(own.assign(opacity=opacity))
    series = [Series(name, colour, symbol, 11) for _, name, symbol, colour in shown]
    kinds = [column for column, *_ in shown]
    axis = value_axis(
        "largest violation (0 or less: kept)", nticks=7, showgrid=True
    ) | (_range(table.loc[decides, kinds]) if decides.any() else {})
    ticks = [
        wrap(str(label), 26) + (f"<br><i>{status}</i>" if status else "")
        for label, status in zip(table["label"], table["status"], strict=True)
    ]
    figure = draw_rows(
        pd.concat(marks, ignore_index=True),
        table["label"].astype(str).tolist(),
        series,
        [Panel(axis, limit=0.0)],
        ticks=ticks,
        joined=True,
        least=34,
        around=143 + BELOW_BUTTONS,
        top=56 + BELOW_BUTTONS,
        legend=True,
    )
    rows = [
        f"{row['label']}{' (' + row['status'] + ')' if row['status'] else ''}: "
        + ", ".join(
            f"{name} {number(row[column])}"
            for column, name, *_ in _CHECKS
            if not math.isnan(row[column])
        )
        for row in records(table)
    ]
    alt = f"Largest violation by model. {'; '.join(rows)}."
    return Picture(figure, _certificate_headline(table), alt, table)


def _certificate_headline(table: pd.DataFrame) -> str:
    """How many models are certain to keep the constraint, of those that decide."""
    known = table[(table["status"] == "") & table["ball"].notna()]
    kept, n = int(known["kept"].sum()), len(known)
    if not n:
        return "No model here decides: all accept alike, or as chance might"
    if kept:
        models = "the one model" if n == 1 else f"{kept} of {n} models"
        keeps = "keeps" if n == 1 or kept == 1 else "keep"
        sentence = f"{models} surely {keeps} the constraint at this radius"
        return sentence[0].upper() + sentence[1:]
    return "No model is safe at this radius"


def _range(values: pd.DataFrame) -> Spec:
    """Return the axis of what models that decide show, with room for the marks."""
    shown = [0.0, *(x for x in values.to_numpy(float).ravel() if not math.isnan(x))]
    low, high = min(shown), max(shown)
    room = 0.06 * (high - low or 1)
    return {"range": [low - room, high + room]}


def plot_worst_case(
    table: pd.DataFrame, *, slack: float, share: float, tolerated: float
) -> Picture:
    """Draw how much worse off a group can be, by the share recorded wrongly.

    Parameters
    ----------
    table : DataFrame
        label, share (from 0, in even steps) and worst, a difference of rates; the first
        label is the model looked at, and others are grey.
    slack : float
        The difference at which the promise breaks.
    share : float
        The share looked at.
    tolerated : float
        The share up to which the promise holds; NaN where it is broken already.
    """
    first = str(table["label"].iloc[0])
    data = [
        scatter(
            100 * model["share"],
            100 * model["worst"],
            name=str(label),
            line={"color": INK if label == first else MUTED, "width": 2.5},
            hover=[
                f"{label}<br>{percent(row['share'])} wrong: {in_points(row['worst'])} "
                "points worse"
                for row in records(model)
            ],
        )
        for label, model in table.groupby("label", sort=False)
    ]
    own = table[table["label"] == first]
    at = own.iloc[[int((own["share"] - share).abs().argmin())]]
    ring = {"color": INK, "symbol": "circle-open", "size": 14, "line": {"width": 3}}
    data.append(
        scatter(
            100 * at["share"],
            100 * at["worst"],
            mode="markers",
            marker=ring,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    end = 100 * float(table["share"].max())
    dash: Spec = {"color": fade(INK, 0.6), "width": 1.5, "dash": "dash"}
    level = {"x0": 0, "x1": 1, "xref": "x domain", "y0": 100 * slack, "y1": 100 * slack}
    shapes: list[Spec] = [{"type": "line", "line": dash, **level}]
    words = f"allowed: {in_points(slack)} points"
    notes = [text(words, x=1, xref="x domain", y=100 * slack, xanchor="right")]
    notes[0]["yanchor"] = "bottom"
    if 0 < tolerated < table["share"].max():
        shapes.append(upright_line(100 * tolerated, **dash))
        words = f"holds up to {percent(tolerated)}"
        place: Spec = {"x": 100 * tolerated, "y": 0, "yref": "y domain", "xshift": 4}
        notes.append(text(words, INK, xanchor="left", yanchor="bottom", **place))
    ticks: Spec = {"ticksuffix": "%", "range": [0, end], "showgrid": True}
    layout: Spec = {
        "xaxis": value_axis("share of a group recorded wrongly (γ)", **ticks),
        "yaxis": {"title": "worst case, points worse", "rangemode": "tozero"},
        "shapes": shapes,
        "annotations": notes,
    }
    (row,) = records(at)
    headline = (
        f"With {percent(row['share'])} recorded wrongly a group can be "
        f"{in_points(row['worst'])} points worse off"
    )
    several = len(own) < len(table)
    return Picture(
        finish(data, layout, height=400, legend=several),
        headline,
        f"Worst case against the share recorded wrongly. {headline}; "
        f"{in_points(slack)} are allowed.",
        table,
    )
