"""A whole sweep in this process: its data, its models, their metrics."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import methods
from fairdash.datasets import (
    SAMPLES,
    Dataset,
    Subgroups,
    make_dataset,
    read_table,
    split,
)
from fairdash.metrics import decision_status, evaluate
from fairdash.sweep._monitor import Event
from fairdash.sweep._plan import expand, plan
from fairdash.sweep._spec import DataSource, SweepSpec
from fairdash.sweep._train import train_stack


def score(
    dataset: Dataset,
    seed: int,
    scores: NDArray[np.floating],
    subgroups: Subgroups,
) -> pd.DataFrame:
    """Evaluate models on the validation and the test rows of a seed.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        Seed of the split.
    scores : ndarray of shape (n_models, n_rows)
        Probability of the positive outcome for all rows of the data set.
    subgroups : Subgroups
        Of the local metrics.

    Returns
    -------
    DataFrame
        One row per model: the columns of `fairdash.metrics.evaluate` and of
        `decisions`, once with prefix ``validation_`` and once with ``test_``.
    """
    rows = split(dataset, seed)
    labels = subgroups.label(dataset.frame)
    groups = dataset.sensitive_features
    parts = []
    for part, where in (("validation", rows.validation), ("test", rows.test)):
        metrics = evaluate(
            dataset.y[where],
            scores[:, where],
            sensitive_features=groups[where],
            subgroups=labels.iloc[where],
            min_size=subgroups.min_size,
        )
        known = decisions(dataset.y[where], scores[:, where])
        parts.append(metrics.join(known).add_prefix(f"{part}_"))
    return pd.concat(parts, axis=1)


def decisions(y: NDArray[np.integer], scores: NDArray[np.floating]) -> pd.DataFrame:
    """Return ``selection_rate`` and ``constant`` of models: 1 where they do not decide.

    ``constant`` is a number, so that its mean over seeds says how many were; what
    counts is `fairdash.metrics.decision_status`.
    """
    status = decision_status(y, (scores > 0.5).astype(np.int8))
    constant = (status["status"] != "").astype(float)
    return pd.DataFrame(
        {"selection_rate": status["selection_rate"], "constant": constant}
    )


def run_sweep(
    spec: SweepSpec,
    *,
    dataset: Dataset | None = None,
    report: Callable[[Event], None] = lambda event: None,
) -> pd.DataFrame:
    """Train every trial of a specification here and now.

    Parameters
    ----------
    spec : SweepSpec
    dataset : Dataset, optional
        The data of the specification. Needed when it names an uploaded table, which
        only the store can read.
    report : callable, optional
        Receives progress events.

    Returns
    -------
    DataFrame
        One row per trial: ``key``, ``method``, ``seed``, its parameters, ``seconds``
        and the metrics on validation and test rows.

    Raises
    ------
    ValueError
        When the specification does not fit the catalog or the data.
    """
    dataset = dataset or load_dataset(spec.data)
    spec = spec.fitted_to(dataset)
    trials = expand(spec, dataset.key)
    rows = {}
    for stack in plan(trials, device=methods.training_device()):
        results = train_stack(
            stack,
            dataset,
            scaling=spec.scaling,
            subgroups=spec.subgroups,
            train_rows=spec.train_rows,
            report=report,
        )
        assert results is not None, "nobody stops it here"
        scores = np.stack([result.scores for result in results])
        metrics = score(dataset, stack.seed, scores, spec.subgroups)
        for result, row in zip(results, metrics.to_dict("records"), strict=True):
            rows[result.trial.key] = {"seconds": result.seconds, **row}
    return pd.DataFrame(
        [
            {
                "key": trial.key,
                "method": trial.method,
                "seed": trial.seed,
                **trial.params,
                **rows[trial.key],
            }
            for trial in trials
        ]
    )


def source_file(source: DataSource) -> Path:
    """Return the file of a sample or path.

    Raises
    ------
    ValueError
        When the source is an uploaded table, or the file does not exist.
    """
    if source.table:
        message = "`table` names a file uploaded to the store"
        raise ValueError(f"{message}; pass its data set, or give a `path`.")
    path = SAMPLES[source.sample].path if source.sample else Path(str(source.path))
    path = path.expanduser()
    if not path.is_file():
        raise ValueError(f"There is no file {str(path)!r}.")
    return path


def load_dataset(source: DataSource) -> Dataset:
    """Return the data set of a sample or a file, keyed by the content of the file.

    Raises
    ------
    ValueError
        When the source is an uploaded table, or the file does not fit the roles.
    """
    path = source_file(source)
    digest = sha256(path.read_bytes()).hexdigest()
    return make_dataset(read_table(path), source.roles, name=source.name, key=digest)
