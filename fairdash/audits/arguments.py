"""Arguments of `audit`: arrays, or names of columns of a table."""

from typing import Any

import numpy as np
import pandas as pd

from fairdash._columns import as_vector
from fairdash._counts import people_of
from fairdash._validation import (
    CROSS,
    as_frame,
    check_one_of,
    check_unique,
    crossed,
    is_frame,
    one_column,
)
from fairdash.brought import TableModel
from fairdash.datasets import DrawnRows, Subgroups, audit_remarks, notes_of
from fairdash.postprocessing import cross


class Arguments:
    """Arrays, or names of columns of a table."""

    def __init__(self, frame: Any) -> None:
        self.frame = None if frame is None else as_frame("frame", frame)
        if self.frame is not None:
            check_unique(self.frame, "`frame`")

    def values(self, role: str, value: Any) -> Any:
        """Return what is given, the column if it is a name, None for nothing."""
        if value is None:
            return None
        if not isinstance(value, str):
            return as_vector(role, value)
        if self.frame is None:
            raise ValueError(
                f"`{role}` names column {value!r}; give its table, `frame`."
            )
        check_one_of(role, value, [str(name) for name in self.frame])
        return self.frame[value].array

    def groups(self, value: Any) -> Any:
        """Return the groups, crossed if several columns are named."""
        if isinstance(value, str):
            return self.values("sensitive_features", value)
        if not self._names(value):
            return one_column("sensitive_features", value)
        columns = [self.values("sensitive_features", name) for name in value]
        return cross(*columns) if len(columns) > 1 else columns[0]

    @property
    def drawn(self) -> DrawnRows | None:
        """How many rows of how many the table is a sample of, None of a whole one."""
        return None if self.frame is None else notes_of(self.frame).drawn

    def remarks(self, sensitive_features: Any, subgroups: Any) -> tuple[str, ...]:
        """Return what is doubtful about the columns of the groups, and the rows.

        Raises ValueError where a column names rows, not groups.
        """
        columns = [sensitive_features]
        if self._names(sensitive_features):
            columns = list(sensitive_features)
        are_names = all(isinstance(name, str) for name in columns)
        if self.frame is not None and are_names:
            further = subgroups if self._names(subgroups) else ()
            return audit_remarks(self.frame, columns, further)
        groups = pd.Series(np.asarray(self.groups(sensitive_features)), name="groups")
        return audit_remarks(groups.to_frame(), ["groups"])

    def feature(self, value: Any) -> str:
        """Return the names of the columns of the groups; "" for values."""
        names = value if self._names(value) else [value]
        if not all(isinstance(name, str) for name in names):
            return ""
        return CROSS.join(names)

    def _names(self, value: Any) -> bool:
        """Return whether a value is a list of columns of the table, not of cells."""
        if self.frame is None or not isinstance(value, list | tuple) or not value:
            return False
        columns = {name for name in self.frame if isinstance(name, str)}
        # As many as there are rows are one value a row, though each is a column's name.
        return columns.issuperset(value) and len(value) != len(self.frame)

    def columns_of(self, model: TableModel) -> pd.DataFrame:
        """Return the columns that a model reads; all if it does not say which."""
        assert self.frame is not None
        names = list(getattr(model, "feature_names_in_", self.frame))
        absent = [name for name in names if name not in self.frame]
        if absent:
            raise ValueError(
                f"`model` reads a column '{absent[0]}', which `frame` does not have."
            )
        return self.frame[names]

    def subgroups(
        self, value: Any, min_size: int, weight: Any = None
    ) -> tuple[Any, int]:
        """Return the labels of subgroups and the size of the smallest estimable one.

        Bins of numbers follow the people where the ``weight`` counts them.
        """
        if isinstance(value, list | tuple) and self.frame is not None:
            names = [str(name) for name in self.frame]
            if len(value) != len(self.frame) or all(name in names for name in value):
                for name in value:
                    check_one_of("subgroups", name, names)
                value = Subgroups(columns=tuple(value), min_size=min_size)
        if isinstance(value, Subgroups):
            if self.frame is None:
                raise ValueError("`subgroups` name columns; give their table, `frame`.")
            return value.label(self.frame, people_of(weight)), value.min_size
        if is_frame(value):
            value = crossed(value, "subgroups")
        return self.values("subgroups", value), min_size
