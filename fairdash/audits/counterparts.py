"""People and their worst counterparts, every one a row that a table can hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_non_negative, value_label
from fairdash.audits.audited_model import MOST_POOL, AuditedModel, AuditRows
from fairdash.audits.table_search import (
    TOLERANCE,
    Float,
    Found,
    Score,
    TableColumn,
    TableSearch,
    in_table,
    row_columns,
)
from fairdash.datasets import Encoder
from fairdash.metrics import FairMetric, wilson_interval

Codes = NDArray[np.int64]
_DIGITS = 6  # of a fraction that a reader is shown


class Change(NamedTuple):
    """A column of one person, as it is and as changed: values of the table."""

    column: str
    before: Any
    after: Any

    def labels(self) -> tuple[str, str]:
        """Return both values as a reader knows them, fractions with six digits.

        With all they have where six do not tell the two apart.
        """
        full = _label(self.before), _label(self.after)
        short = _label(self.before, _DIGITS), _label(self.after, _DIGITS)
        return full if short[0] == short[1] else short

    def __str__(self) -> str:
        """Return such as "branch: office → works"."""
        one, other = self.labels()
        return f"{self.column}: {one} → {other}"


def _label(value: Any, digits: int | None = None) -> str:
    if pd.isna(value):
        return "(missing)"
    label = value_label(value)
    fraction = isinstance(value, float) and not value.is_integer()
    if digits is None or not fraction or abs(value) >= 10 ** (digits - 1):
        return label
    return np.format_float_positional(value, digits, fractional=False, trim="-")


class Classifier(Protocol):
    """A model brought along, of encoded rows."""

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class; the last column is of outcome 1."""
        ...


@dataclass(frozen=True, eq=False)
class Counterparts:
    """What a search found, with how many people it was for.

    ``people`` are of `worst_counterparts`; ``places``, ascending, are those searched
    among the test rows.
    """

    people: pd.DataFrame
    places: Codes
    radius: float

    @property
    def n(self) -> int:
        """People searched."""
        return len(self.places)

    @property
    def changed(self) -> int:
        """People whose counterpart gets another decision."""
        return int(self.people["decision_changed"].sum())

    @property
    def share_changed(self) -> float:
        """Share of all people searched whose counterpart gets another decision."""
        return self.changed / self.n if self.n else float("nan")

    @property
    def share_found(self) -> float:
        """Share of all people searched who have a counterpart at all."""
        return len(self.people) / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of ``share_changed``."""
        low, high = wilson_interval(self.changed, self.n)
        return float(low), float(high)


def worst_counterparts(
    model: AuditedModel | Classifier,
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
        ``changes``, a list of `Change`, the largest change of encoded values first.

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
    >>> found = worst_counterparts(model, X, metric=metric, fair_radius=0.0)
    >>> found["decision_changed"].tolist()
    [True, True, True, True]
    """
    check_non_negative("fair_radius", fair_radius)
    if isinstance(model, AuditedModel):
        people = _stored(model, rows, metric, places)
    else:
        people = _brought(model, rows, metric, places)
    search = TableSearch(
        people.columns,
        metric,
        radius=fair_radius,
        score=people.score,
        pool=people.pool,
        absent=people.absent,
    )
    return _table(people, search(people.X), metric, fair_radius)


def search_counterparts(
    model: AuditedModel, metric: FairMetric, *, places: Codes, radius: float
) -> Counterparts:
    """Search the worst counterparts of some test rows, and keep how many there were."""
    people = worst_counterparts(
        model, model.rows, metric=metric, fair_radius=radius, places=places
    )
    return Counterparts(people, places, radius)


def counterpart_of(person: pd.DataFrame, changes: Sequence[Change]) -> pd.DataFrame:
    """Return a person, a table of one row, with what differs changed."""
    changed = person.copy()
    for column, _, after in changes:
        values = pd.Series([after], dtype=person[column].dtype, index=person.index)
        changed[column] = values
    return changed


def number_step(column: "pd.Series[float]") -> int | float:
    """Return by how much to edit a number: 1 where all are whole, else a share."""
    known = column.dropna()
    if (known % 1 == 0).all():
        return 1
    span = float(known.max() - known.min())
    return float(f"{span / 100:.1g}") or 0.1


def columns_by_effect(model: AuditedModel, place: int) -> list[str]:
    """Return the features, first that which alone moves P(1) of a test row most.

    Each is set, all else held, to values of the table: a number to its 5, 25, 50, 75
    and 95% points, words to the ten commonest; what counts is the largest change of
    P(1). Features that change it alike stay in the order of the table.
    """
    person = model.rows.frame.iloc[[place]]
    changed: list[pd.DataFrame] = []
    for name in model.rows.features:
        column = model.rows.dataset.frame[name]
        values = _common_values(column)
        frame = person.loc[person.index.repeat(len(values))].reset_index(drop=True)
        frame[name] = pd.Series(values, dtype=column.dtype)
        changed.append(frame)
    sizes = [len(frame) for frame in changed]
    frame = pd.concat([person, *changed], ignore_index=True).astype(person.dtypes)
    p = model.probability(frame, np.full(len(frame), place))
    parts = np.split(np.abs(p[1:] - p[0]), np.cumsum(sizes)[:-1])
    effects = [float(part.max(initial=0)) for part in parts]
    order = np.argsort(-np.array(effects), kind="stable")
    return [model.rows.features[i] for i in order]


def _common_values(column: "pd.Series[Any]") -> list[Any]:
    known = column.dropna()
    if pd.api.types.is_bool_dtype(known) or not pd.api.types.is_numeric_dtype(known):
        return list(known.value_counts().index[:10])
    points = known.quantile([0.05, 0.25, 0.5, 0.75, 0.95], interpolation="nearest")
    return list(points.unique())


def compare_people(
    model: AuditedModel, metric: FairMetric, place: int, edited: pd.DataFrame
) -> tuple[float, float, float]:
    """Return P(1) of a test row as it is and as edited, and their fair distance."""
    places = np.array([place])
    person = model.rows.frame.iloc[places]
    after = edited.astype(person.dtypes.to_dict())
    p, q = (float(model.probability(one, places)[0]) for one in (person, after))
    encode = model.rows.encoder.transform
    return p, q, float(metric.distance(encode(person), encode(after))[0])


@dataclass(frozen=True, eq=False)
class _People:
    """Whom a search is for, and how they are scored and shown."""

    frame: pd.DataFrame  # in the words of the table
    X: Float
    columns: Sequence[TableColumn]
    score: Score
    pool: Float
    absent: NDArray[np.bool_] | None
    places: Codes
    numbers: Codes  # that each person has in the table
    encoder: Encoder | None


def _stored(
    model: AuditedModel, rows: object, metric: FairMetric, places: Codes | None
) -> _People:
    own = model.rows
    if getattr(rows, "key", None) != own.key:
        raise ValueError(
            "`rows` of a stored model must be its own, `model.rows`; `places` says "
            "which of them."
        )
    names = own.encoder.feature_names
    if metric.feature_names != names:
        raise ValueError(
            f"`metric` is of the {len(metric.feature_names)} columns "
            f"{list(metric.feature_names[:3])} ..., the model of {len(names)}, "
            f"{list(names[:3])} ...: make it from `rows.encoder.feature_names`."
        )
    where = np.arange(own.n) if places is None else np.asarray(places, np.int64)
    X = own.test.X[where]
    return _People(
        frame=own.frame.iloc[where].reset_index(drop=True),
        X=X.astype(np.float64),
        columns=own.columns,
        score=lambda Z, who: model.encoded(Z, where[who]),
        pool=own.pool.X,
        absent=own.pool.absent,
        places=where,
        numbers=own.dataset.row_number[own.where[where]] + 1,
        encoder=own.encoder,
    )


def _brought(
    model: Classifier, rows: Any, metric: FairMetric, places: Codes | None
) -> _People:
    names = metric.feature_names
    header = list(rows) if isinstance(rows, pd.DataFrame) else None
    text = list(rows.select_dtypes(exclude=["number", "bool"])) if header else []
    if text:
        raise ValueError(
            f"`rows` must be encoded as numbers; {text[0]!r} is not. See "
            "`fairdash.datasets.encode`."
        )
    every = np.asarray(rows, np.float64)
    if every.ndim != 2 or every.shape[1] != len(names):
        message = f"`rows` must be (n_rows, {len(names)}), the columns of `metric`"
        raise ValueError(f"{message}; got shape {every.shape}.")
    if header is not None and tuple(map(str, header)) != names:
        raise ValueError(f"`metric` is of the columns {list(names)}, `rows` {header}.")
    where = np.arange(len(every)) if places is None else np.asarray(places, np.int64)
    columns = row_columns(every, names)

    def score(Z: Float, who: Codes) -> Float:
        table = Z if header is None else pd.DataFrame(Z, columns=header)
        return np.asarray(model.predict_proba(table), np.float64)[:, -1]

    X = every[where]
    return _People(
        frame=pd.DataFrame({c.name: c.levels[c.index(X)] for c in columns}),
        X=X,
        columns=columns,
        score=score,
        pool=every[:MOST_POOL],
        absent=None,
        places=where,
        numbers=where,
        encoder=None,
    )


def _table(
    people: _People, found: Found, metric: FairMetric, radius: float
) -> pd.DataFrame:
    """Return the people as shown; distance and P(1) are computed from that anew."""
    shown = in_table(people.frame, people.columns, people.X, found.X)
    Z = people.encoder.transform(shown) if people.encoder else found.X
    everyone = np.arange(len(shown))
    before = people.score(people.X, everyone)
    after = people.score(np.asarray(Z, np.float64), everyone)
    distance = metric.distance(people.X, Z)
    turned = (before > 0.5) != (after > 0.5)
    table = pd.DataFrame(
        {
            "row": people.numbers,
            "fair_distance": distance,
            "before": before,
            "after": after,
            "decision_changed": turned,
            "place": people.places,
            "changes": changes_between(
                people.columns, people.frame, shown, people.X, found.X
            ),
        }
    )
    kept = found.found & (distance <= radius + TOLERANCE)
    order = np.lexsort([-np.abs(after - before), ~turned])
    return table.iloc[order[kept[order]]].reset_index(drop=True)


def changes_between(
    columns: Sequence[TableColumn],
    before: pd.DataFrame,
    after: pd.DataFrame,
    X: Float,
    Z: Float,
) -> list[list[Change]]:
    """Return what differs in every row, its largest change of encoded values first.

    ``before`` and ``after`` hold the words of the table, ``X`` and ``Z`` are encoded.
    """
    found: list[list[tuple[float, Change]]] = [[] for _ in range(len(before))]
    for column in columns:
        squared = ((Z[:, column.span] - X[:, column.span]) ** 2).sum(1)
        one, other = before[column.name].tolist(), after[column.name].tolist()
        for i in np.flatnonzero(squared):
            change = Change(column.name, one[i], other[i])
            found[i].append((-float(squared[i]), change))
    return [[change for _, change in sorted(row, key=lambda x: x[0])] for row in found]
