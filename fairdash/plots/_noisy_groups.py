"""Noisy groups: who is mistaken for whom, what is certain of a model."""

import math

import numpy as np
import pandas as pd

from fairdash._wording import count, fitting, number, percent, wrap
from fairdash.plots._rows import Panel, Series, draw_rows, marks_of, numbers, records
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


def plot_confusion(counts: pd.DataFrame) -> Picture:
    """Rows by true group (down) and noisy group (across), as shares of the true group.

    ``counts`` have true groups in rows, noisy groups in columns; they are rows, or
    shares that are assumed.
    """
    shares = counts.div(counts.sum(axis=1), axis=0)
    total = float(counts.to_numpy().sum())
    assumed = total <= 1 + 1e-9

    def size(value: float) -> str:
        return f"{percent(value, 1)} of all" if assumed else count(int(value))

    notes = [
        text(
            f"{percent(float(shares.loc[true, noisy]), 0)}<br>"
            f"{size(counts.loc[true, noisy])}",
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
            "title": "recorded as (noisy group Ĝ)",
            "type": "category",
            "tickvals": list(map(str, counts.columns)),
            "ticktext": [
                wrap(str(name), max(10, 28 // len(counts.columns)))
                for name in counts.columns
            ],
            "tickangle": 0,
        },
        "yaxis": {
            "title": "true group (G)",
            "type": "category",
            "tickvals": list(map(str, counts.index)),
            "ticktext": [wrap(str(name), 12) for name in counts.index],
            "autorange": "reversed",
            "showgrid": False,
        },
        "annotations": notes,
    }
    rows = [
        f"{true}: "
        + ", ".join(
            f"{percent(float(shares.loc[true, noisy]), 0)} as {noisy}"
            for noisy in counts.columns
        )
        for true in counts.index
    ]
    return Picture(
        finish(data, layout, height=130 + 62 * len(counts)),
        _confusion_headline(shares),
        f"How true groups appear among noisy ones. {'; '.join(rows)}.",
        counts.rename_axis("true group").reset_index(),
        "Shares implied by the noise assumed."
        if assumed
        else f"{count(round(total))} rows with both groups.",
    )


def _confusion_headline(shares: pd.DataFrame) -> str:
    """Whose rows are most often given to another group."""
    wrong = {str(name): 1 - float(shares.loc[name, name]) for name in shares.index}
    worst = max(wrong, key=wrong.__getitem__)
    return fitting(
        f"{percent(wrong[worst], 1)} of {worst} appear as another group",
        f"Up to {percent(wrong[worst], 1)} of a group appear as another",
    )
