"""A table with its roles, ready for any method."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
from fairdash.datasets._split import split
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import (
    is_nested,
    is_number,
    label_codes,
)
from fairdash.datasets.remedies import prepare
from fairdash.datasets.table_notes import DrawnRows, JoinedTable, notes_of

# Into so many the people of each row of counts are dealt.
N_LOTS = 20


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
        whole_sizes = map(int, sizes)
        return dict(zip(self.group_names, whole_sizes, strict=True))

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
        if self.roles.unit is None:
            return None
        return read_units(self.frame[self.roles.unit])

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
        # Every seed deals as many rows of a cell to each part.
        parts = split(self)
        n_groups = [len(np.unique(self.group[rows])) for rows in parts]
        n_outcomes = len(np.unique(self.y[parts.train]))
        return min(n_groups) > 1 and n_outcomes > 1

    @cached_property
    def missing_numbers(self) -> tuple[str, ...]:
        """The features that are numbers and missing in some row."""
        names = []
        for name in self.roles.features:
            column = self.frame[name]
            if is_number(column) and column.hasnans:
                names.append(name)
        return tuple(names)

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
    is_missing = codes < 0
    codes[is_missing] = len(labels) + np.arange(is_missing.sum())
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
    is_weight = np.isfinite(weight) & (weight >= 0)
    wrong = np.flatnonzero(~is_weight)
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"{column.name!r} cannot be the sampling weight. {len(wrong)} of the rows "
            f"used hold no number of 0 or more, first row {row_number[first] + 1} "
            f"with {as_written(column.iloc[first])}. Choose another column, or "
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
    # Where a name stands twice, find_errors says so.
    if frame.columns.is_unique:
        frame = prepare(frame, roles)
    errors = list(find_errors(frame, roles))
    if errors:
        sentences = (f"{error.message} {error.remedy}" for error in errors)
        raise ValueError(first_few(sentences, " "))
    people = None
    if roles.count is not None:
        people = RowCounts.of(roles.count, frame[roles.count].array)
    used, excluded = exclude_rows(frame, row_reasons(frame, roles), people)
    row_number = np.flatnonzero(used)
    lot = None
    table = frame if used.all() else frame[used]
    table = table.reset_index(drop=True)
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
    # Weights are refused now, not by a page that uses them.
    _ = dataset.sample_weight
    return dataset


def _in_lots(
    table: pd.DataFrame, roles: Roles, row_number: NDArray[np.int64]
) -> tuple[pd.DataFrame, NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of counts dealt into lots, their numbers and their lots."""
    name = str(roles.count)
    row_counts = RowCounts.of(name, table[roles.count].array, row_number)
    rows, lot, counts = row_counts.lots(N_LOTS)
    dealt = table.iloc[rows].reset_index(drop=True)
    numbers = np.asarray(counts).astype(np.int64)
    dealt = with_columns(dealt, {name: numbers})
    return dealt, row_number[rows], lot


def _content_key(dataset: Dataset) -> str:
    """Return the sha256 of every value, and of which rows of the table are used."""
    digest = hashlib.sha256(dataset.row_number.tobytes())
    for name, column in dataset.frame.items():
        codes, values = pd.factorize(column.map(str) if is_nested(column) else column)
        digest.update(f"{name}:{column.dtype}:{list(values)!r}".encode())
        digest.update(codes.astype(np.int64).tobytes())
    return digest.hexdigest()
