"""What post-processing costs: accuracy against DI, method by method."""

import math

import pandas as pd
import plotly.graph_objects as go

from fairdash._wording import between, fitting, number, percent
from fairdash.plots._rows import numbers, records
from fairdash.plots._theme import (
    INK,
    Spec,
    fade,
    finish,
)

_MARKS = {
    "none": ("#000005", "square-open"),
    "hardt": ("#000009", "square"),
    "odds": ("#000009", "square-x-open"),
    "reject": ("#000006", "triangle-up"),
    "shift": ("#000007", "diamond"),
}
_ORDER = ["accuracy", "demographic_parity_difference"]


def plot_trade_off(methods: pd.DataFrame, curve: pd.DataFrame) -> go.Figure:
    """One mark per method, the ramp as a line over its tolerances.

    Parameters
    ----------
    methods : DataFrame
        kind ("none", "hardt", "odds", "reject", "shift"), label, and accuracy and
        demographic_parity_difference, each with ``_low`` and ``_high``.
    curve : DataFrame
        The same numbers of the ramp by ``tolerance``; the first row is the setting
        looked at, the others are in order of tolerance.

    Returns
    -------
    Figure: one trace of the line, one of the ring, one per method
    """
    line, chosen = curve.iloc[1:], curve.iloc[:1]
    data: list[Spec] = [
        {
            **_points(line, INK, "circle", 6),
            "mode": "lines+markers",
            "name": "Ramp",
            "line": {"color": INK, "width": 2},
            "text": [f"tolerance {number(v, 2)}" for v in line["tolerance"]],
        },
        {
            **_points(chosen, INK, "circle-open", 16, whiskers=True),
            "name": "Ramp, this setting",
            "text": ["this setting"],
        },
    ]
    for i, row in enumerate(records(methods)):
        one = methods.iloc[[i]]
        colour, symbol = _MARKS[str(row["kind"])]
        mark = _points(one, colour, symbol, 11, whiskers=True)
        data.append({**mark, "name": row["label"], "text": [row["label"]]})
    layout: Spec = {
        "xaxis": {
            "title": "DI (← fairer)",
            "showgrid": True,
            "rangemode": "tozero",
            "tickformat": ".2f",
            "nticks": 6,
        },
        "yaxis": {"title": "expected accuracy", "tickformat": ".1%", "nticks": 6},
    }
    return finish(data, layout, height=430, legend=True)


def describe_trade_off(methods: pd.DataFrame, curve: pd.DataFrame) -> str:
    """Alt text: accuracy and DI of every method."""
    rows = [("Ramp at this setting", records(curve)[0])]
    rows += [(str(row["label"]), row) for row in records(methods)]
    listed = "; ".join(
        f"{label}: accuracy {percent(row['accuracy'], 1)}, "
        f"DI {number(row['demographic_parity_difference'])} ("
        + between(
            row["demographic_parity_difference_low"],
            row["demographic_parity_difference_high"],
        )
        + ")"
        for label, row in rows
    )
    return f"Accuracy against DI with 95% intervals. {listed}."


def trade_off_finding(outcome: pd.DataFrame) -> str:
    """Say what the ramp does to DI and accuracy.

    ``outcome`` is that of ``fairdash.postprocessing.expected_outcome`` with a
    reference. A change is named only if its interval excludes 0.
    """
    accuracy, gap = records(outcome.set_index("metric").loc[_ORDER])
    if math.isnan(gap["change"]):
        return "No change can be estimated"
    takes = _clear(gap)
    loses = _clear(accuracy)
    if not takes:
        return "The change of DI is not clear on these rows"
    way = "takes" if gap["change"] < 0 else "adds"
    size = number(abs(gap["change"]))
    to = "off" if gap["change"] < 0 else "to"
    if not loses:
        return f"The ramp {way} {size} {to} DI; accuracy does not clearly change"
    cost = f"{abs(100 * accuracy['change']):.1f} pt accuracy"
    price = "costs" if accuracy["change"] < 0 else "gains"
    return f"The ramp {way} {size} {to} DI and {price} {cost}"


def ramp_finding(starts: dict[str, float], tolerance: float) -> str:
    """Whose ramp starts latest and why; ``starts`` holds the start by group."""
    last = max(starts, key=starts.__getitem__)
    first = min(starts, key=starts.__getitem__)
    if starts[last] - starts[first] < 1e-9:
        return "One ramp serves all groups: no correction is needed"
    why = "so that rates agree" if tolerance == 0 else "to bring rates together"
    return fitting(
        f"The ramp starts latest for {last}, earliest for {first}, {why}",
        f"The ramp starts latest for {last}, {why}",
        f"Ramps start at different scores, {why}",
    )


def before_after_finding(cells: pd.DataFrame) -> str:
    """Say what the corrections do to the largest local DI.

    ``cells`` is as for ``plot_local_di``, the first label being no correction.
    """
    worst = cells.groupby("label", sort=False)["local_di"].max().dropna()
    if worst.empty:
        return "No subgroup is estimable on test rows"
    words = ["before", *(_short(str(label)) for label in worst.index[1:])]
    named = [f"{number(gap, 2)} {word}" for gap, word in zip(worst, words, strict=True)]
    return fitting(
        f"Worst local DI: {', '.join(named)}",
        f"Worst local DI: {', '.join(named[:2])}",
    )


def _short(label: str) -> str:
    """Return the word that tells a correction apart: ramp, crossed, covariance."""
    return label.lower().removeprefix("ramp, ").removesuffix(" control")


def _clear(row: Spec) -> bool:
    return bool(row["change_low"] > 0 or row["change_high"] < 0)


def _points(
    table: pd.DataFrame, colour: str, symbol: str, size: int, *, whiskers: bool = False
) -> Spec:
    x, y = table["demographic_parity_difference"], table["accuracy"]
    spec: Spec = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(y),
        "cliponaxis": False,
        "marker": {
            "color": colour,
            "symbol": symbol,
            "size": size,
            "line": {"width": 2},
        },
        "hovertemplate": "%{text}: %{y:.1%} accurate, DI %{x:.3f}<extra></extra>",
    }
    if whiskers:
        thin: Spec = {"type": "data", "symmetric": False, "width": 0, "thickness": 1.5}
        thin["color"] = fade(colour, 0.45)
        for axis, name, at in (("x", _ORDER[1], x), ("y", _ORDER[0], y)):
            spec[f"error_{axis}"] = {
                **thin,
                "array": numbers(table[f"{name}_high"] - at),
                "arrayminus": numbers(at - table[f"{name}_low"]),
            }
    return spec
