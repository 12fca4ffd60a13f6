"""Which rows of a table are used, and why the others are left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import N_EXAMPLES, label_codes
from fairdash.datasets._groups import group_codes, outcomes
from fairdash.datasets._prepare import has_row_rule, repeated_rows
from fairdash.datasets._roles import Roles


@dataclass(frozen=True)
class UsedRows:
    """The rows used, with what their roles say of each.

    Attributes
    ----------
    table : DataFrame
        Prepared.
    numbers : ndarray of int64
        Position of each row in the file, from 0.
    y : ndarray of int8
        Outcome of each row.
    group : ndarray of int64
        Index of each row's group in ``group_names``.
    group_names : tuple of str
    """

    table: pd.DataFrame
    numbers: NDArray[np.int64]
    y: NDArray[np.int8]
    group: NDArray[np.int64]
    group_names: tuple[str, ...]

    @classmethod
    def of(
        cls, frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
    ) -> "UsedRows":
        """Return the flagged rows of a prepared table."""
        table = frame if used.all() else frame[used]
        y = outcomes(table[roles.target], roles.positive)
        return cls(table, np.flatnonzero(used), y, *group_codes(table, roles))

    def examples(self, flags: NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the numbers in the file of the first flagged rows; row 1 is first."""
        first = self.numbers[np.flatnonzero(flags)[:N_EXAMPLES]]
        return tuple(int(row) + 1 for row in first)


def row_reasons(
    frame: pd.DataFrame, roles: Roles
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield why rows are left out: the reason, its column and a flag per row."""
    for column, values in roles.keep.items():
        codes, labels = label_codes(frame[column])
        kept = np.isin(codes, [i for i, label in enumerate(labels) if label in values])
        yield "outside the row filter", column, ~kept
    yield "outcome missing", roles.target, _missing(frame[roles.target])
    if roles.sensitive_missing == "exclude":
        for column in roles.sensitive_columns():
            yield "sensitive feature missing", column, _missing(frame[column])
    codes, _ = group_codes(frame, roles)
    yield "value in no group", roles.sensitive_feature, codes < 0
    if has_row_rule(roles):
        yield "repeats an earlier row", "", repeated_rows(frame)
    if roles.missing == "exclude":
        for column in roles.features:
            yield "feature missing", column, _missing(frame[column])


def used_rows(frame: pd.DataFrame, roles: Roles) -> NDArray[np.bool_]:
    """Return a flag per row: no reason to leave it out."""
    reasons = [flags for _, _, flags in row_reasons(frame, roles)]
    used: NDArray[np.bool_] = ~np.any(reasons, axis=0)
    return used


def _missing(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    return column.isna().to_numpy()
