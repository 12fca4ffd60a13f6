"""Error against violation of the constraint, method by method, over splits."""

import pandas as pd

from fairdash._wording import fitting, listing, number, percent
from fairdash.plots._picture import Picture
from fairdash.plots._rows import records, scatter, whiskers
from fairdash.plots._theme import (
    BELOW_BUTTONS,
    Spec,
    fade,
    finish,
    model_marks,
    text,
)

_PANELS = (("expected", "As probabilities"), ("rounded", "Rounded at one half"))
_MOST = 0.5  # share of seeds beyond which a model counts as constant


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
        layout[f"xaxis{name}"] = {
            "title": "violation (← fairer)",
            "domain": [0.54 * i, 0.46 + 0.54 * i],
            "showgrid": True,
            "rangemode": "tozero",
            "nticks": 5,
        }
        layout[f"yaxis{name}"] = {
            "title": "error" if i == 0 else "",
            "tickformat": ".1~%",
            "anchor": f"x{name}",
            "nticks": 6,
        }
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
    return Picture(figure, _headline(table), alt, table.drop(columns="colour_role"))


def _headline(table: pd.DataFrame) -> str:
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
    """Say where a model says nothing of the outcome."""
    words = {"expected": "as probabilities", "rounded": "rounded"}
    kinds = [words[kind] for kind, _ in _PANELS if row[f"constant_{kind}"] > _MOST]
    return f" (constant {' and '.join(kinds)})" if kinds else ""


def _mark(row: Spec, kind: str, colour: str, symbol: str, *, first: bool) -> Spec:
    error, violation = f"error_{kind}", f"violation_{kind}"
    label = row["label"]
    constant = row[f"constant_{kind}"] > _MOST
    note = "<br>constant: says nothing of the outcome" if constant else ""
    words = f"{label}: %{{y:.1%}} error, violation %{{x:.3f}}{note}<extra></extra>"
    shape = "x-thin-open" if constant else symbol
    spec: Spec = scatter(
        pd.Series([row[violation]]),
        pd.Series([row[error]]),
        mode="markers",
        name=label,
        legendgroup=label,
        showlegend=first,
        cliponaxis=False,
        marker={"color": colour, "symbol": shape, "size": 11},
        hovertemplate=words,
    )
    for axis, name in (("x", violation), ("y", error)):
        spread = pd.Series([row[f"{name}_sd"]])
        spec[f"error_{axis}"] = whiskers(spread, colour=fade(colour, 0.45))
    return spec
