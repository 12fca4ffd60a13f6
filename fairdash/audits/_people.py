"""People and their counterparts in the words of the table."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash.audits._audit import worst_counterparts
from fairdash.audits._model import AuditedModel
from fairdash.datasets import Encoder, decode
from fairdash.metrics import FairMetric

Float32 = NDArray[np.float32]


class Change(NamedTuple):
    """A column of one person, as it is and as changed."""

    column: str
    before: str
    after: str


def changed_people(
    model: AuditedModel,
    metric: FairMetric,
    *,
    places: NDArray[np.int64],
    radius: float,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return people and their worst counterparts, those first who are moved most.

    Counterparts are decoded to the columns of the table and scored again, so that
    every line is a possible person; as levels are rounded, its fair distance is given.

    Returns
    -------
    DataFrame
        ``place`` among the test rows, ``row`` of the table (from 1), ``p`` as the
        person is, ``p_changed``, ``decision`` ("0 → 1", or "0" where it stays),
        ``distance`` (squared, fair), and ``changes``, a list of `Change` with the
        largest change of encoded values first.
    DataFrame
        The features of the same people as changed.
    """
    case = worst_counterparts(model, metric, places=places, radius=radius)
    before = model.rows.frame.iloc[places].reset_index(drop=True)
    after = decode(model.rows.encoder, case.X, like=model.rows.dataset.frame)
    after = after[before.columns.tolist()]
    p, q = (model.probability(frame, places) for frame in (before, after))
    X, Z = model.rows.test.X[places], model.rows.encoder.transform(after)
    changes = _changes(before, after, _moved(model.rows.encoder, X, Z))
    order = np.argsort(-np.abs(q - p), kind="stable")
    numbered = model.rows.dataset.row_number[model.rows.where[places]] + 1
    table = pd.DataFrame(
        {
            "place": places,
            "row": numbered,
            "p": p,
            "p_changed": q,
            "decision": list(map(_decision, p > 0.5, q > 0.5)),
            "distance": metric.distance(X, Z),
            "changes": changes,
        }
    )
    ranked, changed = (t.iloc[order].reset_index(drop=True) for t in (table, after))
    return ranked, changed


def _decision(before: bool, after: bool) -> str:
    return f"{before:d}" if before == after else f"{before:d} → {after:d}"


def _changes(
    before: pd.DataFrame, after: pd.DataFrame, moved: dict[str, Float32]
) -> list[list[Change]]:
    """Return what differs in every row, its largest change first."""
    found: list[list[tuple[float, Change]]] = [[] for _ in range(len(before))]
    for name, squared in moved.items():
        one, other = value_labels(before[name]), value_labels(after[name])
        for i in np.flatnonzero(_differ(before[name], after[name], one != other)):
            change = Change(name, str(one.iloc[i]), str(other.iloc[i]))
            found[i].append((-float(squared[i]), change))
    return [[change for _, change in sorted(line)] for line in found]


def _differ(
    one: "pd.Series[Any]", other: "pd.Series[Any]", labels: "pd.Series[bool]"
) -> NDArray[np.bool_]:
    """Tell in which rows two columns differ by more than rounding."""
    different: NDArray[np.bool_] = labels.to_numpy(dtype=bool, na_value=True)
    if pd.api.types.is_numeric_dtype(one) and one.dtype != bool:
        first, second = one.to_numpy(np.float64), other.to_numpy(np.float64)
        close = np.isclose(first, second, rtol=1e-4, equal_nan=True)
        different = np.logical_and(different, ~close)
    return different


def _moved(encoder: Encoder, X: Float32, Z: Float32) -> dict[str, Float32]:
    """Return the squared change of every row in the encoded columns of each column."""
    squared = (Z - X) ** 2
    place = {name: i for i, name in enumerate(encoder.feature_names)}
    return {
        column.column: squared[
            :, [place[name] for name in column.names() if name in place]
        ].sum(1)
        for column in encoder.columns
    }
