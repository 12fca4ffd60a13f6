"""The material of a check: a table with its roles, and its rows in use."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import UsedRows, used_rows


@dataclass(frozen=True, eq=False)
class Examined:
    """A table that `make_dataset` takes, but for errors of single features.

    Attributes
    ----------
    frame : DataFrame
        All rows, prepared as the roles say.
    roles : Roles
    features : list of str
        Those without an error.
    flags : ndarray of bool
        The rows in use.
    used : UsedRows
        These rows: table, outcome, group.
    """

    frame: pd.DataFrame
    roles: Roles
    features: list[str]
    flags: NDArray[np.bool_]
    used: UsedRows

    @classmethod
    def of(cls, frame: pd.DataFrame, roles: Roles, broken: Collection[str]) -> Self:
        """Return a prepared table; features that are ``broken`` have errors."""
        features = [name for name in roles.features if name not in broken]
        flags = used_rows(frame, roles)
        return cls(frame, roles, features, flags, UsedRows.of(frame, roles, flags))
