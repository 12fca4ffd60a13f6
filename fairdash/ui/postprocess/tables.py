"""Tables of the Post-process page: other methods, trade-off, local DI, decisions."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.postprocessing import (
    HardtThreshold,
    RejectOption,
    Rule,
    ShiftInference,
)
from fairdash.ui.postprocess.local import BEFORE
from fairdash.ui.results.scored import Array, Scored
from fairdash.ui.widgets.score_source import Source, scored

_TOLERANCES = 9


@st.cache_resource(max_entries=8, show_spinner="Fitting other methods…")
def others(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> tuple[pd.DataFrame, list[Rule | None]]:
    """Return accuracy and DI of the other methods, and Hardt's rule by group.

    A method that cannot be fitted, since a group lacks an outcome, is left out; without
    outcomes only those are left that need none.
    """
    data = scored(dataset_id, source, crossed)
    rows, test = data.calibration, data.test
    fitted = {
        ("hardt", "Hardt, parity"): HardtThreshold("demographic_parity"),
        ("odds", "Hardt, equal odds"): HardtThreshold("equalized_odds"),
        ("reject", "Reject option"): RejectOption(),
        ("shift", "Shift inference"): ShiftInference(),
    }
    if rows.y is None:
        fitted = {key: m for key, m in fitted.items() if key[0] in ("reject", "shift")}
    table = [_row("none", BEFORE, data.outcome(test.before.astype(np.float64)))]
    rules: list[Rule | None] = [None] * len(data.names)
    for (kind, label), method in fitted.items():
        try:
            method.fit(rows.margins, y=rows.y, sensitive_features=rows.codes)
        except ValueError:
            continue
        h = method.predict_proba(test.margins, sensitive_features=test.codes)
        table.append(_row(kind, label, data.outcome(h)))
        if kind == "hardt":
            rules = [method.rules_[str(k)] for k in range(len(data.names))]
    return pd.DataFrame(table), rules


def ramp_curve(
    data: Scored, gamma: float, rate: float, tolerance: float, *, center: bool
) -> pd.DataFrame:
    """Return accuracy and DI of the ramp: at the setting, then over tolerances."""
    rates = np.array([group.mean_h(0.0, gamma) for group in data.groups])
    most = 2 * float(np.abs(rates - rate).max())
    steps = [tolerance, *np.linspace(0, max(most, 0.02), _TOLERANCES)]
    rows = []
    for step in steps:
        starts = data.starts(gamma, rate, step, center=center)
        rows.append(data.judge(starts, gamma) | {"tolerance": step})
    return pd.DataFrame(rows)


def decisions(data: Scored, h: Array, seed: int) -> pd.DataFrame:
    """Return group, score, h and a drawn decision of every test row."""
    drawn = np.random.default_rng(seed).random(len(h)) < h
    return pd.DataFrame(
        {
            "row": data.row_number[data.test.where],
            "group": np.array(data.names, dtype=object)[data.test.codes],
            "score": data.test_scores,
            "before": data.test.before,
            "h": h,
            "decision": drawn.astype(np.int8),
        }
    )


def _row(kind: str, label: str, outcome: pd.DataFrame) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind, "label": label}
    for cell in outcome.to_dict("records"):
        name = str(cell["metric"])
        row |= {name: cell["value"]}
        row |= {f"{name}_low": cell["low"], f"{name}_high": cell["high"]}
    return row
