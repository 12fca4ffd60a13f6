"""Fair log-loss on two made-up features, its multiplier under a slider (Figure 3)."""

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash import plots
from fairdash._wording import Kpi, number, percent
from fairdash.methods import (
    FairLogLoss,
    TruncatedLogistic,
    hold_multiplier,
    two_feature_people,
)
from fairdash.ui.widgets.blocks import figure, kpi_row

_GROUPS = ("Group 0", "Group 1")
_AXIS = np.linspace(-4, 4, 61)
_ALPHAS = (0.001, 0.005, 0.02, 0.1, 0.5)
_HOW = r"""
Rows are made up: group 1 lies higher along both features and has more positive
outcomes (filled). The **solid** line is where decisions change, the **dashed** one
where truncation begins: beyond it all rows of the group get one probability. At λ = 0
this is plain logistic regression; a positive λ pulls group 1 down and group 0 up. At
**λ\*** the mean probabilities of the groups are equal.
"""


def show_two_features() -> None:
    """Draw the demonstration; its controls redraw it alone."""
    with st.expander("See it on two features", icon=":material/scatter_plot:"):
        _demo()


@st.fragment
def _demo() -> None:
    X, y, group = two_feature_people()
    left, right = st.columns(2, gap="medium")
    alpha = right.select_slider(
        "Ridge penalty (α)", _ALPHAS, value=0.005, key="two features alpha"
    )
    best = _fair_multiplier(alpha)
    held = left.slider(
        "Multiplier (λ)", -1.0, 1.0, round(best, 2), 0.02, key=f"two features {alpha}"
    )
    model = hold_multiplier(X, y, group, held, alpha=alpha)
    margin = model.margins(X)
    p = model.mixture(margin, group).p
    gap = float(p[group == 1].mean() - p[group == 0].mean())
    loss = float(-np.mean(np.log(np.where(y == 1, p, 1 - p))))
    kpi_row(
        [
            Kpi("Gap in probability", number(gap), "group 1 minus group 0"),
            Kpi("Log loss", number(loss), "of the rows drawn"),
            Kpi("Accuracy", percent(float(np.mean((p > 0.5) == (y == 1))))),
            Kpi("λ* here", number(best, 2), "where the gap is 0"),
        ]
    )
    figure(
        plots.plot_two_features(
            _surfaces(model),
            pd.DataFrame(
                {
                    "x": X[:, 0],
                    "y": X[:, 1],
                    "group": np.array(_GROUPS)[group],
                    "outcome": y,
                }
            ),
            _boundaries(model),
            axis=_AXIS,
            groups=_GROUPS,
        ),
        finding="Where decisions change, and where truncation begins",
        caption=f"{len(y)} made-up rows, coefficients at their best for this λ. Solid: "
        "decision boundary. Dashed: truncation boundary.",
        alt=plots.describe_two_features(gap, held),
        how=_HOW,
        key="two features",
    )


def _surfaces(model: TruncatedLogistic) -> NDArray[np.float64]:
    """Return P over the square, by group."""
    first, second = np.meshgrid(_AXIS, _AXIS)
    margin = model.margins(np.column_stack([first.ravel(), second.ravel()]))
    maps = [
        model.mixture(margin, np.full(len(margin), k)).p.reshape(first.shape)
        for k in range(len(_GROUPS))
    ]
    return np.stack(maps)


def _boundaries(model: TruncatedLogistic) -> pd.DataFrame:
    """Return the lines inside the square, on which the margin is constant."""
    ends = model.truncation_points()[1]
    rows = []
    for k, name in enumerate(_GROUPS):
        rows.append((name, "decision", 0.0))
        if np.isfinite(ends[k]):
            at = float(np.log(ends[k] / (1 - ends[k])))
            rows.append((name, "truncation", at))
            if at * float(model.pulls[1, k]) < 0:  # all beyond one half: no change
                rows = [row for row in rows if row[:2] != (name, "decision")]
    found = [
        {"group": name, "kind": kind, **line}
        for name, kind, margin in rows
        if (line := _chord(model, margin)) is not None
    ]
    columns = ["group", "kind", "x0", "y0", "x1", "y1"]
    return pd.DataFrame(found, columns=columns)


def _chord(model: TruncatedLogistic, margin: float) -> dict[str, float] | None:
    """Return where the line of a margin enters and leaves the square, if it does."""
    (a, b), c = model.coefficients, model.intercept - margin
    low, high = float(_AXIS[0]), float(_AXIS[-1])
    corners = []
    for x in (low, high):
        if b and low <= (y := -(a * x + c) / b) <= high:
            corners.append((x, y))
    for y in (low, high):
        if a and low < (x := -(b * y + c) / a) < high:
            corners.append((x, y))
    if len(corners) < 2:
        return None
    (x0, y0), (x1, y1) = corners[:2]
    return {"x0": x0, "y0": y0, "x1": x1, "y1": y1}


@st.cache_data(max_entries=20, show_spinner=False)
def _fair_multiplier(alpha: float) -> float:
    X, y, group = two_feature_people()
    model = FairLogLoss(alpha=alpha).fit(X, y, sensitive_features=group)
    return float(model.multiplier_[0])
