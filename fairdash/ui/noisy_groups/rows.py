"""Whose groups are in doubt, and which models decided about them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import split
from fairdash.postprocessing import read_margins
from fairdash.results import Setting
from fairdash.ui.widgets.pick_models import by_interest, known_models
from fairdash.ui.widgets.score_source import (
    Source,
    Upload,
    post_sources,
    read_upload,
    score_columns,
)
from fairdash.ui.widgets.state import store

Labels = NDArray[np.object_]


class Doubted(NamedTuple):
    """The rows of a data set, or of a file of scores.

    Attributes
    ----------
    key : str
        Identity, for caches and widgets.
    name : str
    frame : DataFrame
    groups : ndarray of str
    taken : frozenset of str
        Columns that are groups, outcome or scores.
    has_outcome : bool
    """

    key: str
    name: str
    frame: pd.DataFrame
    groups: Labels
    taken: frozenset[str]
    has_outcome: bool

    @property
    def group_names(self) -> list[str]:
        """The groups, sorted."""
        return sorted(set(self.groups))


class Decided(NamedTuple):
    """Rows that a model decides: where they stand, outcomes, 0/1 decisions."""

    where: NDArray[np.int64]
    y: NDArray[np.int8]
    decided: NDArray[np.int64]


def doubted_rows(dataset_id: str | None, upload: Upload | None) -> Doubted:
    """Return the rows of a file of scores, or else of a data set.

    Raises
    ------
    ValueError
        When the scores of the file cannot be read.
    """
    if upload is not None:
        taken = frozenset([upload.score, upload.outcome, *upload.groups])
        frame, labels = store().table(upload.table), read_upload(upload).labels
        key = f"file {upload.table} {upload.groups}"
        return Doubted(
            key, upload.name, frame, labels.astype(str), taken, bool(upload.outcome)
        )
    assert dataset_id is not None, "needs a data set or a file"
    dataset = store().dataset(dataset_id)
    roles = dataset.roles
    return Doubted(
        dataset_id,
        dataset.name,
        dataset.frame,
        np.asarray(dataset.sensitive_features, dtype=str),
        frozenset([roles.target, roles.sensitive_feature]),
        True,
    )


def certifiable(
    dataset_id: str | None, run_id: str | None, uploads: Sequence[Upload]
) -> dict[str, list[Source]]:
    """Return by label what can be certified: a model has one source for each seed.

    Files of scores come first, since they were just sent, then the models of the run,
    those of most interest first, or of the data set if no run is open, and score
    columns of the table.
    """
    files = [[source] for source in post_sources([], [], uploads)]
    models, columns = [], []
    if dataset_id is not None:
        models = [
            [Source(m.label, trial=t.key, seed=t.seed) for t in m.trials]
            for m in by_interest(_models_of_run(dataset_id, run_id), run_id)
        ]
        columns = [[s] for s in post_sources([], score_columns(dataset_id), [])]
    return {sources[0].label: sources for sources in [*files, *models, *columns]}


def decided_rows(source: Source, dataset_id: str | None) -> Decided:
    """Return the test rows of a model's seed, or all rows of a file."""
    if source.upload is not None:
        sent = read_upload(source.upload)
        rows = np.arange(len(sent.margins))
        y = np.zeros(len(rows), np.int8) if sent.y is None else sent.y
        return Decided(rows, y, (sent.margins > 0).astype(np.int64))
    assert dataset_id is not None, "a model has a data set"
    dataset = store().dataset(dataset_id)
    where = split(dataset, source.seed).test
    if source.trial:
        positive = store().artifact(source.trial).scores() > 0.5
    else:
        positive = read_margins(dataset.frame[source.column]) > 0
    return Decided(where, dataset.y[where], positive[where].astype(np.int64))


def _models_of_run(dataset_id: str, run_id: str | None) -> list[Setting]:
    known = known_models(dataset_id, run_id)
    if run_id is None:
        return known
    mine = {trial.key for trial in store().snapshot(run_id, curves=False).trials}
    return [m for m in known if mine & {trial.key for trial in m.trials}]
