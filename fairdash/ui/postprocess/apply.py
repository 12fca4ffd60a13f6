"""Decide a new file with the ramp shown: by its scores, or by its features."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype

from fairdash._wording import percent, plural
from fairdash.datasets import Dataset, encode, read_table, split
from fairdash.methods import CATALOG, scorer_of
from fairdash.postprocessing import ScoreType, apply_thresholds
from fairdash.sweep import SweepSpec
from fairdash.ui.postprocess.ramp import Ramp
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.downloads import table_download
from fairdash.ui.widgets.score_source import Source
from fairdash.ui.widgets.state import store

_BY_MODEL = "Scores of this model, from the features"
_PROBABILITY: ScoreType = "probability"
_MARGIN: ScoreType = "margin"
_ADDED = ("score", "h", "decision")


def apply_to_file(ramp: Ramp, source: Source, run_id: str | None) -> None:
    """Draw the upload of a new file and the download of its decisions."""
    st.caption(
        "Decides every row of a file with the ramp at this setting. The file needs "
        f"the column {' and '.join(ramp.data.columns)} and scores, or all features of "
        "the model. Larger files: `fairdash apply` on the command line."
    )
    sent = st.file_uploader(
        "New file", type=["csv", "gz", "parquet"], max_upload_size=200, key="new file"
    )
    if sent is None:
        return
    try:
        frame = read_table(sent.getvalue(), name=sent.name)
        done = _decided(frame, ramp, source, run_id)
    except ValueError as error:
        problem(f"{sent.name} was not decided", error)
        return
    if done is None:
        return
    rate = float(done["decision"].mean())
    words = f"{plural(len(done), 'row')} decided, {percent(rate)} of them 1."
    st.success(words, icon=":material/check:")
    name = f"{Path(sent.name).stem}-decided.csv"
    table_download("Decided file (CSV)", done, name, type="secondary")


def _decided(
    frame: pd.DataFrame, ramp: Ramp, source: Source, run_id: str | None
) -> pd.DataFrame | None:
    """Return the file with columns added; None until its scores are chosen."""
    missing = [name for name in ramp.data.columns if name not in frame]
    if missing:
        raise ValueError(
            f"It has no column {missing[0]!r}, which tells the group. It has "
            f"{list(map(str, frame.columns))[:20]}; rename one of these."
        )
    numbers = [str(name) for name in frame if is_numeric_dtype(frame[name])]
    own = [_BY_MODEL] if run_id is not None and _can_score(source) else []
    if not own and not numbers:
        raise ValueError("It has no column of numbers that could be scores.")
    chosen = st.selectbox("Scores", [*own, *numbers], key="new file score")
    added = {}
    if chosen == _BY_MODEL and run_id is not None:
        scores = pd.Series(_score(frame, source, run_id), name=_BY_MODEL)
        added["score"], kind = scores, _PROBABILITY
    else:
        scores = frame[chosen]
        kinds: list[ScoreType] = [_PROBABILITY, _MARGIN]
        kinds = kinds if scores.min() >= 0 else [_MARGIN]
        kind = st.segmented_control(
            "They are", kinds, default=kinds[0], required=True, key="new file kind"
        )
    taken = [name for name in _ADDED if name in frame]
    if taken:
        raise ValueError(
            f"It already has a column {taken[0]!r}, which would be added; rename it."
        )
    groups = [frame[name] for name in ramp.data.columns]
    result = apply_thresholds(ramp.thresholds, scores, groups, score_type=kind)
    return frame.assign(**added, h=result["h"], decision=result["decision"])


def _can_score(source: Source) -> bool:
    """Whether more than the scores of the model was kept."""
    return bool(source.trial) and bool(store().artifact(source.trial).network())


def _score(frame: pd.DataFrame, source: Source, run_id: str) -> np.ndarray:
    """Return probabilities of new rows, encoded as the training rows were."""
    run = store().run(run_id)
    dataset = store().dataset(run.dataset_id)
    _check_features(frame, dataset.roles.features)
    scaling = SweepSpec.of_run(run.spec).scaling
    encoder = encode(
        dataset, split(dataset, source.seed).train, scaling=scaling
    ).encoder
    X = encoder.transform(frame)
    kept = store().artifact(source.trial)
    codes = np.zeros(len(X), np.int64)
    if CATALOG[kept.row()["method"]].needs_groups:
        codes = _group_codes(frame[dataset.roles.sensitive_feature], dataset)
    return scorer_of(kept.network()).positive(X, codes)


def _group_codes(column: pd.Series, dataset: Dataset) -> np.ndarray:
    names = pd.Index(np.unique(dataset.sensitive_features))
    codes = names.get_indexer(pd.Index(column.astype(str)))
    if (codes < 0).any():
        row = int(np.argmin(codes))
        raise ValueError(
            f"Column {column.name!r} has {column.iloc[row]!r} in row {row + 1}, and "
            f"the model knows {list(names)} alone. Leave these rows out."
        )
    return codes


def _check_features(frame: pd.DataFrame, features: Sequence[str]) -> None:
    missing = [name for name in features if name not in frame]
    if missing:
        raise ValueError(
            f"It has no columns {missing}, which the model needs; add them, or choose "
            "a column of scores."
        )
