"""A table with its roles, ready for any method, and its split into parts."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._columns import with_columns
from fairdash._counts import RowCounts, people_of
from fairdash._record import first_few
from fairdash._validation import as_frame, as_written
from fairdash.datasets import draws
from fairdash.datasets._problems import find_errors
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import (
    ExcludedRows,
    exclude_rows,
    group_codes,
    outcomes,
    row_reasons,
)
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import (
    is_nested,
    is_number,
    label_codes,
)
from fairdash.datasets.remedies import prepare
from fairdash.datasets.table_notes import DrawnRows, JoinedTable, notes_of

N_LOTS = 20  # into which the people of each row of counts are dealt
FRACTIONS = (0.6, 0.2, 0.2)  # of training, validation and test rows
_TEST = 2  # place of the test rows among the parts


@dataclass(frozen=True)
class Dataset:
    """The rows of a table that can be used, with outcome and group of each.

    Attributes
    ----------
    frame : DataFrame
        All columns of the rows used as ``roles`` prepare them, with a RangeIndex.
    y : ndarray of int8
        1 where the outcome is positive, see ``roles.positive``.
    group : ndarray of int64
        Index of each row's group in ``group_names``.
    excluded : DataFrame
        Excluded rows, one line per reason and column: ``reason``, ``column``, ``rows``,
        ``example_rows`` and the ``values`` of the column that are the reason. A row
        counts once, under the first reason that applies. Row numbers start at 1 with
        the first row below the header.
    row_number : ndarray of int64
        Position of each row in the table, from 0.
    table_key : str
        sha256 of the file, or "" when the table did not come from a file.
    lot : ndarray of int64, optional
        The lot of each row in a table of counts: the people of a row of the file are
        dealt at random into `N_LOTS`, each a row here, so that a split deals people.
    """

    name: str
    frame: pd.DataFrame
    roles: Roles
    y: NDArray[np.int8]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]
    excluded: pd.DataFrame
    row_number: NDArray[np.int64]
    table_key: str = ""
    lot: NDArray[np.int64] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return len(self.y)

    @property
    def n_people(self) -> int:
        """How many people the rows used stand for: of counts their sum."""
        return self.people_in(np.arange(self.n_rows))

    @property
    def n_positive(self) -> int:
        """How many people have the outcome 1."""
        return self.people_in(np.flatnonzero(self.y))

    @property
    def people(self) -> NDArray[np.float64] | None:
        """How many people each row stands for, None where each is one."""
        return people_of(self.sample_weight)

    def people_in(self, rows: NDArray[np.int64]) -> int:
        """Return how many people some rows stand for."""
        people = self.people
        return len(rows) if people is None else int(people[rows].sum())

    def label_subgroups(self, subgroups: Subgroups) -> "pd.Series[Any]":
        """Name the subgroup of each row; bins follow people where rows are counts.

        Raises ValueError if the subgroups cannot be made, see `Subgroups.label`.
        """
        return subgroups.label(self.frame, self.people)

    @property
    def group_sizes(self) -> dict[str, int]:
        """How many people each group has."""
        sizes = np.bincount(self.group, self.people, minlength=len(self.group_names))
        return {n: int(k) for n, k in zip(self.group_names, sizes, strict=True)}

    @property
    def n_read(self) -> int:
        """How many people the whole table stands for, those excluded among them."""
        return self.n_people + int(self.excluded["rows"].sum())

    def left_out(self, lines: Iterable[int] | None = None) -> list[ExcludedRows]:
        """Return lines of ``excluded``, which say themselves in words; all of them."""
        chosen = self.excluded if lines is None else self.excluded.loc[list(lines)]
        return [ExcludedRows(*line) for line in chosen.itertuples(index=False)]

    @property
    def drawn(self) -> DrawnRows | None:
        """How many rows of how many the table is a sample of, None of a whole one."""
        return notes_of(self.frame).drawn

    @property
    def joined(self) -> tuple[JoinedTable, ...]:
        """The tables that were joined to this one, with what did not match."""
        return notes_of(self.frame).joined

    @property
    def sensitive_features(self) -> NDArray[np.object_]:
        """Name of each row's group."""
        names: NDArray[np.object_] = np.array(self.group_names, dtype=object)
        return names[self.group]

    @property
    def groups(self) -> "pd.Categorical[str]":
        """Name of each row's group, in the order of ``group_names``."""
        return pd.Categorical.from_codes(self.group, pd.Index(self.group_names))

    @cached_property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The sampling weight of each row, or its `RowCounts`; None without either."""
        if self.roles.count is not None:
            return RowCounts.of(self.roles.count, self.frame[self.roles.count])
        name = self.roles.sample_weight
        if name is None:
            return None
        return read_weights(self.frame[name], self.row_number)

    @cached_property
    def unit(self) -> NDArray[np.int64] | None:
        """The unit of each row, of `read_units`, None without such a column."""
        name = self.roles.unit
        return None if name is None else read_units(self.frame[name])

    @property
    def dealt(self) -> NDArray[np.int64] | None:
        """The unit of each row, or its lot, which a split keeps in one part."""
        return self.unit if self.lot is None else self.lot

    @cached_property
    def content(self) -> NDArray[np.uint64]:
        """A number for what each row holds in its features, see `draws`."""
        features = self.frame[list(self.roles.features)]
        numbers = [name for name in features if is_number(features[name])]
        return draws.table_content(features, numbers)

    @cached_property
    def outcome_numbers(self) -> NDArray[np.float64] | None:
        """The outcome itself where it is a number that a cut makes 0 and 1."""
        if not isinstance(self.roles.positive, Cut):
            return None
        return self.frame[self.roles.target].to_numpy(np.float64)

    def weight_of(self, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the sampling weights of some rows, None without."""
        return None if self.sample_weight is None else self.sample_weight[rows]

    def sampling_of(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """Return weights and units of some rows, as `fairdash.metrics` takes them."""
        return {
            "sample_weight": self.weight_of(rows),
            "cluster": None if self.unit is None else self.unit[rows],
        }

    def check_features(self) -> None:
        """Raise ValueError if no column is a feature: then nothing can be trained."""
        if not self.roles.features:
            raise ValueError(
                f"No column of {self.name!r} is a feature, so there is nothing to "
                "train a model from. Choose features; rates and audits of scores need "
                "none."
            )

    @cached_property
    def has_enough_rows(self) -> bool:
        """Whether a model can be trained and measured on a split.

        Each part must have two groups, and the training rows both outcomes.
        """
        parts = split(self)  # every seed deals as many rows of a cell to each
        n_groups = [len(np.unique(self.group[rows])) for rows in parts]
        return min(n_groups) > 1 and len(np.unique(self.y[parts.train])) > 1

    @cached_property
    def missing_numbers(self) -> tuple[str, ...]:
        """The features that are numbers and missing in some row."""
        features = ((name, self.frame[name]) for name in self.roles.features)
        return tuple(
            name for name, column in features if is_number(column) and column.hasnans
        )

    @cached_property
    def key(self) -> str:
        """Identity: sha256 over the table (its file, or all its values) and roles.

        Subgroup columns, words for the outcome and reasons have no part in it: they
        change no row and no model. Nor has keeping missing numbers where there are
        none.
        """
        roles = self.roles
        if roles.missing == "keep" and not self.missing_numbers:
            roles = roles.model_copy(update={"missing": "impute"})
        digest = hashlib.sha256()
        digest.update((self.table_key or _content_key(self)).encode())
        digest.update(json.dumps(roles.identity(), sort_keys=True).encode())
        return digest.hexdigest()


def read_units(column: "pd.Series[Any]") -> NDArray[np.int64]:
    """Return units as codes from 0; a row without a value is a unit of its own."""
    codes, labels = label_codes(column)
    alone = codes < 0
    codes[alone] = len(labels) + np.arange(alone.sum())
    return codes


def read_weights(
    column: "pd.Series[Any]", row_number: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return sampling weights, finite and not negative.

    Raises ValueError with the first of ``row_number``, from 0, that is neither, or when
    all are 0.
    """
    numbers = pd.to_numeric(column, errors="coerce")
    weight = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        raise ValueError(
            f"{column.name!r} cannot be the sampling weight. {len(wrong)} of the rows "
            f"used hold no number of 0 or more, first row {row_number[wrong[0]] + 1} "
            f"with {as_written(column.iloc[wrong[0]])}. Choose another column, or "
            "exclude these rows."
        )
    if not weight.any():
        raise ValueError(
            f"{column.name!r} cannot be the sampling weight: it is 0 in all "
            f"{len(weight):,} rows used. Choose another column, or none."
        )
    return weight


def make_dataset(
    frame: pd.DataFrame, roles: Roles, *, name: str, key: str = ""
) -> Dataset:
    """Apply roles to a table.

    The table is prepared first, see ``roles.preparation`` and ``roles.types``. Rows
    that the roles cannot use are counted in ``excluded``. Without ``key``, the sha256
    of the file, ``Dataset.key`` is computed from every value.

    Raises
    ------
    ValueError
        If a column is missing, no row is left, the outcome does not have two sides,
        there are fewer than two groups, or a feature identifies rows.
    """
    frame = as_frame("frame", frame)
    if frame.columns.is_unique:  # else find_errors says so
        frame = prepare(frame, roles)
    problems = list(find_errors(frame, roles))
    if problems:
        raise ValueError(first_few((f"{p.message} {p.remedy}" for p in problems), " "))
    people = None
    if roles.count is not None:
        people = RowCounts.of(roles.count, frame[roles.count].array)
    used, excluded = exclude_rows(frame, row_reasons(frame, roles), people)
    row_number = np.flatnonzero(used)
    lot = None
    table = (frame if used.all() else frame[used]).reset_index(drop=True)
    if people is not None:
        table, row_number, lot = _in_lots(table, roles, row_number)
    group, group_names = group_codes(table, roles)
    dataset = Dataset(
        name=name,
        frame=table,
        roles=roles,
        y=outcomes(table[roles.target], roles.positive),
        group=group,
        group_names=group_names,
        excluded=pd.DataFrame(excluded, columns=ExcludedRows._fields),
        row_number=row_number,
        table_key=key,
        lot=lot,
    )
    _ = dataset.sample_weight  # refused now, not by a page that uses it
    return dataset


def _in_lots(
    table: pd.DataFrame, roles: Roles, row_number: NDArray[np.int64]
) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of counts dealt into lots, their numbers and their lots."""
    column = table[roles.count].array
    rows, lot, counts = RowCounts.of(str(roles.count), column, row_number).lots(N_LOTS)
    dealt = table.iloc[rows].reset_index(drop=True)
    numbers = np.asarray(counts).astype(np.int64)
    dealt = with_columns(dealt, {str(roles.count): numbers})
    return dealt, row_number[rows], lot


def _content_key(dataset: Dataset) -> str:
    digest = hashlib.sha256(dataset.row_number.tobytes())
    for name, column in dataset.frame.items():
        codes, values = pd.factorize(column.map(str) if is_nested(column) else column)
        digest.update(f"{name}:{column.dtype}:{list(values)!r}".encode())
        digest.update(codes.astype(np.int64).tobytes())
    return digest.hexdigest()


class Split(NamedTuple):
    """Sorted row indices; together every row once."""

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def split(
    dataset: Dataset,
    seed: int = 0,
    *,
    fractions: tuple[float, float, float] = FRACTIONS,
) -> Split:
    """Split rows at random, each outcome and group in the same proportions.

    The rows are shuffled within each cell (outcome x group) and dealt like cards, in
    the fixed sequence whose every stretch comes closest to ``fractions``: the shares of
    training, validation and test rows, which add up to 1. So a cell of five rows or
    more gives rows to all three parts, and the totals are exact to one row. With
    ``roles.unit`` whole units are dealt, and rows of one unit are in one part. A
    table of counts is dealt by lots: each is a random sample of the people. With
    ``roles.test_rows`` of "shared" every seed has the test rows of seed 0, and deals
    the others anew.
    """
    whole = abs(sum(fractions) - 1) <= 1e-9  # false of a NaN, too
    if len(fractions) != 3 or min(fractions) <= 0 or not whole:
        message = (
            f"`fractions` must be three numbers > 0 that add up to 1, got {fractions}."
        )
        raise ValueError(message)
    cell, size, unit = _units(dataset)
    part = _deal(cell, size, fractions, seed)
    if seed and dataset.roles.test_rows == "shared":
        test = _deal(cell, size, fractions, 0) == _TEST
        part = np.full(len(cell), _TEST, dtype=np.int8)
        rest = np.array(fractions[:_TEST]) / sum(fractions[:_TEST])
        part[~test] = _deal(cell[~test], size[~test], tuple(rest), seed)
    if unit is not None:
        part = part[unit]
    return Split(*(np.flatnonzero(part == i) for i in range(3)))


def _deal(
    cell: NDArray[np.int64],
    size: NDArray[np.int64],
    fractions: tuple[float, ...],
    seed: int,
) -> NDArray[np.int8]:
    """Return the part of each unit, dealt at random cell by cell."""
    shuffled = np.random.default_rng(seed).permutation(len(cell))
    dealt = shuffled[np.lexsort((size[shuffled], cell[shuffled]))]
    part = np.empty(len(cell), dtype=np.int8)
    part[dealt] = _sequence(len(cell), fractions)
    return part


def _units(
    dataset: Dataset,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None]:
    unit = dataset.dealt
    if unit is None:
        cell = dataset.group * 2 + dataset.y
        return cell, np.ones(len(cell), dtype=np.int64), None
    if dataset.lot is not None:  # each holds everybody alike
        _, unit = np.unique(unit, return_inverse=True)
        sizes = np.bincount(unit)
        return np.zeros(len(sizes), dtype=np.int64), np.ones_like(sizes), unit
    _, first = np.unique(unit, return_index=True)
    positive = np.bincount(unit, weights=dataset.y) > 0
    return dataset.group[first] * 2 + positive, np.bincount(unit), unit


def training_rows(
    dataset: Dataset, seed: int = 0, n_rows: int | None = None
) -> NDArray[np.int64]:
    """Return the rows a model is trained on: those of `split`, or a `subsample`.

    By default, and where there are no more than ``n_rows``, these are all training
    rows.
    """
    train = split(dataset, seed).train
    if n_rows is None or n_rows >= len(train):
        return train
    return subsample(dataset, train, n_rows, seed)


def subsample(
    dataset: Dataset, rows: NDArray[np.int64], n_rows: int, seed: int = 0
) -> NDArray[np.int64]:
    """Draw some of the rows at random, stratified by outcome and group.

    A cell (outcome x group) of m rows gets ``m * n_rows / len(rows)`` of them, rounded,
    and at least one. The result is sorted. Raises ValueError when ``n_rows`` is larger
    than ``rows`` or smaller than the number of cells.
    """
    cell = dataset.group[rows] * 2 + dataset.y[rows]
    n_cells = len(np.unique(cell))
    if not n_cells <= n_rows <= len(rows):
        raise ValueError(
            f"`n_rows` must be {n_cells} (one row of each outcome in each group) to "
            f"{len(rows)}, got {n_rows}."
        )
    return rows[draw_in_cells(cell, n_rows, seed)]


def draw_in_cells(
    cell: NDArray[np.int64], n_rows: int, seed: int = 0
) -> NDArray[np.int64]:
    """Return sorted positions of ``n_rows`` rows, each cell in proportion.

    A cell that would get none gets one, which the largest cells give; there must be as
    many rows as cells.
    """
    sizes = np.bincount(cell)
    ends = np.cumsum(sizes) * n_rows / len(cell)
    counts = np.diff(np.floor(ends + 0.5).astype(np.int64), prepend=0)
    counts = np.maximum(counts, sizes > 0)
    for _ in range(counts.sum() - n_rows):
        counts[counts.argmax()] -= 1
    shuffled = np.random.default_rng(seed).permutation(len(cell))
    dealt = shuffled[np.argsort(cell[shuffled], kind="stable")]
    place = np.arange(len(cell)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(dealt[place < np.repeat(counts, sizes)])


@lru_cache(maxsize=4)
def _sequence(n: int, fractions: tuple[float, ...]) -> NDArray[np.int8]:
    turns = [(np.arange(n) + 0.5) / fraction for fraction in fractions]
    order = np.argsort(np.round(np.concatenate(turns), 6), kind="stable")[:n]
    return (order // n).astype(np.int8)
