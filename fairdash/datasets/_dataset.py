"""A table with its roles, ready for any method."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import example_rows
from fairdash.datasets._problems import find_errors
from fairdash.datasets._remedies import prepare
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import group_codes, outcomes, row_reasons
from fairdash.datasets._subgroups import has_bins


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
        Excluded rows, one line per reason and column: ``reason``, ``column``, ``rows``
        and ``example_rows``. A row counts once, under the first reason that applies.
        Row numbers start at 1 with the first row below the header.
    row_number : ndarray of int64
        Position of each row in the table, from 0.
    table_key : str
        sha256 of the file, or "" when the table did not come from a file.
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

    @property
    def n_rows(self) -> int:
        """Number of rows used."""
        return len(self.y)

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
    def binned(self) -> tuple[str, ...]:
        """Columns that are cut in bins when nothing else is said: see `has_bins`."""
        return tuple(str(n) for n in self.frame.columns if has_bins(self.frame[n]))

    @cached_property
    def binary(self) -> tuple[str, ...]:
        """Columns of two values."""
        return tuple(str(n) for n in self.frame.columns if self.frame[n].nunique() == 2)

    @cached_property
    def key(self) -> str:
        """Identity: sha256 over the table (its file, or all its values) and roles.

        Subgroup columns, words for the outcome and reasons have no part in it: they
        change no row and no model.
        """
        digest = hashlib.sha256()
        digest.update((self.table_key or _content_key(self)).encode())
        digest.update(json.dumps(self.roles.identity(), sort_keys=True).encode())
        return digest.hexdigest()


def make_dataset(
    frame: pd.DataFrame, roles: Roles, *, name: str, key: str = ""
) -> Dataset:
    """Apply roles to a table.

    The table is prepared first, see ``roles.preparation`` and ``roles.types``. Rows
    outside ``roles.keep``, rows whose outcome or sensitive feature is missing or in no
    group, repeated rows if a remedy asks for it and, with ``missing="exclude"``, rows
    with a missing feature are excluded and counted in ``excluded``.

    Parameters
    ----------
    frame : DataFrame
    roles : Roles
    name : str
        Title of the data set.
    key : str, default=""
        sha256 of the file the table came from; without it ``Dataset.key`` is computed
        from every value.

    Raises
    ------
    ValueError
        If a column is missing, no row is left, the outcome does not have two sides,
        there are fewer than two groups, or a feature identifies rows or equals the
        outcome. The message names all of these that apply.
    """
    if frame.columns.is_unique:  # else find_errors says so
        frame = prepare(frame, roles)
    problems = list(find_errors(frame, roles))
    if problems:
        raise ValueError(" ".join(f"{p.message} {p.remedy}" for p in problems))
    used, excluded = _exclude(frame, roles)
    table = (frame if used.all() else frame[used]).reset_index(drop=True)
    group, group_names = group_codes(table, roles)
    return Dataset(
        name=name,
        frame=table,
        roles=roles,
        y=outcomes(table[roles.target], roles.positive),
        group=group,
        group_names=group_names,
        excluded=excluded,
        row_number=np.flatnonzero(used),
        table_key=key,
    )


def _exclude(
    frame: pd.DataFrame, roles: Roles
) -> tuple[NDArray[np.bool_], pd.DataFrame]:
    used = np.ones(len(frame), dtype=bool)
    lines: list[tuple[Any, ...]] = []
    for reason, column, flags in row_reasons(frame, roles):
        left_out = flags & used
        if left_out.any():
            lines.append((reason, column, int(left_out.sum()), example_rows(left_out)))
        used &= ~flags
    columns = ["reason", "column", "rows", "example_rows"]
    return used, pd.DataFrame(lines, columns=columns)


def _content_key(dataset: Dataset) -> str:
    """Return a digest of every value of the table (never of a sample of them)."""
    digest = hashlib.sha256(dataset.row_number.tobytes())
    for name, column in dataset.frame.items():
        codes, values = pd.factorize(column)
        digest.update(f"{name}:{column.dtype}:{list(values)!r}".encode())
        digest.update(codes.astype(np.int64).tobytes())
    return digest.hexdigest()
