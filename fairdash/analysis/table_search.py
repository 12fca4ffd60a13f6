"""The most differently scored counterpart of a person among rows a table can hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes, FloatArray
from fairdash.datasets import Dataset, Encoder
from fairdash.metrics import FairMetric

Score = Callable[[FloatArray, Codes], FloatArray]
TOLERANCE = 1e-9  # of squared distances, for rounding alone
_FEW = 64  # values of a column up to which each is tried
_SPREAD = 9  # values tried of a column with more, over what is within reach
_NEIGHBOURS = 32  # real rows tried for each person
_MOST_STEPS = 12
_SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0)  # of the radius, one after another
_PEOPLE = 500  # searched at once
_PART = 256  # rows whose distances to all real rows are held at once


@dataclass(frozen=True, eq=False)
class TableColumn:
    """The values that one column of a table takes.

    Attributes
    ----------
    span : ndarray of int
        Its places among the encoded columns.
    levels : ndarray of shape (m,)
        Different values as they stand in the table, in ascending order of their
        encoding; of several with one encoding the first. A missing value is none.
    encoded : ndarray of shape (m, len(span))
    """

    name: str
    span: Codes
    levels: NDArray[np.object_]
    encoded: FloatArray

    @property
    def dense(self) -> bool:
        """Whether it is a number of many values: only its first place ever moves."""
        return len(self.levels) > _FEW and self.is_number

    @property
    def is_number(self) -> bool:
        """Whether one encoded column moves, the first."""
        moves = np.ptp(self.encoded, axis=0) > 0
        return bool(moves[0]) and int(moves.sum()) == 1

    def index(self, X: FloatArray) -> Codes:
        """Return which value is nearest to that of every encoded row."""
        target = X[:, self.span]
        if not self.dense:
            nearest: Codes = _squared(target, self.encoded).argmin(1)
            return nearest
        # A number of many values: the nearer of its neighbours on the line.
        line = self.encoded[:, 0]
        number = target[:, 0]
        right = np.searchsorted(line, number).clip(1, len(line) - 1)
        left_is_nearer = number - line[right - 1] < line[right] - number
        return np.asarray(right - left_is_nearer)


def table_columns(dataset: Dataset, encoder: Encoder) -> list[TableColumn]:
    """Return the values that the features of a data set take, and how each is encoded.

    A column that the encoder drops because it is constant is none.
    """
    frame = dataset.frame[[column.column for column in encoder.columns]]
    unique = {name: frame[name].dropna().unique() for name in frame}
    n_rows = max(map(len, unique.values()))
    # One table with every value of every column encodes them all at once. Columns of
    # fewer values repeat theirs.
    rows = frame.iloc[np.zeros(n_rows, int)].reset_index(drop=True)
    for name, values in unique.items():
        if len(values):
            repeated = np.arange(n_rows) % len(values)
            column_values = pd.Series(values, dtype=frame[name].dtype)
            rows[name] = column_values.iloc[repeated].array
    encoded = encoder.transform(rows).astype(np.float64)
    index = {name: i for i, name in enumerate(encoder.feature_names)}
    columns = []
    for column in encoder.columns:
        span = np.array([index[name] for name in column.names() if name in index], int)
        values = np.asarray(unique[column.column], object)
        if len(span) and len(values):
            encoded_values = encoded[: len(values), span]
            columns.append(_column(column.column, span, values, encoded_values))
    return columns


def in_table(
    frame: pd.DataFrame, columns: Sequence[TableColumn], X: FloatArray, Z: FloatArray
) -> pd.DataFrame:
    """Return the rows of a table after a change of their encoding from X to Z.

    A column that is the same in both keeps its value, missing or not.
    """
    table = frame.copy()
    for column in columns:
        rows = np.flatnonzero((X[:, column.span] != Z[:, column.span]).any(1))
        levels = column.levels[column.index(Z[rows])]
        values = table[column.name].copy()
        values.iloc[rows] = pd.Series(levels, dtype=values.dtype).array
        table[column.name] = values
    return table


def row_columns(X: FloatArray, names: Sequence[str]) -> list[TableColumn]:
    """Return the columns of encoded rows: "race=White", "race=Black" are one, race."""
    spans: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        spans.setdefault(name.split("=")[0], []).append(i)
    columns = []
    for name, indices in spans.items():
        span = np.array(indices)
        if len(span) == 1:
            values = X[:, span[0]].astype(object)
        else:
            levels = [names[i].partition("=")[2] or names[i] for i in indices]
            values = np.array(levels, object)[X[:, span].argmax(1)]
        columns.append(_column(name, span, values, X[:, span]))
    return columns


def _column(
    name: str, span: Codes, values: NDArray[np.object_], encoded: FloatArray
) -> TableColumn:
    """Return a column with one value for each distinct encoding."""
    distinct, first = np.unique(encoded, axis=0, return_index=True)
    return TableColumn(name, span, values[first], distinct)


class Found(NamedTuple):
    """The counterpart found of each person; itself where there is none."""

    X: FloatArray
    found: NDArray[np.bool_]


class TableSearch:
    """A search for counterparts whose every column holds a value of the table.

    A person starts as it is and at the real rows within the radius; from the best of
    these one column at a time is set to the value within the radius that moves the
    score most, up and down. Every row that is scored lies within the radius.

    Parameters
    ----------
    radius : float
        Largest squared fair distance.
    score : callable
        Returns P(1) of encoded rows, given whose counterpart each row is.
    pool : ndarray of shape (n_pool, d)
        Real rows.
    absent : ndarray of bool of shape (n_pool, n_columns), optional
        Where they have no value: a counterpart has that of the person there.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn],
        metric: FairMetric,
        *,
        radius: float,
        score: Score,
        pool: FloatArray,
        absent: NDArray[np.bool_] | None = None,
    ) -> None:
        self.columns = columns
        self.radius = radius
        self.score = score
        self.root = metric.sigma
        self.pool = pool
        self._absent = absent

    def __call__(self, X: ArrayLike) -> Found:
        """Return the worst counterpart of every row of ``X``.

        One that changes the decision comes before all others, then the change of P(1).
        """
        x = np.asarray(X, np.float64)
        parts = [
            self._search(x, np.arange(start, min(start + _PEOPLE, len(x))))
            for start in range(0, len(x), _PEOPLE)
        ]
        return Found(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _search(self, X: FloatArray, part: Codes) -> Found:
        """Search the counterparts of some of the people at once."""
        x = X[part]
        best = _Best(x, part, self.score(x, part))
        for person, rows in self._real_rows(x):
            within = self.distance(x[person], rows) <= self.radius + TOLERANCE
            differs = (rows != x[person]).any(1)
            candidates = within & differs
            self._try(best, person[candidates], rows[candidates])
        self._climb(best)
        return Found(best.X, best.found)

    def distance(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Return squared fair distances of rows."""
        squared: FloatArray = (((Z - X) @ self.root) ** 2).sum(1)
        return squared

    def _real_rows(self, x: FloatArray) -> Iterator[tuple[Codes, FloatArray]]:
        """Yield people and real rows near them, some rows for each person."""
        for part, near, distances in nearest_rows(
            x, self.pool, self.root, most=_NEIGHBOURS
        ):
            # A wider bound than `TOLERANCE`: completed rows are measured again.
            in_part, neighbour = np.nonzero(distances <= self.radius + 1e-6)
            person = part[in_part]
            yield person, self._completed(x[person], near[in_part, neighbour])

    def _completed(self, x: FloatArray, pool_index: Codes) -> FloatArray:
        """Return real rows, with the person's value where they have none."""
        rows = self.pool[pool_index]
        if self._absent is None:
            return rows
        absent = self._absent[pool_index]
        for j, column in enumerate(self.columns):
            cells = np.ix_(absent[:, j], column.span)
            rows[cells] = x[cells]
        return rows

    def _climb(self, best: "_Best") -> None:
        """Change one column at a time while that moves the score, up and then down.

        From the best so far, then from the person with a radius that grows by and by,
        or the first column would spend it.
        """
        # First towards the other decision.
        direction = np.where(best.before > 0.5, -1.0, 1.0)
        for sign in (direction, -direction):
            starts = [(best.X.copy(), (1.0,)), (best.x.copy(), _SHARES)]
            for z, shares in starts:
                gain = sign * (self.score(z, best.people) - best.before)
                for share in shares:
                    active = np.arange(len(z))
                    for _ in range(_MOST_STEPS):
                        radius = share * self.radius
                        active = self._improve(best, z, gain, sign, active, radius)
                        if not len(active):
                            break

    def _improve(
        self,
        best: "_Best",
        z: FloatArray,
        gain: FloatArray,
        sign: FloatArray,
        active: Codes,
        radius: float,
    ) -> Codes:
        """Take the best step of each active person, in ``z`` and ``gain``.

        Returns the people who moved.
        """
        best_gain = gain.copy()
        best_rows = z.copy()
        for column in self.columns:
            person, rows = self._moves(column, best.x, z, active, radius)
            if not len(person):
                continue
            p = self._try(best, person, rows)
            row_gain = sign[person] * (p - best.before[person])
            largest = best_gain.copy()
            np.maximum.at(largest, person, row_gain)
            is_largest = row_gain == largest[person]
            is_better = row_gain > best_gain[person] + 1e-12
            winners = np.flatnonzero(is_largest & is_better)
            best_rows[person[winners]] = rows[winners]
            best_gain = np.maximum(best_gain, largest)
        changed: Codes = np.flatnonzero(best_gain > gain + 1e-12)
        z[changed] = best_rows[changed]
        gain[:] = best_gain
        return changed

    def _moves(
        self,
        column: TableColumn,
        x: FloatArray,
        z: FloatArray,
        active: Codes,
        radius: float,
    ) -> tuple[Codes, FloatArray]:
        """Return people and rows within the radius that another value makes of them."""
        current = z[active]
        root = self.root[column.span]
        # The distance of a row with value v is |rest + v root|^2.
        rest = (current - x[active]) @ self.root - current[:, column.span] @ root
        if column.dense:
            person, level = self._dense(column, rest, root, radius)
        else:
            distances = _squared(-rest, column.encoded @ root)
            person, level = np.nonzero(distances <= radius + TOLERANCE)
        rows = current[person]
        rows[:, column.span] = column.encoded[level]
        differs = (rows[:, column.span] != current[person][:, column.span]).any(1)
        return active[person[differs]], rows[differs]

    def _dense(
        self, column: TableColumn, rest: FloatArray, root: FloatArray, radius: float
    ) -> tuple[Codes, Codes]:
        """Return people and levels of a number within the radius, evenly spread.

        Values v with |rest + v root|^2 at most the radius lie between the roots of
        a v^2 + 2 b v + c.
        """
        line = column.encoded[:, 0]
        rest = rest + column.encoded[0, 1:] @ root[1:]
        a = float(root[0] @ root[0])
        b = rest @ root[0]
        c = (rest**2).sum(1) - radius
        if a <= 1e-12:  # the metric ignores the column: any value is as near
            low = np.full(len(b), -np.inf)
            high = np.full(len(b), np.inf)
            solvable = c <= TOLERANCE
        else:
            discriminant = b**2 - a * c
            solvable = b**2 >= a * c
            half = np.sqrt(np.maximum(discriminant, 0))
            low = (-b - half) / a - TOLERANCE
            high = (-b + half) / a + TOLERANCE
        first = np.searchsorted(line, low)
        last = np.searchsorted(line, high, side="right") - 1
        person = np.flatnonzero(solvable & (first <= last))
        share = np.linspace(0, 1, _SPREAD)
        steps = np.round(share * (last - first)[person, None]).astype(int)
        level = first[person, None] + steps
        return np.repeat(person, _SPREAD), level.ravel()

    def _try(self, best: "_Best", person: Codes, rows: FloatArray) -> FloatArray:
        """Score rows, keep the best of them, and return the scores."""
        p = self.score(rows, best.people[person]) if len(rows) else np.empty(0)
        best.keep(person, rows, p)
        return p


class _Best:
    """The best counterpart of each person so far; itself where there is none."""

    def __init__(self, x: FloatArray, people: Codes, before: FloatArray) -> None:
        self.x = x
        self.people = people
        self.before = before
        self.X = x.copy()
        self.after = before.copy()
        self.rank = np.full(len(x), -1.0)

    @property
    def found(self) -> NDArray[np.bool_]:
        return self.rank >= 0

    def keep(self, person: Codes, rows: FloatArray, p: FloatArray) -> None:
        """Keep the rows that rank above all earlier ones of their person.

        A change of the decision adds 1, which is more than any change of P(1).
        """
        before = self.before[person]
        decision_changed = (p > 0.5) != (before > 0.5)
        rank = np.abs(p - before) + decision_changed
        largest = self.rank.copy()
        np.maximum.at(largest, person, rank)
        differs = (rows != self.x[person]).any(1)
        is_best = (rank == largest[person]) & (rank > self.rank[person]) & differs
        winners = np.flatnonzero(is_best)
        self.X[person[winners]] = rows[winners]
        self.after[person[winners]] = p[winners]
        self.rank[person[winners]] = rank[winners]


def nearest_rows(
    X: FloatArray, pool: FloatArray, root: FloatArray, *, most: int
) -> Iterator[tuple[Codes, Codes, FloatArray]]:
    """Yield, for parts of the rows, the nearest real rows and their distances.

    ``root`` is ``FairMetric.sigma``. Yields places in ``X``, places in ``pool``
    (n, most) and squared distances (n, most).
    """
    most = min(most, len(pool))
    pool_at_root = pool @ root
    for start in range(0, len(X), _PART):
        squared = _squared(X[start : start + _PART] @ root, pool_at_root)
        near = np.argpartition(squared, most - 1, axis=1)[:, :most]
        part = np.arange(start, start + len(near))
        yield part, near, np.take_along_axis(squared, near, 1)


def _squared(rows: FloatArray, points: FloatArray) -> FloatArray:
    """Return squared Euclidean distances, (rows, points), by one product."""
    cross = rows @ points.T
    squared = (rows**2).sum(1)[:, None] - 2 * cross + (points**2).sum(1)
    # Cancelling may leave the distance of equal rows below 0.
    return np.asarray(np.maximum(squared, 0), np.float64)
