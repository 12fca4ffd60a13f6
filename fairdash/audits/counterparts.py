"""People and their worst counterparts, every one a row that a table can hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash._validation import (
    as_frame,
    check_non_negative,
    is_frame,
    value_label,
)
from fairdash.analysis import table_search
from fairdash.audits.audited_model import MOST_POOL, AuditedModel, AuditRows
from fairdash.brought import TableModel
from fairdash.datasets import Encoder
from fairdash.metrics import FairMetric

_DIGITS = 6  # of a fraction that a reader is shown


class ColumnChange(NamedTuple):
    """A column of one person, as it is and as changed: values of the table."""

    column: str
    before: Any
    after: Any

    def __str__(self) -> str:
        """Return such as "branch: office → works", fractions with six digits."""
        before = self._bare_label(self.before)
        after = self._bare_label(self.after)
        return f"{self.column}: {before} → {after}"

    def _bare_label(self, value: Any) -> str:
        # A group such as "sex 1" carries its column already.
        return _label(value).removeprefix(f"{self.column} ")


def _label(value: Any) -> str:
    if pd.isna(value):
        return "(missing)"
    if isinstance(value, float) and not value.is_integer():
        return np.format_float_positional(value, _DIGITS, trim="-")
    return value_label(value)


def worst_counterparts(
    model: AuditedModel | TableModel,
    rows: AuditRows | ArrayLike | pd.DataFrame,
    *,
    metric: FairMetric,
    fair_radius: float,
    places: NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    r"""Search the counterpart of each person that a model treats most differently.

    A counterpart x' lies within :math:`d_X(x, x')^2 \leq` ``fair_radius`` and holds,
    in every column, a value that the table holds; it is never missing unless the
    person's own was. Distance and prediction are those of exactly the row shown. One
    that changes the decision comes before all others, then the change of P(1). It is a
    search, so from below: a worse counterpart may exist.

    Parameters
    ----------
    model : AuditedModel, or a classifier of encoded rows
    rows : AuditRows, or array-like or DataFrame of shape (n_rows, d)
        The rows of an `AuditedModel`; for a classifier encoded rows, whose columns
        are those of ``metric``. Indicators "race=White", "race=Black" are one column.
    fair_radius : float
        Largest squared fair distance, :math:`\epsilon`.
    places : ndarray of int, optional
        Which rows (of `AuditRows`, which test rows); by default all.

    Returns
    -------
    DataFrame
        One row for each person that has a counterpart, those first whose decision
        changes, then those moved most: ``row`` (of the table, from 1; of an array, its
        place), ``fair_distance`` (squared, of the row as shown), ``before`` and
        ``after`` (P(1)), ``decision_changed``, ``place`` among the rows given, and
        ``changes``, a list of `ColumnChange`, the largest change of encoded values
        first.

    Raises
    ------
    ValueError
        When the metric is of other columns, or the radius is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fairdash.metrics import ignore_columns
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = LogisticRegression(C=100).fit(X, [0, 0, 1, 1])
    >>> metric = ignore_columns(["sex"], ["sex", "age"])
    >>> people = worst_counterparts(model, X, metric=metric, fair_radius=0.0)
    >>> people["decision_changed"].tolist()
    [True, True, True, True]
    """
    check_non_negative("fair_radius", fair_radius)
    if isinstance(model, AuditedModel):
        people = _stored(model, rows, metric, places)
    else:
        people = _brought(model, rows, metric, places)
    search = table_search.TableSearch(
        people.columns,
        metric,
        radius=fair_radius,
        # the search looks for changes at one half
        score=lambda Z, who: people.score(Z, who) + (0.5 - people.threshold),
        pool=people.pool,
        absent=people.absent,
    )
    return _table(people, search(people.X), metric, fair_radius)


@dataclass(frozen=True, eq=False)
class _People:
    frame: pd.DataFrame  # in the words of the table
    X: FloatArray
    columns: Sequence[table_search.TableColumn]
    score: table_search.Score
    threshold: float
    pool: FloatArray
    absent: NDArray[np.bool_] | None
    places: Codes
    numbers: Codes  # that each person has in the table
    encoder: Encoder | None


def _stored(
    model: AuditedModel, rows: object, metric: FairMetric, places: Codes | None
) -> _People:
    """Return the people of a stored model: its own test rows."""
    stored = model.rows
    if getattr(rows, "key", None) != stored.key:
        raise ValueError(
            "`rows` of a stored model must be its own, `model.rows`; `places` says "
            "which of them."
        )
    names = stored.encoder.feature_names
    if metric.feature_names != names:
        raise ValueError(
            f"`metric` is of the {len(metric.feature_names)} columns "
            f"{list(metric.feature_names[:3])} ..., the model of {len(names)}, "
            f"{list(names[:3])} ...: make it from `rows.encoder.feature_names`."
        )
    if places is None:
        places = np.arange(stored.n)
    index = np.asarray(places, np.int64)
    return _People(
        frame=stored.frame.iloc[index].reset_index(drop=True),
        X=stored.test.X[index].astype(np.float64),
        columns=stored.columns,
        score=lambda Z, who: model.encoded(Z, index[who]),
        threshold=model.threshold,
        pool=stored.pool.X,
        absent=stored.pool.absent,
        places=index,
        numbers=stored.dataset.row_number[stored.where[index]] + 1,
        encoder=stored.encoder,
    )


def _brought(
    model: TableModel, rows: Any, metric: FairMetric, places: Codes | None
) -> _People:
    """Return the people of a classifier of encoded rows."""
    names = metric.feature_names
    if is_frame(rows):
        rows = as_frame("rows", rows)
    header = None
    if isinstance(rows, pd.DataFrame):
        header = list(rows)
        text = list(rows.select_dtypes(exclude=["number", "bool"]))
        if text:
            raise ValueError(
                f"`rows` must be encoded as numbers; {text[0]!r} is not. See "
                "`fairdash.datasets.encode`."
            )
    encoded = np.asarray(rows, np.float64)
    if encoded.ndim != 2 or encoded.shape[1] != len(names):
        message = f"`rows` must be (n_rows, {len(names)}), the columns of `metric`"
        raise ValueError(f"{message}; got shape {encoded.shape}.")
    if header is not None and tuple(map(str, header)) != names:
        raise ValueError(f"`metric` is of the columns {list(names)}, `rows` {header}.")
    if places is None:
        places = np.arange(len(encoded))
    index = np.asarray(places, np.int64)
    columns = table_search.row_columns(encoded, names)

    def score(Z: FloatArray, who: Codes) -> FloatArray:
        # A classifier that was fitted on a frame warns where it is given an array.
        table = Z if header is None else pd.DataFrame(Z, columns=header)
        return np.asarray(model.predict_proba(table), np.float64)[:, -1]

    X = encoded[index]
    values = {column.name: column.levels[column.index(X)] for column in columns}
    return _People(
        frame=pd.DataFrame(values),
        X=X,
        columns=columns,
        score=score,
        threshold=0.5,
        pool=encoded[:MOST_POOL],
        absent=None,
        places=index,
        numbers=index,
        encoder=None,
    )


def _table(
    people: _People, result: table_search.Found, metric: FairMetric, radius: float
) -> pd.DataFrame:
    """Return the counterparts that were found, the worst first."""
    frame = table_search.in_table(people.frame, people.columns, people.X, result.X)
    # Distance and prediction are those of the values that the table shows, which the
    # encoder may round.
    Z = people.encoder.transform(frame) if people.encoder else result.X
    everyone = np.arange(len(frame))
    before = people.score(people.X, everyone)
    after = people.score(np.asarray(Z, np.float64), everyone)
    distance = metric.distance(people.X, Z)
    is_changed = (before > people.threshold) != (after > people.threshold)
    table = pd.DataFrame(
        {
            "row": people.numbers,
            "fair_distance": distance,
            "before": before,
            "after": after,
            "decision_changed": is_changed,
            "place": people.places,
            "changes": changes_between(
                people.columns, people.frame, frame, people.X, result.X
            ),
        }
    )
    is_within = result.found & (distance <= radius + table_search.TOLERANCE)
    # Changed decisions first, then the largest change: the last key sorts first.
    order = np.lexsort([-np.abs(after - before), ~is_changed])
    return table.iloc[order[is_within[order]]].reset_index(drop=True)


def changes_between(
    columns: Sequence[table_search.TableColumn],
    before: pd.DataFrame,
    after: pd.DataFrame,
    X: FloatArray,
    Z: FloatArray,
) -> list[list[ColumnChange]]:
    """Return what differs in every row, its largest change of encoded values first.

    ``before`` and ``after`` hold the words of the table, ``X`` and ``Z`` are encoded.
    """
    sized: list[list[tuple[float, ColumnChange]]] = [[] for _ in range(len(before))]
    for column in columns:
        squared = ((Z[:, column.span] - X[:, column.span]) ** 2).sum(1)
        old_values = before[column.name].tolist()
        new_values = after[column.name].tolist()
        for i in np.flatnonzero(squared):
            change = ColumnChange(column.name, old_values[i], new_values[i])
            sized[i].append((float(squared[i]), change))
    changes = []
    for row in sized:
        row.sort(key=lambda part: -part[0])
        changes.append([change for _, change in row])
    return changes
