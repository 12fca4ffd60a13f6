"""The most differently scored counterpart of a person among rows a table can hold."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash.datasets import Dataset, Encoder
from fairdash.metrics import FairMetric

Float = NDArray[np.float64]
Codes = NDArray[np.int64]
Score = Callable[[Float, Codes], Float]
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
    encoded: Float

    @property
    def dense(self) -> bool:
        """Whether it is a number of many values: only its first place ever moves."""
        return len(self.levels) > _FEW and self.is_number

    @property
    def is_number(self) -> bool:
        """Whether one encoded column moves, the first."""
        moves = np.ptp(self.encoded, axis=0) > 0
        return bool(moves[0]) and int(moves.sum()) == 1

    def index(self, X: Float) -> Codes:
        """Return which value is nearest to that of every encoded row."""
        target = X[:, self.span]
        if not self.dense:
            which: Codes = _squared(target, self.encoded).argmin(1)
            return which
        line, wanted = self.encoded[:, 0], target[:, 0]
        right = np.searchsorted(line, wanted).clip(1, len(line) - 1)
        left: Codes = right - (wanted - line[right - 1] < line[right] - wanted)
        return left


def table_columns(dataset: Dataset, encoder: Encoder) -> list[TableColumn]:
    """Return the values that the features of a data set take, and how each is encoded.

    A column that the encoder drops because it is constant is none.
    """
    frame = dataset.frame[[column.column for column in encoder.columns]]
    unique = {name: frame[name].dropna().unique() for name in frame}
    longest = max(map(len, unique.values()))
    # one table with every value of every column encodes them all at once
    rows = frame.iloc[np.zeros(longest, int)].reset_index(drop=True)
    for name, values in unique.items():
        if len(values):
            again = np.arange(longest) % len(values)
            rows[name] = pd.Series(values, dtype=frame[name].dtype).iloc[again].array
    encoded = encoder.transform(rows).astype(np.float64)
    place = {name: i for i, name in enumerate(encoder.feature_names)}
    columns = []
    for column in encoder.columns:
        at = np.array([place[name] for name in column.names() if name in place], int)
        values = np.asarray(unique[column.column], object)
        if len(at) and len(values):
            part = encoded[: len(values), at]
            columns.append(_column(column.column, at, values, part))
    return columns


def in_table(
    frame: pd.DataFrame, columns: Sequence[TableColumn], X: Float, Z: Float
) -> pd.DataFrame:
    """Return rows of a table that are encoded as X as those encoded as Z.

    A column that is the same in both keeps its value, missing or not.
    """
    shown = frame.copy()
    for column in columns:
        rows = np.flatnonzero((X[:, column.span] != Z[:, column.span]).any(1))
        changed = shown[column.name].copy()
        changed.iloc[rows] = pd.Series(
            column.levels[column.index(Z[rows])], dtype=changed.dtype
        ).array
        shown[column.name] = changed
    return shown


def row_columns(X: Float, names: Sequence[str]) -> list[TableColumn]:
    """Return the columns of encoded rows: "race=White", "race=Black" are one, race."""
    owners: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        owners.setdefault(name.split("=")[0], []).append(i)
    columns = []
    for name, places in owners.items():
        at = np.array(places)
        levels = [names[i].partition("=")[2] or names[i] for i in places]
        values = np.array(levels, object)[X[:, at].argmax(1)]
        if len(at) == 1:
            values = X[:, at[0]].astype(object)
        columns.append(_column(name, at, values, X[:, at]))
    return columns


def _column(
    name: str, at: Codes, values: NDArray[np.object_], encoded: Float
) -> TableColumn:
    distinct, first = np.unique(encoded, axis=0, return_index=True)
    return TableColumn(name, at, values[first], distinct)


class Found(NamedTuple):
    """The counterpart found of each person; itself where there is none."""

    X: Float
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
        pool: Float,
        absent: NDArray[np.bool_] | None = None,
    ) -> None:
        self.columns, self.radius, self.score = columns, radius, score
        self._absent = absent
        self.root, self.pool = metric.sigma, pool

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

    def _search(self, X: Float, part: Codes) -> Found:
        x = X[part]
        best = _Best(x, part, self.score(x, part))
        for who, rows in self._real_rows(x):
            within = self.distance(x[who], rows) <= self.radius + TOLERANCE
            other = (rows != x[who]).any(1)
            self._try(best, who[within & other], rows[within & other])
        self._climb(best)
        return Found(best.X, best.found)

    def distance(self, X: Float, Z: Float) -> Float:
        """Return squared fair distances of rows."""
        squared: Float = (((Z - X) @ self.root) ** 2).sum(1)
        return squared

    def _real_rows(self, x: Float) -> Iterator[tuple[Codes, Float]]:
        for part, near, d in nearest_rows(x, self.pool, self.root, most=_NEIGHBOURS):
            person, which = np.nonzero(d <= self.radius + 1e-6)
            yield part[person], self._completed(x[part[person]], near[person, which])

    def _completed(self, x: Float, places: Codes) -> Float:
        rows = self.pool[places]
        if self._absent is not None:
            for column, absent in zip(
                self.columns, self._absent[places].T, strict=True
            ):
                rows[np.ix_(absent, column.span)] = x[np.ix_(absent, column.span)]
        return rows

    def _climb(self, best: "_Best") -> None:
        """Change one column at a time while that moves the score, up and then down.

        From the best so far, then from the person with a radius that grows by and by,
        or the first column would spend it.
        """
        towards = np.where(best.before > 0.5, -1.0, 1.0)
        for sign in (towards, -towards):
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
        z: Float,
        gain: Float,
        sign: Float,
        active: Codes,
        radius: float,
    ) -> Codes:
        reached = gain.copy()
        chosen = z.copy()
        for column in self.columns:
            who, rows = self._moves(column, best.x, z, active, radius)
            if not len(who):
                continue
            p = self._try(best, who, rows)
            value = sign[who] * (p - best.before[who])
            top = reached.copy()
            np.maximum.at(top, who, value)
            hit = np.flatnonzero((value == top[who]) & (value > reached[who] + 1e-12))
            chosen[who[hit]] = rows[hit]
            reached = np.maximum(reached, top)
        changed: Codes = np.flatnonzero(reached > gain + 1e-12)
        z[changed], gain[:] = chosen[changed], reached
        return changed

    def _moves(
        self, column: TableColumn, x: Float, z: Float, active: Codes, radius: float
    ) -> tuple[Codes, Float]:
        here = z[active]
        root = self.root[column.span]
        rest = (here - x[active]) @ self.root - here[:, column.span] @ root
        if column.dense:
            person, which = self._dense(column, rest, root, radius)
        else:
            # |rest + v|^2 over all values v
            person, which = np.nonzero(
                _squared(-rest, column.encoded @ root) <= radius + TOLERANCE
            )
        rows = here[person]
        rows[:, column.span] = column.encoded[which]
        other = (rows[:, column.span] != here[person][:, column.span]).any(1)
        return active[person[other]], rows[other]

    def _dense(
        self, column: TableColumn, rest: Float, root: Float, radius: float
    ) -> tuple[Codes, Codes]:
        line = column.encoded[:, 0]
        rest = rest + column.encoded[0, 1:] @ root[1:]
        a = float(root[0] @ root[0])
        b, c = rest @ root[0], (rest**2).sum(1) - radius
        if a <= 1e-12:
            low, high = np.full(len(b), -np.inf), np.full(len(b), np.inf)
            some = c <= TOLERANCE
        else:
            some = b**2 >= a * c
            wide = np.sqrt(np.maximum(b**2 - a * c, 0))
            low, high = (-b - wide) / a - TOLERANCE, (-b + wide) / a + TOLERANCE
        first = np.searchsorted(line, low)
        last = np.searchsorted(line, high, side="right") - 1
        person = np.flatnonzero(some & (first <= last))
        share = np.linspace(0, 1, _SPREAD)
        which = first[person, None] + np.round(
            share * (last - first)[person, None]
        ).astype(int)
        return np.repeat(person, _SPREAD), which.ravel()

    def _try(self, best: "_Best", who: Codes, rows: Float) -> Float:
        p = self.score(rows, best.people[who]) if len(rows) else np.empty(0)
        best.keep(who, rows, p)
        return p


class _Best:
    def __init__(self, x: Float, people: Codes, before: Float) -> None:
        self.x, self.people, self.before = x, people, before
        self.X, self.after = x.copy(), before.copy()
        self.rank = np.full(len(x), -1.0)

    @property
    def found(self) -> NDArray[np.bool_]:
        return self.rank >= 0

    def keep(self, who: Codes, rows: Float, p: Float) -> None:
        changed = (p > 0.5) != (self.before[who] > 0.5)
        rank = np.abs(p - self.before[who]) + changed
        top = self.rank.copy()
        np.maximum.at(top, who, rank)
        other = (rows != self.x[who]).any(1)
        hit = np.flatnonzero((rank == top[who]) & (rank > self.rank[who]) & other)
        self.X[who[hit]], self.after[who[hit]] = rows[hit], p[hit]
        self.rank[who[hit]] = rank[hit]


def nearest_rows(
    X: Float, pool: Float, root: Float, *, most: int
) -> Iterator[tuple[Codes, Codes, Float]]:
    """Yield, for parts of the rows, the nearest real rows and their distances.

    ``root`` is ``FairMetric.sigma``. Yields places in ``X``, places in ``pool``
    (n, most) and squared distances (n, most).
    """
    most = min(most, len(pool))
    others = pool @ root
    for start in range(0, len(X), _PART):
        squared = _squared(X[start : start + _PART] @ root, others)
        near = np.argpartition(squared, most - 1, axis=1)[:, :most]
        part = np.arange(start, start + len(near))
        yield part, near, np.take_along_axis(squared, near, 1)


def _squared(rows: Float, others: Float) -> Float:
    cross = rows @ others.T
    squared = (rows**2).sum(1)[:, None] - 2 * cross + (others**2).sum(1)
    return np.asarray(np.maximum(squared, 0), np.float64)
