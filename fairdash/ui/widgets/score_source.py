"""Where scores come from: trained models, columns of the table, uploaded files."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash.datasets import split
from fairdash.postprocessing import (
    RampThreshold,
    ScoreType,
    cross,
    guess_score_type,
    read_margins,
)
from fairdash.results import Setting
from fairdash.ui.results.scored import Array, Part, Scored
from fairdash.ui.widgets.state import store

_FEW_SCORES = 10
_PLAIN = ("unconstrained", "logistic", "logistic_cv", "forest", "neighbours")
_HELD = 5  # every fifth row of an uploaded file is a test row
_MISSING = "missing"


class Upload(NamedTuple):
    """A file of scores and what its columns mean; without an outcome it is ""."""

    table: str
    name: str
    score: str
    groups: tuple[str, ...]
    outcome: str
    positive: str


class Source(NamedTuple):
    """A trial on a seed's split, a column of the table, or an uploaded file.

    A column or file comes from a model of somebody else, so all rows but the test rows
    serve as calibration rows.
    """

    label: str
    trial: str = ""
    column: str = ""
    seed: int = 0
    upload: Upload | None = None

    @property
    def has_outcome(self) -> bool:
        """Whether accuracy can be told."""
        return self.upload is None or bool(self.upload.outcome)


def post_sources(
    models: Sequence[Setting], columns: Sequence[str], uploads: Sequence[Upload]
) -> list[Source]:
    """Return what can be post-processed, what one most likely wants first.

    Files come first, since they were just sent, then trials of plain models, of others,
    and score columns of the table.
    """
    models = sorted(models, key=lambda model: model.method not in _PLAIN)
    sent = [Source(f"File {u.name}, {u.score}", upload=u) for u in uploads]
    trials = [
        Source(
            model.label if len(model.trials) == 1 else f"{model.label}, seed {t.seed}",
            trial=t.key,
            seed=t.seed,
        )
        for model in models
        for t in model.trials
    ]
    return [*sent, *trials, *(Source(f"Column {n}", column=n) for n in columns)]


@st.cache_data(max_entries=50, show_spinner=False)
def score_columns(dataset_id: str) -> list[str]:
    """Return the columns that may be scores: probabilities or margins."""
    dataset = store().dataset(dataset_id)
    roles = dataset.roles
    taken = {roles.target, roles.sensitive_feature}
    frame = dataset.frame.select_dtypes("float")
    return [
        str(name)
        for name in frame
        if name not in taken
        and frame[name].between(-1, 1).all()
        and frame[name].nunique() > _FEW_SCORES
    ]


@st.cache_resource(max_entries=8, show_spinner="Sorting scores…")
def scored(dataset_id: str, source: Source, crossed: tuple[str, ...]) -> Scored:
    """Return the scores of a source by group; raises ValueError if groups are tiny.

    Of an uploaded file ``crossed`` plays no part: it names its groups itself.
    """
    if source.upload is not None:
        return _uploaded(source.upload)
    dataset = store().dataset(dataset_id)
    parts = split(dataset, source.seed)
    if source.trial:
        scores = store().artifact(source.trial).scores().astype(np.float64)
        margins, calibration = 2 * scores - 1, parts.validation
        score_type: ScoreType = "probability"
    else:
        margins = read_margins(dataset.frame[source.column])
        score_type = guess_score_type(dataset.frame[source.column])
        calibration = np.sort(np.concatenate([parts.train, parts.validation]))
    labels = dataset.sensitive_features
    if crossed:
        columns = [dataset.frame[c].astype(object).fillna(_MISSING) for c in crossed]
        labels = cross(labels, *columns)
    names, codes = _groups(margins, labels, calibration, parts.test)
    if not crossed:  # the order, and so the colours, of other pages
        names, codes = dataset.group_names, dataset.group

    def part(where: NDArray[np.int64]) -> Part:
        return Part(where, margins[where], codes[where], dataset.y[where])

    columns_used = (dataset.roles.sensitive_feature, *crossed)
    return Scored.of(
        dataset.name,
        names,
        columns_used,
        dataset.row_number,
        part(calibration),
        part(parts.test),
        score_type,
    )


class Sent(NamedTuple):
    """A file of scores: margins, group and, if known, outcome of every row."""

    margins: Array
    labels: NDArray[Any]
    y: NDArray[np.int8] | None
    score_type: ScoreType


@st.cache_resource(max_entries=8, show_spinner=False)
def read_upload(upload: Upload) -> Sent:
    """Return what a file says of its rows; ValueError if scores are out of range."""
    frame = store().table(upload.table)
    margins = read_margins(frame[upload.score])
    labels = cross(
        *(frame[group].astype(object).fillna(_MISSING) for group in upload.groups)
    )
    y = None
    if upload.outcome:
        positive = frame[upload.outcome].astype(str) == upload.positive
        y = positive.to_numpy().astype(np.int8)
    return Sent(margins, labels, y, guess_score_type(frame[upload.score]))


def _uploaded(upload: Upload) -> Scored:
    margins, labels, y, score_type = read_upload(upload)
    test, calibration = _dealt(labels)
    names, codes = _groups(margins, labels, calibration, test)

    def part(where: NDArray[np.int64]) -> Part:
        return Part(
            where, margins[where], codes[where], None if y is None else y[where]
        )

    rows = np.arange(len(margins))
    return Scored.of(
        upload.name,
        names,
        upload.groups,
        rows,
        part(calibration),
        part(test),
        score_type,
    )


def _dealt(labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return test and calibration rows, dealt alike in every group."""
    shuffled = np.random.default_rng(0).permutation(len(labels))
    codes, _ = pd.factorize(labels[shuffled])
    dealt = shuffled[np.argsort(codes, kind="stable")]
    held = np.arange(len(dealt)) % _HELD == _HELD - 1
    return np.sort(dealt[held]), np.sort(dealt[~held])


def _groups(
    margins: Array,
    labels: NDArray[Any],
    calibration: NDArray[np.int64],
    test: NDArray[np.int64],
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the groups and the group of every row, once they have been checked."""
    # the estimator checks what the page then solves again and again
    checked = RampThreshold(target_rate=0.5)
    checked.fit(margins[calibration], sensitive_features=labels[calibration])
    names = tuple(checked.rules_)
    levels, values = pd.factorize(labels)
    codes = pd.Index(names).get_indexer(pd.Index(values).astype(str))[levels]
    unseen = np.flatnonzero(codes[test] < 0)
    if len(unseen):
        raise ValueError(
            f"{len(unseen)} test rows are in groups without calibration rows, such as "
            f"{labels[test[unseen[0]]]!r}; cross fewer columns."
        )
    return names, codes
