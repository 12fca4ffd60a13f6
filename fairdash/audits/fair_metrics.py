"""Which fair metric models are asked about, and what its radius means on a table."""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from fairdash.audits.audited_model import AuditRows
from fairdash.audits.table_search import nearest_rows
from fairdash.datasets import Encoder
from fairdash.metrics import (
    FairMetric,
    comparable_directions,
    group_directions,
    ignore_columns,
    pair_tables,
)
from fairdash.store import Store, TrialRecord

_RANDOM_PAIRS = 2000


class UploadedPairs(BaseModel):
    """Counterfactual pairs from files in the store.

    Row i of ``other``, a file's digest, is the counterpart of row i of ``table``; or,
    in one file, ``column`` is the pair id.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    table: str
    other: str = ""
    column: str = ""


class FairMetricSpec(BaseModel):
    """The sensitive directions of a fair metric: people may differ along them for free.

    Attributes
    ----------
    columns : tuple of str
        Features whose values do not count; also those that are flipped.
    predicts_group : bool
        Whether the direction that predicts the group does not count either.
    pairs : UploadedPairs, optional
        How people of a pair differ does not count either.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[str, ...] = ()
    predicts_group: bool = True
    pairs: UploadedPairs | None = None

    @classmethod
    def of_trial(cls, trial: TrialRecord, features: tuple[str, ...] = ()) -> Self:
        """Return the metric a model was trained with; of others the usual one.

        Columns that are not among ``features`` are excluded.
        """
        kind = trial.params.get("metric", "group_direction")
        named = str(trial.params.get("columns", "")).split(",")
        columns = tuple(c for c in map(str.strip, named) if c in features)
        if kind == "group_direction" or not columns:
            return cls()
        return cls(columns=columns, predicts_group=kind == "both")

    @classmethod
    def parse(cls, text: str | None, features: tuple[str, ...]) -> Self | None:
        """Return the metric that `text` wrote; None for anything else."""
        try:
            found = cls.model_validate_json(text or "")
        except ValueError:
            return None
        return found if set(found.columns) <= set(features) else None

    def text(self) -> str:
        """Return the metric as text, for an address or a cache."""
        return self.model_dump_json(exclude_defaults=True)

    def changed(self, **fields: Any) -> Self:
        """Return the metric with some fields changed."""
        return self.model_copy(update=fields)

    def build(self, rows: AuditRows, store: Store) -> FairMetric:
        """Return the metric, learned on the training rows or from pairs.

        Raises ValueError when nothing was chosen, a column is not a feature of the
        models, pairs do not align, or no two rows are a pair.
        """
        names = rows.encoder.feature_names
        metrics = []
        if self.predicts_group:
            learned = group_directions(
                rows.train, rows.train_groups, names, columns=self.columns
            )
            metrics.append(learned)
        elif self.columns:
            metrics.append(ignore_columns(self.columns, names))
        if self.pairs:
            metrics.append(_of_files(self.pairs, rows.encoder, store))
        if metrics:
            return reduce(or_, metrics)
        raise ValueError(
            "There is no sensitive direction. Choose columns that should not count, "
            "the direction that predicts the group, or pairs of people."
        )


@dataclass(frozen=True)
class Yardstick:
    """Squared fair distances between real people: what a fair radius amounts to.

    ``nearest`` is the median distance of a person to the nearest other row of the
    table, ``random`` that of two people drawn at random, and ``within`` the share of
    people with another row within the radius. Of a table larger than `MOST_POOL` the
    other rows are ``drawn``, so many; 0 where they are all.
    """

    nearest: float
    random: float
    within: float
    n: int
    drawn: int = 0


def fair_radius_yardstick(
    rows: AuditRows, metric: FairMetric, *, places: NDArray[np.int64], radius: float
) -> Yardstick:
    """Measure how far apart people are, for a sample of test rows."""
    X = rows.test.X[places].astype(np.float64)
    pool, where = rows.pool.X, rows.pool.where
    nearest = np.full(len(X), np.inf)
    for part, near, squared in nearest_rows(X, pool, metric.root, most=2):
        other = where[near] != rows.where[places[part]][:, None]
        nearest[part] = np.where(other, squared, np.inf).min(1)
    rng = np.random.default_rng(rows.seed)
    one, two = rng.integers(len(pool), size=(2, _RANDOM_PAIRS))
    apart = metric.distance(pool[one], pool[two])[where[one] != where[two]]
    return Yardstick(
        nearest=float(np.median(nearest)),
        random=float(np.median(apart)),
        within=float((nearest <= radius).mean()),
        n=len(X),
        drawn=len(pool) if len(pool) < len(rows.dataset.frame) else 0,
    )


def pair_counts(table: pd.DataFrame, column: str) -> tuple[int, int]:
    """Return how many sets of rows share a pair id, and how many rows are alone."""
    sizes = table.groupby(column)[column].transform("size")
    together = sizes > 1
    return int(table.loc[together, column].nunique()), int((~together).sum())


def _of_files(pairs: UploadedPairs, encoder: Encoder, store: Store) -> FairMetric:
    names = encoder.feature_names
    table = store.table(pairs.table)
    X = encoder.transform(table)
    if pairs.column:
        return comparable_directions(X, table[pairs.column], names)
    other = store.table(pairs.other)
    if len(table) != len(other):
        raise ValueError(
            f"The pairs do not align: one file has {len(table):,} rows, the other "
            f"{len(other):,}. Row i of one must be the counterpart of row i of the "
            "other."
        )
    return comparable_directions(*pair_tables(X, encoder.transform(other)), names)
