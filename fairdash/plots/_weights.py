"""Weights of the training rows: mean weight of subgroups against their gaps."""

from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import ROWS, Noun, gap_size, number, related
from fairdash.plots import theme
from fairdash.plots._rows import dots, interval_bars, numbers, records, scatter

_PRACTICALLY_EQUAL = 0.02  # most that mean weights, about 1, then differ by
_LARGEST = 26  # diameter of the largest subgroup's dot, in pixels


def plot_ratio_against_di(
    table: pd.DataFrame,
    *,
    colour_role: str,
    related: Any,
    reference: str = "the unconstrained model",
    noun: Noun = ROWS,
) -> theme.Picture:
    """Mean weight against the gap, one dot per estimable subgroup, area by rows.

    The figure has the dots, then the line if there is one. ``table`` is of
    ``fairdash.metrics.weights.ratio_by_subgroup``, ``reference`` whose gaps it has;
    the line is that of ``related``, a ``fairdash.metrics.weights.Correlation``, none
    where its slope is NaN. ``noun`` is what ``n`` of the table counts.
    """
    estimable = table[table["estimable"]]
    colour = theme.method_mark(colour_role)[0]
    names = estimable["subgroup"].astype(str).tolist()
    spec = dots(
        estimable["local_di"],
        estimable["ci_low"],
        estimable["ci_high"],
        [],
        colour=colour,
        symbol="circle",
        name="subgroups",
        hover=[_hover(cell) for cell in records(estimable)],
    )
    spec["y"] = numbers(estimable["mean_ratio"])
    spec["error_x"] = spec["error_x"] | {"color": theme.fade(colour, 0.25)}
    spec["error_y"] = interval_bars(
        estimable["mean_ratio"],
        estimable["ratio_low"],
        estimable["ratio_high"],
        colour=theme.fade(colour, 0.55),
        thickness=2,
    )
    # The area of a dot, not its diameter, is in proportion to its rows.
    diameter = np.sqrt(estimable["n"] / max(estimable["n"].max(), 1))
    spec["marker"] = spec["marker"] | {"size": (_LARGEST * diameter).clip(8).tolist()}
    data = [spec]
    if not np.isnan(related.slope):
        x = [float(estimable["local_di"].min()), float(estimable["local_di"].max())]
        y = [related.intercept + related.slope * value for value in x]
        line = {"color": theme.INK, "width": 1.5}
        data.append(scatter(x, y, line=line, hoverinfo="skip"))
    # At a mean weight of 1 a subgroup counts as in plain training.
    equal: theme.Spec = {
        "type": "line",
        "x0": 0,
        "x1": 1,
        "y0": 1,
        "y1": 1,
        "xref": "x domain",
        "line": {"color": theme.MUTED, "width": 1, "dash": "dot"},
    }
    layout: theme.Spec = {
        "xaxis": theme.gap_axis(
            f"gap of {reference}, points",
            float(estimable["ci_high"].max()),
            rangemode="tozero",
        ),
        "yaxis": {"title": "mean weight r", "nticks": 6},
        "shapes": [equal],
        "annotations": _extremes(estimable, names),
    }
    return theme.Picture(
        theme.finish(data, layout, height=380, top=20),
        _headline(estimable, related.value),
        _describe(estimable, related),
        table,
        f"One dot per subgroup of the training {noun.several}, area by {noun.several}, "
        "95% intervals on both axes; line: least squares.",
    )


def _describe(estimable: pd.DataFrame, related: Any) -> str:
    start = f"Mean weight against the gap of {len(estimable)} subgroups: correlation "
    start += number(related.value, 2)
    if estimable.empty:
        return f"{start}."
    top = max(records(estimable), key=lambda cell: float(cell["mean_ratio"]))
    largest = (
        f"largest mean weight {number(top['mean_ratio'], 2)} for {top['subgroup']}"
    )
    return f"{start}; {largest}, whose gap is {gap_size(top['local_di'])}."


def _headline(estimable: pd.DataFrame, correlation: float) -> str:
    if np.isnan(correlation):
        return "Too few subgroups to relate weights and gaps"
    if np.ptp(estimable["mean_ratio"]) < _PRACTICALLY_EQUAL:
        return "Mean weights are practically equal in all subgroups"
    value = number(correlation, 2)
    sign = related(correlation)
    if not sign:
        return f"Correlation {value}: weights do not follow gaps"
    size = "larger" if sign > 0 else "smaller"
    return f"Correlation {value}: more weight where gaps are {size}"


def _hover(cell: theme.Spec) -> str:
    weight = f"mean r {number(cell['mean_ratio'], 2)}"
    return f"{cell['subgroup']}: {weight}, gap {gap_size(cell['local_di'])}"


def _extremes(estimable: pd.DataFrame, names: list[str]) -> list[theme.Spec]:
    if not names:
        return []
    order = np.argsort(estimable["mean_ratio"].to_numpy())
    place: theme.Spec = {"xref": "x", "yref": "y", "xanchor": "left", "xshift": 10}
    notes = []
    for i, shift in ((order[-1], 14), (order[0], -14)):
        at = {"x": float(estimable["local_di"].iloc[i])}
        at["y"] = float(estimable["mean_ratio"].iloc[i])
        notes.append(theme.text(names[i], theme.INK, yshift=shift, **at, **place))
    return notes[: len(names)]
