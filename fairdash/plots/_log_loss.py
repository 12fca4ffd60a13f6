"""Fair log-loss: where truncation begins, and error against violation of methods."""

from typing import Any

import pandas as pd

from fairdash._wording import (
    fitting,
    group_label,
    listing,
    number,
    percent,
)
from fairdash.plots._rows import reach, records, scatter, upright_line, whiskers
from fairdash.plots._theme import (
    BELOW_BUTTONS,
    Picture,
    Spec,
    fade,
    finish,
    group_colours,
    model_marks,
    text,
    value_axis,
)

_GIVEN = ("negative outcome", "positive outcome")
_PANELS = (("expected", "As probabilities"), ("rounded", "Rounded at one half"))
_MOST = 0.5  # share of seeds beyond which a model counts as constant


def plot_truncation(
    bars: pd.DataFrame,
    points: pd.DataFrame,
    *,
    groups: tuple[str, ...],
    feature: str = "",
) -> Picture:
    """Histogram of the scores before truncation, with the points where it begins.

    The figure has a stepped line per group, and a dashed line per truncation point.
    ``bars`` have group, score (middle of a bin), share (of the group's rows),
    ``points`` group, outcome, point (NaN without one), side ("above" or "below").
    """
    colours = group_colours(groups)
    data: list[Spec] = []
    for key, part in bars.groupby("group", sort=False):
        group = str(key)
        data.append(
            scatter(
                part["score"],
                part["share"],
                name=group_label(feature, group),
                line={"color": colours[group], "width": 2, "shape": "hvh"},
                fill="tozeroy",
                fillcolor=fade(colours[group], 0.1),
                hover=[f"{group}: {percent(y)} of rows" for y in part["share"]],
            )
        )
    lines: list[Spec] = [
        upright_line(cut["point"], color=colours[cut["group"]], width=2, dash="dash")
        for cut in _cuts(points)
    ]
    layout: Spec = {
        "xaxis": {"title": "score before truncation", "range": [0, 1], "nticks": 6},
        "yaxis": {"title": "rows", "tickformat": ".1~%", "rangemode": "tozero"},
        "shapes": lines,
    }
    return Picture(
        finish(data, layout, height=340, legend=True),
        _truncation_headline(points, feature),
        f"Histogram of scores by group before truncation. {_ends(points, feature)}",
        points,
    )


def _truncation_headline(points: pd.DataFrame, feature: str) -> str:
    """Say where probabilities stop."""
    cuts = _cuts(points)
    if not cuts:
        return "Probabilities meet the constraint without truncation"
    ends = [_end(cut, feature) for cut in cuts]
    return fitting(
        f"Probabilities stop: {listing(ends)}",
        f"Probabilities are truncated at {len(cuts)} points",
    )


def _ends(points: pd.DataFrame, feature: str) -> str:
    cuts = _cuts(points)
    if not cuts:
        return "No probability is truncated."
    ends = [_end(cut, feature) for cut in cuts]
    return f"Truncated: {listing(ends)}."


def _cuts(points: pd.DataFrame) -> list[dict[str, Any]]:
    return records(points.dropna(subset="point"))


def _end(cut: dict[str, Any], feature: str) -> str:
    given = f" given a {_GIVEN[int(cut['outcome'])]}" if cut["outcome"] >= 0 else ""
    whose = group_label(feature, cut["group"])
    return f"{whose} {cut['side']} {number(cut['point'], 2)}{given}"


def plot_violations(table: pd.DataFrame) -> Picture:
    """Two panels, before and after rounding; left and low is better.

    Parameters
    ----------
    table : DataFrame
        One row per model: label, colour_role, and error, violation and constant (share
        of seeds in which it says nothing of the outcome), each with the suffixes
        ``_expected`` and ``_rounded``; of error and violation with ``_sd`` behind.
    """
    marks = model_marks(table["colour_role"].tolist())
    data: list[Spec] = []
    layout: Spec = {"annotations": []}
    for i, (kind, title) in enumerate(_PANELS):
        name = "" if i == 0 else "2"
        at = {"xaxis": f"x{name}", "yaxis": f"y{name}"}
        for row, (colour, symbol) in zip(records(table), marks, strict=True):
            data.append(_mark(row, kind, colour, symbol, first=i == 0) | at)
        layout[f"xaxis{name}"] = value_axis(
            "violation (← fairer)",
            nticks=5,
            domain=[0.54 * i, 0.46 + 0.54 * i],
            showgrid=True,
            rangemode="tozero",
        )
        layout[f"yaxis{name}"] = value_axis(
            "error" if i == 0 else "", ".1~%", anchor=f"x{name}"
        )
        decides = ~(table[f"constant_{kind}"] > _MOST)
        if not decides.all():
            error = table.loc[decides, f"error_{kind}"]
            spread = table.loc[decides, f"error_{kind}_sd"].fillna(0)
            layout[f"yaxis{name}"] |= reach([error - spread, error + spread])
        layout["annotations"].append(
            text(
                title,
                xref=f"x{name} domain",
                yref=f"y{name} domain",
                x=0,
                y=1.02,
                xanchor="left",
                yanchor="bottom",
            )
        )
    height, top = 416 + BELOW_BUTTONS, 76 + BELOW_BUTTONS
    figure = finish(data, layout, height=height, legend=True, top=top)
    figure.update_layout(legend={"y": 1.1})
    rows = [
        f"{row['label']}: error {percent(row['error_expected'], 1)}, violation "
        f"{number(row['violation_expected'])} as probabilities; "
        f"{percent(row['error_rounded'], 1)} and {number(row['violation_rounded'])} "
        f"rounded{_constant_words(row)}"
        for row in records(table)
    ]
    alt = f"Error against violation. {'; '.join(rows)}."
    return Picture(
        figure, _violation_headline(table), alt, table.drop(columns="colour_role")
    )


def _violation_headline(table: pd.DataFrame) -> str:
    """Say which model that decides violates least before and after rounding."""
    if table[[f"violation_{kind}" for kind, _ in _PANELS]].isna().all(axis=None):
        return "No violation can be told: a group has no rows to compare"
    able = [
        table[~(table[f"constant_{kind}"] > _MOST)].dropna(subset=f"violation_{kind}")
        for kind, _ in _PANELS
    ]
    least = [
        str(one.sort_values(f"violation_{kind}")["label"].iloc[0]) if len(one) else ""
        for one, (kind, _) in zip(able, _PANELS, strict=True)
    ]
    if not any(least):
        return "No model decides: a small violation is no fairness here"
    if not all(least):
        when = "before" if least[0] else "after"
        return fitting(
            f"Models decide only {when} rounding; least violation: {max(least)}",
            f"Models decide only {when} rounding",
        )
    if len(set(least)) == 1:
        return fitting(
            f"Least violation before and after rounding: {least[0]}",
            "One model has the least violation before and after rounding",
        )
    return fitting(
        f"Least violation: {least[0]}; after rounding: {least[-1]}",
        f"Rounding changes who violates least: {listing(least)}",
        "Rounding changes which model violates least",
    )


def _constant_words(row: Spec) -> str:
    """Say where a model is constant, or not told from chance."""
    words = {"expected": "as probabilities", "rounded": "rounded"}
    kinds = [words[kind] for kind, _ in _PANELS if row[f"constant_{kind}"] > _MOST]
    return f" (constant {' and '.join(kinds)})" if kinds else ""


def _mark(row: Spec, kind: str, colour: str, symbol: str, *, first: bool) -> Spec:
    error, violation = f"error_{kind}", f"violation_{kind}"
    label = row["label"]
    constant = row[f"constant_{kind}"] > _MOST
    note = "<br>constant, or not told from chance" if constant else ""
    words = f"{label}: {percent(row[error])} error, "
    words += f"violation {number(row[violation])}{note}"
    shape = "x-thin-open" if constant else symbol
    spec: Spec = scatter(
        pd.Series([row[violation]]),
        pd.Series([row[error]]),
        mode="markers",
        name=label,
        legendgroup=label,
        showlegend=first,
        cliponaxis=constant,
        marker={"color": colour, "symbol": shape, "size": 11},
        hover=[words],
    )
    for axis, name in (("x", violation), ("y", error)):
        spread = pd.Series([row[f"{name}_sd"]])
        spec[f"error_{axis}"] = whiskers(spread, colour=fade(colour, 0.45))
    return spec
