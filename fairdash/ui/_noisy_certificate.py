"""Certificates of finished models beside what was found of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import split
from fairdash.methods.noisy_groups import (
    soft_certificate,
    tv_certificate,
    violations,
)
from fairdash.ui._live_ball import BallRow
from fairdash.ui._models import known_models
from fairdash.ui._noisy import Noise, Question
from fairdash.ui._results import Setting
from fairdash.ui._state import store

COLUMNS = ["noisy", "true", "drawn", "soft", "ball"]
_SIDES: dict[str, tuple[tuple[int, ...], int]] = {
    "tpr": ((1,), -1),
    "fpr": ((0,), 1),
    "positive_rate": ((0, 1), -1),
}


class Decided(NamedTuple):
    """Decisions of a trial, or of a score column, on test rows of a seed's split."""

    key: str
    seed: int


def decided_models(
    models: Sequence[Setting], columns: Sequence[str]
) -> dict[str, list[Decided]]:
    """Return by label the trials of every model, and score columns of the table."""
    known = {
        model.label: [Decided(trial.key, trial.seed) for trial in model.trials]
        for model in models
    }
    for column in columns:
        known[f"Column {column}"] = [Decided(f"column {column}", 0)]
    return known


def models_of_run(dataset_id: str, run_id: str | None) -> list[Setting]:
    """Return the models of a run, or of all runs on a data set if none is open."""
    known = known_models(dataset_id, run_id)
    if run_id is None:
        return known
    mine = {trial.key for trial in store().snapshot(run_id, curves=False).trials}
    return [m for m in known if mine & {trial.key for trial in m.trials}]


def certificate_table(
    models: dict[str, list[Decided]],
    dataset_id: str,
    noise: Noise,
    radius: float,
    question: Question,
) -> pd.DataFrame:
    """Return the largest violations of every model, averaged over its seeds.

    Raises
    ------
    ValueError
        When a noisy group has no test rows with an outcome of the constraint.
    """
    rows = []
    for label, trials in models.items():
        found = [
            _largest(one.key, one.seed, dataset_id, noise.key, radius, question, noise)
            for one in trials
        ]
        rows.append([label, *np.mean(found, axis=0).tolist()])
    return pd.DataFrame(rows, columns=["label", *COLUMNS])


def ball_rows(
    one: Decided, dataset_id: str, noise: Noise, question: Question
) -> list[BallRow]:
    """Return what the worst rate of every noisy group depends on, for one model."""
    rows = _test_rows(one.key, one.seed, dataset_id)
    noisy = noise.noisy[rows.where].astype(str)
    asked = question._asdict()
    found = tv_certificate(rows.y, rows.decided, noisy, 0.0, n_draws=0, **asked)
    several = len(set(found["rate"])) > 1
    result = []
    for row in found.to_dict("records"):
        outcomes, sign = _SIDES[row["rate"]]
        mine, over = noisy == row["group"], np.isin(rows.y, outcomes)
        short = row["rate"].upper()
        result.append(
            BallRow(
                name=f"{row['group']}, {short}" if several else str(row["group"]),
                rate=row["value"],
                overall=row["overall"],
                limit=row["overall"] + sign * question.slack,
                share=float(over[mine].mean()),
                sign=sign,
                movable=bool((rows.decided[over] == (sign > 0)).any()),
            )
        )
    return result


class _Rows(NamedTuple):
    """Test rows of a seed: where they stand, outcomes, 0/1 decisions."""

    where: NDArray[np.int64]
    y: NDArray[np.int8]
    decided: NDArray[np.int64]


def _test_rows(key: str, seed: int, dataset_id: str) -> _Rows:
    dataset = store().dataset(dataset_id)
    where = split(dataset, seed).test
    if key.startswith("column "):
        scores = dataset.frame[key.removeprefix("column ")].to_numpy(dtype=float)
        positive = scores > (0 if scores.min() < 0 else 0.5)
    else:
        positive = store().artifact(key).scores() > 0.5
    return _Rows(where, dataset.y[where], positive[where].astype(np.int64))


@st.cache_data(max_entries=5000, show_spinner=False)
def _largest(
    key: str,
    seed: int,
    dataset_id: str,
    noise_key: str,
    radius: float,
    question: Question,
    _noise: Noise,
) -> list[float]:
    """Return the largest violation of each kind, in the order of `COLUMNS`."""
    rows = _test_rows(key, seed, dataset_id)
    asked = question._asdict()
    noisy = _noise.noisy[rows.where].astype(str)
    ball = tv_certificate(rows.y, rows.decided, noisy, radius, **asked)
    soft = soft_certificate(rows.y, rows.decided, noisy, _noise.matrix, **asked)
    true = np.nan
    if _noise.true is not None:
        groups = _noise.true[rows.where].astype(str)
        true = violations(rows.y, rows.decided, groups, **asked)["violation"].max()
    return [
        float(value)
        for value in (
            ball["violation"].max(),
            true,
            ball["drawn_violation"].max(),
            soft["worst_violation"].max(),
            ball["worst_violation"].max(),
        )
    ]
