"""Apply the ramp shown to a new file: to its scores, or by its features."""

from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._wording import percent, plain, plural
from fairdash.audits import AuditedModel, PortableModel, read_model, rows_of
from fairdash.datasets import Subgroups, group_labels, read_table
from fairdash.postprocessing import (
    COVARIANCE,
    NO_SUBGROUP,
    RAMP,
    ScoreType,
    Thresholds,
    apply_thresholds,
    fill_missing,
)
from fairdash.sweep import SweepSpec
from fairdash.ui.postprocess.ramp import Choice, Ramp, covariance_thresholds
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.files import TABLE_FILES, table_download
from fairdash.ui.widgets.state import store

_BY_MODEL = "Scores of this model, from the features"
_KINDS: tuple[ScoreType, ...] = ("probability", "margin")
_ADDED = ("score", "h", "decision")


def apply_to_file(
    ramp: Ramp,
    choice: Choice,
    dataset_id: str | None,
    run_id: str | None,
    subgroups: Subgroups | None,
) -> None:
    """Draw the upload of a new file and the download of its decisions."""
    columns = " and ".join(ramp.data.columns)
    st.caption(
        "Applies the thresholds at this setting to every row of a file. The file needs "
        f"the column {plain(columns)} and scores, or all features of the model. "
        "Larger files: `fairdash apply` on the command line."
    )
    sent = st.file_uploader(
        "New file", type=TABLE_FILES, max_upload_size=200, key="new file"
    )
    if sent is None:
        return
    try:
        frame = read_table(sent.getvalue(), name=sent.name)
        thresholds, groups = _correction(frame, ramp, choice, dataset_id, subgroups)
        done = _decided(frame, thresholds, groups, choice, run_id)
    except ValueError as error:
        problem(f"Thresholds were not applied to {sent.name}", error)
        return
    rate = float(done["decision"].mean())
    words = f"{plural(len(done), 'row')} decided, {percent(rate)} of them 1."
    st.success(words, icon=":material/check:")
    name = f"{Path(sent.name).stem}-decided.csv"
    table_download("Decisions (CSV)", done, name, type="secondary")


def _decided(
    frame: pd.DataFrame,
    thresholds: Thresholds,
    groups: "list[pd.Series[Any]]",
    choice: Choice,
    run_id: str | None,
) -> pd.DataFrame:
    """Return the file with the columns h, decision and, by its features, score."""
    taken = [name for name in _ADDED if name in frame]
    if taken:
        raise ValueError(
            f"It already has a column {taken[0]!r}, which would be added; rename it."
        )
    numbers = [str(name) for name in frame if is_numeric_dtype(frame[name])]
    model = _model(choice.source.trial, run_id)
    own = [_BY_MODEL] if model is not None else []
    if not own and not numbers:
        raise ValueError("It has no column of numbers that could be scores.")
    chosen = st.selectbox("Scores", [*own, *numbers], key="new file score")
    added: dict[str, Any] = {}
    if model is not None and chosen == _BY_MODEL:
        scores = pd.Series(PortableModel.of(model).score(frame), name=_BY_MODEL)
        added["score"], kind = scores, _KINDS[0]
    else:
        scores = frame[chosen]
        kinds = _kinds(scores, thresholds.score_type)
        kind = st.segmented_control(
            "They are", kinds, default=kinds[0], required=True, key="new file kind"
        )
    result = apply_thresholds(thresholds, scores, groups, score_type=kind)
    return frame.assign(**added, h=result["h"], decision=result["decision"])


def _kinds(scores: "pd.Series[Any]", learned: ScoreType) -> tuple[ScoreType, ...]:
    """Return what a column may hold; the reader says which."""
    if learned == "decision":
        return (learned,)
    return _KINDS if scores.min() >= 0 else _KINDS[1:]


def _correction(
    frame: pd.DataFrame,
    ramp: Ramp,
    choice: Choice,
    dataset_id: str | None,
    subgroups: Subgroups | None,
) -> "tuple[Thresholds, list[pd.Series[Any]]]":
    """Return what is applied, and groups made as those that it was learned for."""
    missing = [name for name in ramp.data.columns if name not in frame]
    if missing:
        raise ValueError(
            f"It has no column {missing[0]!r}, which tells the group. It has "
            f"{list(map(str, frame.columns))[:20]}; rename one of these."
        )
    thresholds = ramp.fitted.thresholds()
    if choice.source.upload is not None or dataset_id is None or subgroups is None:
        return thresholds, [frame[name] for name in ramp.data.columns]
    dataset = store().dataset(dataset_id)
    labels = group_labels(frame, dataset.roles)
    kind = st.segmented_control(
        "Correction", [RAMP, COVARIANCE], default=RAMP, required=True
    )
    if kind == RAMP:
        crossed = [fill_missing(frame[name]) for name in choice.crossed]
        return thresholds, [labels, *crossed]
    control = covariance_thresholds(ramp, choice.source, dataset_id, subgroups)
    # bins at both ends follow the data: they are those of the table learned on
    both = pd.concat([dataset.frame, frame], ignore_index=True)
    inside = subgroups.label(both).iloc[len(dataset.frame) :].set_axis(frame.index)
    named = inside.astype(object).fillna(NO_SUBGROUP).rename("subgroup")
    return control, [named, labels]


def _model(trial_key: str, run_id: str | None) -> AuditedModel | None:
    """Return the model of a run if more than its scores was kept."""
    if run_id is None or not trial_key or not store().artifact(trial_key).network():
        return None
    run = store().run(run_id)
    trials = store().snapshot(run_id, curves=False).trials
    found = [trial for trial in trials if trial.key == trial_key]
    if not found:
        return None
    spec = SweepSpec.of_run(run.spec)
    rows = rows_of(store().dataset(run.dataset_id), found[0], spec)
    return read_model(store(), found[0], rows)
