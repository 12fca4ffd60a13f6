"""Tables of the Post-process page: other methods, trade-off, local DI, decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Subgroups
from fairdash.postprocessing import (
    CovarianceRamp,
    HardtThreshold,
    RampThreshold,
    RejectOption,
    Rule,
    ShiftInference,
    cross,
    expected_local_di,
    expected_outcome,
)
from fairdash.ui._post import Array, Part, Scored, Source, scored
from fairdash.ui._state import store

BEFORE = "No correction"
_TOLERANCES = 9
_FEWEST = 10  # calibration rows of each group that a crossed ramp learns from
Names = NDArray[Any]


@st.cache_resource(max_entries=8, show_spinner="Fitting other methods…")
def others(
    dataset_id: str, source: Source, crossed: tuple[str, ...]
) -> tuple[pd.DataFrame, list[float | None]]:
    """Return accuracy and DI of the other methods, and Hardt's threshold by group.

    A method that cannot be fitted, since a group lacks an outcome, is left out.
    """
    data = scored(dataset_id, source, crossed)
    rows, test = data.calibration, data.test
    fitted = {
        ("hardt", "Hardt, parity"): HardtThreshold("demographic_parity"),
        ("odds", "Hardt, equal odds"): HardtThreshold("equalized_odds"),
        ("reject", "Reject option"): RejectOption(),
        ("shift", "Shift inference"): ShiftInference(),
    }
    table = [_row("none", BEFORE, data.outcome(test.before.astype(np.float64)))]
    thresholds: list[float | None] = [None] * len(data.names)
    for (kind, label), method in fitted.items():
        try:
            method.fit(rows.margins, y=rows.y, sensitive_features=rows.codes)
        except ValueError:
            continue
        h = method.predict_proba(test.margins, sensitive_features=test.codes)
        table.append(_row(kind, label, data.outcome(h)))
        if kind == "hardt":
            thresholds = [
                _halfway(method.rules_[str(k)]) for k in range(len(data.names))
            ]
    return pd.DataFrame(table), thresholds


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


def local_before_after(
    dataset_id: str,
    source: Source,
    crossed: tuple[str, ...],
    h: Array,
    gamma: float,
    subgroups: Subgroups,
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return local DI before and after, as `plots.plot_local_di` wants it.

    Compared are no correction, the ramp (of ``h``), a ramp for every group crossed with
    every subgroup, and covariance control inside subgroups.

    Returns
    -------
    cells, models : DataFrame
    left_out : list of str
        Corrections that these subgroups are too small for.
    """
    text = subgroups.model_dump_json()
    cells, models, left_out = _local_corrections(
        dataset_id, source, crossed, gamma, text
    )
    test = scored(dataset_id, source, crossed).test
    cell, model = _local("Ramp", "other", h, dataset_id, test, text)
    cells, models = [cells[0], cell, *cells[1:]], [models[0], model, *models[1:]]
    return pd.concat(cells, ignore_index=True), pd.DataFrame(models), left_out


@st.cache_resource(max_entries=16, show_spinner=False)
def _local_corrections(
    dataset_id: str,
    source: Source,
    crossed: tuple[str, ...],
    gamma: float,
    subgroups: str,
) -> tuple[list[pd.DataFrame], list[dict[str, Any]], list[str]]:
    """Return what does not depend on the target rate: before, crossed, covariance."""
    dataset, data = store().dataset(dataset_id), scored(dataset_id, source, crossed)
    rows, test, groups = data.calibration, data.test, dataset.sensitive_features
    named = _labels(dataset_id, subgroups).astype(object).fillna("none").to_numpy()
    cells = cross(_large(named, groups, rows.where), groups)
    decided = {BEFORE: ("unconstrained", test.before.astype(np.float64))}
    left_out = []
    try:
        ramp = RampThreshold(gamma)
        ramp.fit(rows.margins, rows.y, sensitive_features=cells[rows.where])
        after = ramp.predict_proba(test.margins, sensitive_features=cells[test.where])
        decided["Ramp, crossed"] = ("logistic", after)
    except ValueError:
        left_out.append("Ramp, crossed")
    try:
        covariance = CovarianceRamp(gamma, group=str(groups[0]))
        covariance.fit(
            rows.margins,
            sensitive_features=groups[rows.where],
            subgroups=named[rows.where],
        )
        after = covariance.predict_proba(
            test.margins,
            sensitive_features=groups[test.where],
            subgroups=named[test.where],
        )
        decided["Covariance control"] = ("broad", after)
    except ValueError:
        left_out.append("Covariance control")
    tables = [
        _local(label, role, h, dataset_id, test, subgroups)
        for label, (role, h) in decided.items()
    ]
    return [table for table, _ in tables], [model for _, model in tables], left_out


def _local(
    label: str, role: str, h: Array, dataset_id: str, test: Part, subgroups: str
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return local DI of one correction, and its accuracy and DI."""
    dataset = store().dataset(dataset_id)
    groups = dataset.sensitive_features[test.where]
    table = expected_local_di(
        h,
        sensitive_features=groups,
        subgroups=_labels(dataset_id, subgroups).iloc[test.where],
        min_size=Subgroups.model_validate_json(subgroups).min_size,
    )
    outcome = expected_outcome(h, y=test.y, sensitive_features=groups)
    return table.assign(label=label), _row(role, label, outcome) | {"colour_role": role}


@st.cache_resource(max_entries=8, show_spinner=False)
def _labels(dataset_id: str, subgroups: str) -> "pd.Series[Any]":
    chosen = Subgroups.model_validate_json(subgroups)
    return chosen.label(store().dataset(dataset_id).frame)


def _large(named: Names, groups: Names, rows: NDArray[np.int64]) -> Names:
    """Put subgroups together that have too few calibration rows of some group."""
    counts = pd.crosstab(named[rows], groups[rows])
    large = counts.index[(counts >= _FEWEST).all(axis=1)]
    return np.where(pd.Index(named).isin(large), named, "other subgroups")


def decisions(data: Scored, h: Array, dataset: Dataset, seed: int) -> pd.DataFrame:
    """Return group, score, h and a drawn decision of every test row."""
    drawn = np.random.default_rng(seed).random(len(h)) < h
    return pd.DataFrame(
        {
            "row": dataset.row_number[data.test.where],
            "group": np.array(data.names, dtype=object)[data.test.codes],
            "score": data.test.margins,
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


def _halfway(rule: Rule) -> float | None:
    """Return where a rule starts to decide 1 in most cases."""
    pairs: Sequence[tuple[float, float]] = list(
        zip(rule.score, rule.probability, strict=True)
    )
    return next((at for at, p in pairs if p >= 0.5), None)
