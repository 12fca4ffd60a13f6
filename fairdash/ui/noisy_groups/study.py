"""The study of noise: every approach trained at growing noise, on true groups."""

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.datasets import Dataset, split
from fairdash.jobs import submit
from fairdash.methods import CATALOG
from fairdash.methods.noisy_groups import simulate_noise, violations
from fairdash.store import TrialRecord
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui.noisy_groups.noise import Question
from fairdash.ui.widgets.start_runs import source
from fairdash.ui.widgets.state import store

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = 3
UNCONSTRAINED = "hinge"
ASSUMED = {"noisy_naive": None, "noisy_dro": "tv_radius", "noisy_soft": "noise_level"}


def study_spec(dataset_id: str, question: Question) -> SweepSpec:
    """Return the study: each method knows the noise that its groups were given."""
    record, dataset = store().dataset_record(dataset_id), store().dataset(dataset_id)
    asked = question._asdict()
    grids = [
        MethodGrid(method=UNCONSTRAINED),
        MethodGrid(method="noisy_naive", params={**asked, "simulated_noise": 0.0}),
    ]
    for level in levels_of(dataset):
        for method, knows in ASSUMED.items():
            params = {**asked, "simulated_noise": level}
            if knows:
                params[knows] = level
            grids.append(MethodGrid(method=method, params=params))
    return SweepSpec(
        data=source(record),
        methods=tuple(grids),
        seeds=tuple(range(SEEDS)),
        subgroups=record.subgroups,
    )


def start_study(dataset_id: str, question: Question) -> str:
    """Submit the study and return the id of its run.

    Raises
    ------
    ValueError
        When the data set cannot be trained on.
    """
    name = f"{store().dataset_record(dataset_id).name} · noisy groups"
    return submit(store(), study_spec(dataset_id, question), name=name)


def levels_of(dataset: Dataset) -> list[float]:
    """Return the levels at which a noisy group still says something."""
    most = 1 - 1 / len(dataset.group_names)
    return [level for level in LEVELS if level < most - 0.01]


def study_table(dataset_id: str, question: Question) -> pd.DataFrame:
    """Return mean and spread over seeds by method and level, from all finished runs.

    Columns: method, label, colour_role, level, n_seeds, and ``true``, ``noisy``,
    ``error``, each with ``_sd``. The unconstrained model has one row at every level.
    """
    trials = {
        trial.key: trial
        for run in store().runs(dataset_id)
        for trial in store().snapshot(run.id, curves=False).trials
        if trial.status == "finished" and _belongs(trial, question)
    }
    levels = levels_of(store().dataset(dataset_id))
    rows = [
        {
            "method": trial.method,
            "level": level,
            **_measured(trial.key, dataset_id, trial.seed, level, question),
        }
        for trial in trials.values()
        for level in _levels(trial, levels)
    ]
    measures = ["true", "noisy", "error"]
    table = pd.DataFrame(rows, columns=["method", "level", *measures])
    grouped = table.groupby(["method", "level"], sort=False)[measures]
    spread = grouped.std().fillna(0.0).add_suffix("_sd")
    result = grouped.mean().join(spread).join(grouped.size().rename("n_seeds"))
    result = result.reset_index()
    result.insert(1, "label", [CATALOG[key].label for key in result["method"]])
    roles = [CATALOG[key].colour_role for key in result["method"]]
    result.insert(2, "colour_role", roles)
    order = [UNCONSTRAINED, *ASSUMED]
    return result.sort_values(
        ["method", "level"],
        key=lambda column: (
            column.map(order.index) if column.name == "method" else column
        ),
        ignore_index=True,
    )


def _belongs(trial: TrialRecord, question: Question) -> bool:
    """Tell whether a trial answers the question, knowing the noise it was given."""
    if trial.method == UNCONSTRAINED:
        return True
    if trial.method not in ASSUMED:
        return False
    knows, params = ASSUMED[trial.method], trial.params
    asked = question._asdict()
    if any(params.get(name) != value for name, value in asked.items()):
        return False
    return knows is None or params[knows] == params["simulated_noise"]


def _levels(trial: TrialRecord, levels: list[float]) -> list[float]:
    """Return the levels a trial is shown at: its own, or all for one without groups."""
    if trial.method == UNCONSTRAINED:
        return [0.0, *levels]
    return [float(trial.params["simulated_noise"])]


@st.cache_data(max_entries=5000, show_spinner=False)
def _measured(
    key: str, dataset_id: str, seed: int, level: float, question: Question
) -> dict[str, float]:
    """Return error and largest violations on the test rows of a seed."""
    dataset = store().dataset(dataset_id)
    where = split(dataset, seed).test
    y = dataset.y[where]
    decided = (store().artifact(key).scores()[where] > 0.5).astype(np.int64)
    groups = np.asarray(dataset.sensitive_features, dtype=object)
    noisy = simulate_noise(groups, level, random_state=seed)[where]
    asked = question._asdict()
    return {
        "true": float(
            violations(y, decided, groups[where], **asked)["violation"].max()
        ),
        "noisy": float(violations(y, decided, noisy, **asked)["violation"].max()),
        "error": float(np.mean(decided != y)),
    }
