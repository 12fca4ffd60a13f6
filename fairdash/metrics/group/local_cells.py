"""Rows sorted by subgroup and group, for any number of measures and models."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_whole
from fairdash.metrics.group.counting import (
    Codes,
    group_codes,
    people,
    subgroup_codes,
)


@dataclass(frozen=True, eq=False)
class LocalCells:
    """Rows by subgroup and group, sorted once for any number of models.

    Attributes
    ----------
    codes, group : int64 arrays of shape (n_rows,)
        Subgroup of every row, -1 for none, and its group.
    rows : int64 array of shape (subgroups, groups)
    reasons : tuple of str
        Why a subgroup is not estimable; empty where it is.
    """

    subgroups: tuple[str, ...]
    groups: tuple[str, ...]
    codes: NDArray[np.int64]
    group: NDArray[np.int64]
    rows: NDArray[np.int64]
    min_size: int

    @property
    def shape(self) -> tuple[int, int]:
        """How many subgroups and groups there are."""
        return len(self.subgroups), len(self.groups)

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """The cell of every row, -1 for none."""
        cell = self.codes * len(self.groups) + self.group
        return np.where(self.codes >= 0, cell, -1)

    @property
    def n_places(self) -> int:
        """How many cells there are with those of rows without a subgroup, the last."""
        return (len(self.subgroups) + 1) * len(self.groups)

    @cached_property
    def place_of_row(self) -> NDArray[np.int64]:
        """The place of every row, with those that are in no subgroup."""
        subgroup = np.where(self.codes >= 0, self.codes, len(self.subgroups))
        return subgroup * len(self.groups) + self.group

    @property
    def cell_of_place(self) -> NDArray[np.int64]:
        """The subgroup and group of every place as a cell, -1 for no subgroup."""
        place = np.arange(self.n_places)
        return np.where(self.subgroup_of_place >= 0, place, -1)

    @property
    def subgroup_of_place(self) -> NDArray[np.int64]:
        """The subgroup of every place, -1 for none."""
        subgroup = np.arange(self.n_places) // len(self.groups)
        return np.where(subgroup < len(self.subgroups), subgroup, -1)

    @property
    def group_of_place(self) -> NDArray[np.int64]:
        """The group of every place."""
        return np.arange(self.n_places) % len(self.groups)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why a subgroup is not estimable by its rows; empty where it is."""
        return tuple(reason_of(rows, self.min_size) for rows in self.rows)

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Whether local gaps of each subgroup are reported."""
        return np.array([reason == "" for reason in self.reasons], dtype=bool)


def local_cells(
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None,
    min_size: int = 50,
    sample_weight: ArrayLike | None = None,
) -> LocalCells:
    """Sort rows by subgroup and group, to measure many models on the same rows.

    Without ``subgroups`` there are none. A row whose subgroup is missing is in none.
    Not estimable are those below ``min_size`` rows, and those with rows of one group
    only. From ``sample_weight`` only counts of people are used.
    """
    check_whole("min_size", min_size, at_least=1)
    groups = group_codes(sensitive_features, sensitive_features)
    subgroup = Codes((), np.full(len(groups.codes), -1))
    if subgroups is not None:
        subgroup = subgroup_codes(subgroups, groups.codes)
    n_subgroups = len(subgroup.names)
    n_groups = len(groups.names)
    cell = subgroup.codes * n_groups + groups.codes
    inside = subgroup.codes >= 0
    counts = people("sample_weight", sample_weight, len(cell))
    if counts is not None:
        counts = counts[inside]
    sums = np.bincount(cell[inside], counts, minlength=n_subgroups * n_groups)
    rows = np.rint(sums).astype(np.int64)
    return LocalCells(
        subgroup.names,
        groups.names,
        subgroup.codes,
        groups.codes,
        rows.reshape(n_subgroups, n_groups),
        min_size,
    )


def reason_of(rows: NDArray[Any], min_size: int, support: str = "") -> str:
    """Return why the rows of a subgroup are too few, "" where they are enough."""
    total = int(rows.sum())
    suffix = f" {support}" if support else ""
    if total < min_size:
        unit = "row" if total == 1 else "rows"
        return f"{total:,} {unit}{suffix}"
    if (rows > 0).sum() == 1:
        return f"one group only{suffix}"
    return ""
