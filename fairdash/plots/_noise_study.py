"""What noise in the groups of the training rows does to violation and error."""

import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import number, percent
from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import INK, Spec, fade, finish, model_marks, text

_LEVEL = "share of wrong groups"
_AXES = ("", "2", "3")
_BESIDE = 0.012  # of the width, between the bars of two methods at the same level


def plot_noise_study(table: pd.DataFrame) -> go.Figure:
    """Violation on true groups, on noisy groups, and error, against the noise.

    Parameters
    ----------
    table : DataFrame
        method, label, colour_role, level and, with ``_sd`` over seeds, ``true``,
        ``noisy`` and ``error``.

    Returns
    -------
    Figure: three panels below each other, in each one line per method, the bars of a
    level side by side
    """
    panels = ("true", "noisy", "error")
    heads = ("violation, true groups", "violation, noisy groups", "error")
    methods = list(dict.fromkeys(table["method"]))
    roles = [
        str(table.loc[table["method"] == name, "colour_role"].iloc[0])
        for name in methods
    ]
    data: list[Spec] = []
    step = _BESIDE * float(table["level"].max() - table["level"].min())
    marks = zip(methods, model_marks(roles), strict=True)
    for i, (name, (colour, symbol)) in enumerate(marks):
        mine = table[table["method"] == name].sort_values("level")
        label, levels = str(mine["label"].iloc[0]), mine["level"].tolist()
        shift = step * (i - (len(methods) - 1) / 2)
        for axis, column in zip(_AXES, panels, strict=True):
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": label,
                    "legendgroup": name,
                    "showlegend": axis == "",
                    "x": numbers(mine["level"] + shift),
                    "customdata": levels,
                    "y": numbers(mine[column]),
                    "xaxis": f"x{axis}",
                    "yaxis": f"y{axis}",
                    "line": {"color": colour, "width": 2},
                    "marker": {"color": colour, "symbol": symbol, "size": 9},
                    "error_y": {
                        "type": "data",
                        "array": numbers(mine[f"{column}_sd"]),
                        "color": fade(colour, 0.55),
                        "thickness": 2,
                        "width": 0,
                    },
                    "hovertemplate": "%{y:.3f} at %{customdata:.0%}"
                    f"<extra>{label}</extra>",
                }
            )
    layout: Spec = {
        "shapes": [zero_line("y"), zero_line("y", "2")],
        "annotations": [],
    }
    for i, (axis, head) in enumerate(zip(_AXES, heads, strict=True)):
        top = 1 - i / 3
        layout[f"xaxis{axis}"] = {
            "anchor": f"y{axis}",
            "title": _LEVEL if i == 2 else "",
            "tickformat": ".1~%",
            "nticks": 6,
            "showticklabels": i == 2,
        }
        layout[f"yaxis{axis}"] = {
            "anchor": f"x{axis}",
            "domain": [top - 0.28, top - 0.05],
            "nticks": 5,
            "tickformat": ".1~%" if axis == "3" else "",
        }
        layout["annotations"].append(
            text(
                head,
                xref="paper",
                yref=f"y{axis} domain",
                x=0,
                y=1,
                xanchor="left",
                yanchor="bottom",
            )
        )
    return finish(data, layout, height=620, top=44, legend=True)


def describe_noise_study(table: pd.DataFrame) -> str:
    """Alt text: each method from the least to the most noise."""
    lines = []
    for name, mine in table.groupby("label", sort=False):
        ends = records(mine.sort_values("level"))
        first, last = ends[0], ends[-1]
        lines.append(
            f"{name}: {number(first['true'])} at {percent(first['level'], 0)} noise, "
            f"{number(last['true'])} at {percent(last['level'], 0)}; error "
            f"{percent(first['error'], 1)} to {percent(last['error'], 1)}"
        )
    return f"Largest violation on true groups against noise. {'; '.join(lines)}."


def noise_finding(table: pd.DataFrame) -> str:
    """How many approaches break the constraint on true groups at the most noise."""
    worst = table[table["level"] == table["level"].max()]
    broken, n = int((worst["true"] > 0).sum()), len(worst)
    at = percent(float(table["level"].max()), 0)
    few = "None" if not broken else "All" if broken == n else f"{broken}"
    return f"At {at} noise {few.lower()} of {n} approaches break the constraint"


def zero_line(axis: str, number: str = "") -> Spec:
    """Return the line at 0, beyond which a constraint is broken."""
    along, other = (axis, "y") if axis == "x" else (axis, "x")
    return {
        "type": "line",
        f"{along}ref": f"{along}{number}",
        f"{other}ref": f"{other}{number} domain",
        f"{along}0": 0,
        f"{along}1": 0,
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"color": fade(INK, 0.6), "width": 1.5, "dash": "dash"},
        "layer": "below",
    }
