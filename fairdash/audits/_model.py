"""A stored model with the rows it is audited on."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.audits._rows import AuditRows
from fairdash.datasets import Dataset
from fairdash.methods import CATALOG, Network, Scorer, scorer_of
from fairdash.store import Store, TrialRecord
from fairdash.sweep import SweepSpec, trial_key

Float = NDArray[np.float64]
Scaling = Literal["standard", "minmax"]


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """A model that scores rows as they are or as changed.

    Attributes
    ----------
    key : str
        Of the trial.
    method : str
        Key in the catalog.
    scorer : Scorer
    rows : AuditRows
    """

    key: str
    method: str
    scorer: Scorer
    rows: AuditRows

    @property
    def network(self) -> Network | None:
        """The model where it has slopes to follow, else None."""
        return self.scorer if isinstance(self.scorer, Network) else None

    @property
    def why_no_slopes(self) -> str:
        """Why there is no certificate; empty where there is one."""
        if self.network is not None:
            return ""
        label = CATALOG[self.method].label
        return (
            f"{label} is not a network: its probability jumps or is cut off, so there "
            "is no slope to follow, and log-odds, which the certificate and the loss "
            "ratio compare, can be infinite."
        )

    def probability(
        self, frame: pd.DataFrame, places: NDArray[np.int64] | None = None
    ) -> Float:
        """Return P(1) of changed test rows; ``places`` says which, by default all."""
        group = self.rows.test.group
        X = self.rows.encoder.transform(frame)
        return self.scorer.positive(X, group if places is None else group[places])


def read_model(store: Store, trial: TrialRecord, rows: AuditRows) -> AuditedModel:
    """Return the model that a trial keeps.

    Raises
    ------
    ValueError
        When an earlier version kept its scores alone.
    """
    arrays = store.artifact(trial.key).network()
    return AuditedModel(trial.key, trial.method, scorer_of(arrays), rows)


def rows_of(dataset: Dataset, trial: TrialRecord, spec: SweepSpec) -> AuditRows:
    """Return the rows of a trial: split, encoded and drawn as its run asked for.

    Raises
    ------
    ValueError
        When the model was trained by an earlier version.
    """
    scaling, drawn = encoding_of(dataset, trial, spec)
    return AuditRows.of(dataset, trial.seed, scaling=scaling, train_rows=drawn)


def encoding_of(
    dataset: Dataset, trial: TrialRecord, spec: SweepSpec
) -> tuple[Scaling, int | None]:
    """Return how the run of a trial scaled features, and how many rows it drew.

    Raises
    ------
    ValueError
        When the model was trained by an earlier version: its key says so.
    """
    key = trial_key(
        method=trial.method,
        params=trial.params,
        seed=trial.seed,
        data=dataset.key,
        scaling=spec.scaling,
        train_rows=spec.train_rows,
    )
    if key != trial.key:
        raise ValueError(
            "This model was trained by an earlier version, so its features cannot be "
            "encoded as they were; train it again."
        )
    return spec.scaling, spec.train_rows
