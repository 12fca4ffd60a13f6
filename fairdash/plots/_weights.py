"""Weights of the training rows: where they are large, and how they grew."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import between, number
from fairdash.plots._rows import dots, numbers, records
from fairdash.plots._theme import (
    INK,
    METHODS,
    MUTED,
    OTHER_METHOD,
    Spec,
    fade,
    finish,
    group_colours,
    text,
)

_LARGEST = 26  # diameter of the largest subgroup's dot, in pixels
_GUTTER = 0.08  # between panels


def plot_ratio_against_di(
    table: pd.DataFrame,
    *,
    colour_role: str,
    slope: float,
    intercept: float,
    reference: str = "the unconstrained model",
) -> go.Figure:
    """Mean weight against local DI, one dot per estimable subgroup, area by rows.

    Parameters
    ----------
    table : DataFrame of ``fairdash.metrics.ratio_by_subgroup``
    colour_role : str
        Of the method whose weights these are.
    slope, intercept : float
        Of the line of fit, as in ``fairdash.metrics.Correlation``; NaN draws none.
    reference : str
        Whose local DI it is.

    Returns
    -------
    Figure: the dots, then the line if there is one
    """
    shown = table[table["estimable"]]
    colour = METHODS.get(colour_role, OTHER_METHOD)[0]
    names = shown["subgroup"].astype(str).tolist()
    spec = dots(
        shown["local_di"], shown["ci_low"], shown["ci_high"], [],
        colour=colour,
        symbol="circle",
        name="subgroups",
        hovertemplate="%{text}<extra></extra>",
        text=[_hover(cell) for cell in records(shown)],
    )  # fmt: skip
    mean = shown["mean_ratio"]
    ends: Spec = {"array": numbers(shown["ratio_high"] - mean)}
    ends |= {"arrayminus": numbers(mean - shown["ratio_low"])}
    spec["y"] = numbers(mean)
    spec["error_x"] = spec["error_x"] | {"color": fade(colour, 0.25)}
    spec["error_y"] = spec["error_x"] | ends | {"color": fade(colour, 0.55)}
    area = np.sqrt(shown["n"] / max(shown["n"].max(), 1))
    spec["marker"] = spec["marker"] | {"size": (_LARGEST * area).clip(8).tolist()}
    data = [spec]
    if not np.isnan(slope):
        x = [float(shown["local_di"].min()), float(shown["local_di"].max())]
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": x,
                "y": [intercept + slope * value for value in x],
                "line": {"color": INK, "width": 1.5},
                "hoverinfo": "skip",
            }
        )
    one: Spec = {"type": "line", "x0": 0, "x1": 1, "y0": 1, "y1": 1}
    one |= {"xref": "x domain", "line": {"color": MUTED, "width": 1, "dash": "dot"}}
    layout: Spec = {
        "xaxis": {
            "title": f"local DI of {reference}",
            "tickformat": ".2f",
            "rangemode": "tozero",
            "nticks": 6,
        },
        "yaxis": {"title": "mean weight r", "nticks": 6},
        "shapes": [one],
        "annotations": _extremes(shown, names),
    }
    return finish(data, layout, height=380, top=20)


def describe_ratio_against_di(
    table: pd.DataFrame, correlation: float, low: float, high: float
) -> str:
    """Alt text: the correlation and the subgroup with the largest mean weight."""
    shown = table[table["estimable"]]
    start = f"Mean weight against local DI of {len(shown)} subgroups: correlation "
    start += f"{number(correlation, 2)} ({between(low, high, 2)})"
    if shown.empty:
        return f"{start}."
    top = max(records(shown), key=lambda cell: float(cell["mean_ratio"]))
    where = f"largest mean weight {number(top['mean_ratio'], 2)} for {top['subgroup']}"
    return f"{start}; {where}, whose local DI is {number(top['local_di'])}."


def plot_ratio_by_epoch(table: pd.DataFrame, *, groups: tuple[str, ...]) -> go.Figure:
    """Median of r by epoch with bands of 50 % and 90 % of the rows, a panel per group.

    Parameters
    ----------
    table : DataFrame of ``fairdash.metrics.ratio_quantiles``
    groups : tuple of str

    Returns
    -------
    Figure: per group the wide band, the narrow band and the median
    """
    data: list[Spec] = []
    layout: Spec = {"yaxis": {"title": "weight r", "rangemode": "tozero", "nticks": 6}}
    layout["annotations"] = []
    width = (1 - _GUTTER * (len(groups) - 1)) / len(groups)
    for panel, (name, colour) in enumerate(group_colours(groups).items()):
        axis = f"x{panel + 1}" if panel else "x"
        left = panel * (width + _GUTTER)
        rows = table[table["group"] == name]
        for low, high, opacity in (("q05", "q95", 0.2), ("q25", "q75", 0.4)):
            data.append(_band(rows, low, high, fade(colour, opacity)) | {"xaxis": axis})
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": rows["epoch"].tolist(),
                "y": numbers(rows["q50"]),
                "xaxis": axis,
                "line": {"color": colour, "width": 2},
                "hovertemplate": f"{name}, epoch %{{x}}: median %{{y:.2f}}"
                "<extra></extra>",
            }
        )
        layout[f"xaxis{axis[1:]}"] = {
            "domain": [left, left + width],
            "anchor": "y",
            "title": "epoch",
            "nticks": 3,
        }
        place: Spec = {
            "xref": f"{axis} domain",
            "yref": "y domain",
            "yanchor": "bottom",
        }
        layout["annotations"].append(
            text(f"<b>{name}</b>", colour, x=0, y=1, yshift=4, **place)
        )
    return finish(data, layout, height=380)


def describe_ratio_by_epoch(table: pd.DataFrame) -> str:
    """Alt text: where 90 % of the weights of each group end."""
    last = table[table["epoch"] == table["epoch"].max()]
    parts = [
        f"{row['group']} {between(row['q05'], row['q95'], 2)}" for row in records(last)
    ]
    epoch = f"At epoch {table['epoch'].max():,} 90% of the weights lie in"
    return f"Weights r by epoch and group. {epoch} {', '.join(parts)}."


def _hover(cell: Spec) -> str:
    weight = f"mean r {number(cell['mean_ratio'], 2)}"
    return f"{cell['subgroup']}: {weight}, local DI {number(cell['local_di'])}"


def _extremes(shown: pd.DataFrame, names: list[str]) -> list[Spec]:
    """Name the dots with the largest and the smallest mean weight."""
    if not names:
        return []
    order = np.argsort(shown["mean_ratio"].to_numpy())
    place: Spec = {"xref": "x", "yref": "y", "xanchor": "left", "xshift": 10}
    notes = []
    for i, shift in ((order[-1], 14), (order[0], -14)):
        at = {"x": float(shown["local_di"].iloc[i])}
        at["y"] = float(shown["mean_ratio"].iloc[i])
        notes.append(text(names[i], INK, yshift=shift, **at, **place))
    return notes[: len(names)]


def _band(rows: pd.DataFrame, low: str, high: str, colour: str) -> Spec:
    epoch = rows["epoch"].tolist()
    return {
        "type": "scatter",
        "mode": "lines",
        "x": epoch + epoch[::-1],
        "y": numbers(rows[high]) + numbers(rows[low])[::-1],
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
