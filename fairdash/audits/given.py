"""What `audit` is given: arrays, or names of columns of a table."""

from typing import Any

import numpy as np
import pandas as pd

from fairdash._validation import check_one_of
from fairdash.brought import TableModel
from fairdash.datasets import Subgroups
from fairdash.postprocessing import cross


class Given:
    """Arrays, or names of columns of a table."""

    def __init__(self, frame: pd.DataFrame | None) -> None:
        self.frame = frame

    def values(self, role: str, given: Any) -> Any:
        """Return what is given, the column if it is a name, None for nothing."""
        if given is None or isinstance(given, pd.Categorical):
            return given
        if not isinstance(given, str):
            return np.asarray(given)
        if self.frame is None:
            raise ValueError(
                f"`{role}` names column {given!r}; give its table, `frame`."
            )
        check_one_of(role, given, [str(name) for name in self.frame])
        return self.frame[given].array

    def groups(self, given: Any) -> Any:
        """Return the groups, crossed if several columns are named."""
        if not self._names(given):
            return self.values("sensitive_features", given)
        columns = [self.values("sensitive_features", name) for name in given]
        return cross(*columns) if len(columns) > 1 else columns[0]

    def feature(self, given: Any) -> str:
        """Return the names of the columns of the groups; "" for values."""
        names = given if self._names(given) else [given]
        return " × ".join(names) if all(isinstance(n, str) for n in names) else ""

    def _names(self, given: Any) -> bool:
        """Tell names of columns from the values of all rows."""
        if self.frame is None or not isinstance(given, list | tuple) or not given:
            return False
        known = {name for name in self.frame if isinstance(name, str)}
        return known.issuperset(given) and len(given) != len(self.frame)

    def columns_of(self, model: TableModel) -> pd.DataFrame:
        """Return the columns that a model reads; all if it does not say which."""
        assert self.frame is not None
        read = list(getattr(model, "feature_names_in_", self.frame))
        absent = [name for name in read if name not in self.frame]
        if absent:
            raise ValueError(
                f"`model` reads a column '{absent[0]}', which `frame` does not have."
            )
        return self.frame[read]

    def subgroups(self, given: Any, min_size: int) -> tuple[Any, int]:
        """Return the labels of subgroups and the size of the smallest estimable one."""
        if isinstance(given, list | tuple) and self.frame is not None:
            names = [str(name) for name in self.frame]
            if len(given) != len(self.frame) or all(one in names for one in given):
                for one in given:
                    check_one_of("subgroups", one, names)
                given = Subgroups(columns=tuple(given), min_size=min_size)
        if isinstance(given, Subgroups):
            if self.frame is None:
                raise ValueError("`subgroups` name columns; give their table, `frame`.")
            return given.label(self.frame), given.min_size
        return self.values("subgroups", given), min_size
