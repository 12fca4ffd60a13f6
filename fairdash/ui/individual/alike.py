"""What does not count when two people are compared, and the metric that follows."""

from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
import streamlit as st

from fairdash.audits import AuditRows
from fairdash.datasets import Encoder
from fairdash.metrics import (
    FairMetric,
    comparable_directions,
    explore,
    group_directions,
    ignore_columns,
    pair_tables,
)
from fairdash.ui.widgets.state import store


@dataclass(frozen=True)
class UploadedPairs:
    """Counterfactual pairs from files in the store.

    Attributes
    ----------
    table : str
        Digest of the file.
    other : str
        Digest of the file whose row i is the counterpart of row i; "" without one.
    column : str
        Pair id, where there is one file.
    """

    table: str
    other: str = ""
    column: str = ""


@dataclass(frozen=True)
class LabelledPairs:
    """Pairs of rows of the data set, each comparable or not.

    Attributes
    ----------
    rows : tuple of (int, int)
    comparable : tuple of bool
    """

    rows: tuple[tuple[int, int], ...]
    comparable: tuple[bool, ...]


Pairs = UploadedPairs | LabelledPairs


@dataclass(frozen=True)
class Alike:
    """What does not count when two people are compared.

    Attributes
    ----------
    columns : tuple of str
        Features whose values do not count; also those that are flipped.
    predicts_group : bool
        Whether the direction that predicts the group does not count either.
    pairs : UploadedPairs or LabelledPairs, optional
        How people of a pair differ does not count either; a metric of labelled pairs
        weighs every column and is used alone.
    """

    columns: tuple[str, ...] = ()
    predicts_group: bool = True
    pairs: Pairs | None = None


def fair_metric(rows: AuditRows, alike: Alike) -> FairMetric:
    """Return the metric of a choice, learned on the training rows or from pairs.

    Raises
    ------
    ValueError
        When nothing was chosen, a column is not a feature of the models, pairs do not
        align, no two rows are a pair, or labels are all of one kind.
    """
    return _metric(rows.key, alike, rows)


@st.cache_resource(max_entries=128, show_spinner=False)
def _metric(key: str, alike: Alike, _rows: AuditRows) -> FairMetric:
    names = _rows.encoder.feature_names
    if isinstance(alike.pairs, LabelledPairs):
        return _of_labels(alike.pairs, _rows)
    metrics = []
    if alike.predicts_group:
        learned = group_directions(
            _rows.train, _rows.train_groups, names, columns=alike.columns
        )
        metrics.append(learned)
    elif alike.columns:
        metrics.append(ignore_columns(alike.columns, names))
    if alike.pairs:
        metrics.append(_of_files(alike.pairs, _rows.encoder))
    if metrics:
        return reduce(or_, metrics)
    raise ValueError(
        "There is no sensitive direction. Choose columns that should not count, the "
        "direction that predicts the group, or pairs of people."
    )


def _of_files(pairs: UploadedPairs, encoder: Encoder) -> FairMetric:
    names = encoder.feature_names
    table = store().table(pairs.table)
    X = encoder.transform(table)
    if pairs.column:
        return comparable_directions(X, table[pairs.column], names)
    other = store().table(pairs.other)
    if len(table) != len(other):
        raise ValueError(
            f"The pairs do not align: one file has {len(table):,} rows, the other "
            f"{len(other):,}. Row i of one must be the counterpart of row i of the "
            "other."
        )
    return comparable_directions(*pair_tables(X, encoder.transform(other)), names)


def _of_labels(pairs: LabelledPairs, rows: AuditRows) -> FairMetric:
    if len(set(pairs.comparable)) < 2:
        raise ValueError(
            "A metric needs pairs of both kinds. Under Pairs, call at least one pair "
            "comparable and one not comparable."
        )
    frame = rows.dataset.frame
    first, second = (
        rows.encoder.transform(frame.iloc[list(places)])
        for places in zip(*pairs.rows, strict=True)
    )
    names = rows.encoder.feature_names
    return explore(first, second, np.array(pairs.comparable, int), names)
