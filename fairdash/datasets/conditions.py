"""Which rows belong to a question: conditions on columns, as data.

Nothing is evaluated: a condition names a column and what its values must be.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import NAME_LETTERS, Before, Record, cut
from fairdash._validation import value_label
from fairdash._wording import amount, value_spans
from fairdash.datasets import ranges
from fairdash.datasets.column_kinds import (
    by_code,
    count_labels,
    is_number,
    label_codes,
)

_SIGNS = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}
_COMPARE = {
    "above": np.greater,
    "at_least": np.greater_equal,
    "below": np.less,
    "at_most": np.less_equal,
}


def _labels(values: Any) -> Any:
    """Return the labels of several values, or of one that stands alone."""
    if values is None:
        return None
    if isinstance(values, list | tuple | set | frozenset):
        return tuple(map(value_label, values))
    return (value_label(values),)


class Condition(Record):
    """A condition that rows of a table must meet to count.

    A condition is about one column, or puts other conditions together by ``all_of`` or
    ``any_of``. All tests of a column must hold.

    Attributes
    ----------
    column : str
        "" where ``all_of`` or ``any_of`` is given.
    among, not_among : tuple of str
        Labels of values, see `fairdash.datasets.Roles`; one value may stand alone.
        A missing value is in no ``among``, and passes ``not_among``.
    above, at_least, below, at_most : float, optional
        Bounds of a number, or of a range that is written as text, such as "25-34". A
        missing value passes none, nor does a word among ranges.
    missing : bool, optional
        Whether the cell must be empty or must hold something.
    all_of, any_of : tuple of Condition

    Examples
    --------
    >>> str(Condition(column="age", at_least=25, below=65))
    'age ≥ 25 and < 65'
    >>> str(Condition(column="loan_purpose", among=[1]))
    'loan_purpose = 1'
    """

    column: str = ""
    among: Annotated[tuple[str, ...], Before(_labels)] = ()
    not_among: Annotated[tuple[str, ...], Before(_labels)] = ()
    above: float | None = None
    at_least: float | None = None
    below: float | None = None
    at_most: float | None = None
    missing: bool | None = None
    all_of: tuple["Condition", ...] = ()
    any_of: tuple["Condition", ...] = ()

    def _check(self) -> None:
        n_forms = sum(map(bool, (self.column, self.all_of, self.any_of)))
        if n_forms != 1:
            raise ValueError(
                "a condition needs one of `column`, `all_of` and `any_of`."
            )
        if self.column and not self._has_test():
            raise ValueError(
                f"the condition on {self.column!r} says nothing of its values; add "
                "`among`, `not_among`, `at_least`, `at_most`, `above`, `below` or "
                "`missing`."
            )
        if not self.column and self._has_test():
            raise ValueError("tests of values need the `column` that they are about.")
        shared = sorted(set(self.among) & set(self.not_among))
        if shared:
            raise ValueError(f"{shared} are in `among` and in `not_among`.")
        self._check_bounds()

    def _has_test(self) -> bool:
        """Return whether anything is said about the values of a column."""
        lists_values = bool(self.among or self.not_among)
        return lists_values or self.missing is not None or any(self._bounds())

    def _check_bounds(self) -> None:
        lows = [x for x in (self.above, self.at_least) if x is not None]
        highs = [x for x in (self.below, self.at_most) if x is not None]
        if lows and highs and max(lows) > min(highs):
            raise ValueError(
                f"no number is in {self}: its lower end lies above its upper one."
            )

    def _bounds(self) -> Iterator[tuple[str, float]]:
        """Yield the bounds that are set, each by the name of its field."""
        for name in _SIGNS:
            bound = getattr(self, name)
            if bound is not None:
                yield name, bound

    def columns(self) -> tuple[str, ...]:
        """Return the columns that the condition reads, without repeats."""
        if self.column:
            return (self.column,)
        names = (name for part in self._parts() for name in part.columns())
        return tuple(dict.fromkeys(names))

    def _parts(self) -> tuple["Condition", ...]:
        return self.all_of or self.any_of

    def holds(self, frame: pd.DataFrame) -> NDArray[np.bool_]:
        """Return a flag per row of a table.

        Raises ValueError, naming what there is, when a column is missing, a bound is
        set on text, or it lies inside a range.
        """
        if self.any_of:
            return np.any([part.holds(frame) for part in self.any_of], axis=0)
        if self.all_of:
            return np.all([part.holds(frame) for part in self.all_of], axis=0)
        if self.column not in frame:
            names = [cut(str(name), NAME_LETTERS) for name in frame.columns[:20]]
            raise ValueError(
                f"The table has no column {self.column!r}, which the rows are chosen "
                f"by. Choose one of {names}, or remove the condition."
            )
        return self._holds_in(frame[self.column])

    def _holds_in(self, column: "pd.Series[Any]") -> NDArray[np.bool_]:
        """Return a flag per cell of the column: whether all tests hold."""
        flags = np.ones(len(column), dtype=bool)
        if self.among or self.not_among:
            codes, labels = label_codes(column)
            if self.among:
                is_among = [label in self.among for label in labels]
                flags &= by_code(is_among, codes, missing=False)
            is_allowed = [label not in self.not_among for label in labels]
            flags &= by_code(is_allowed, codes, missing=True)
        if self.missing is not None:
            flags &= column.isna().to_numpy() == self.missing
        bounds = list(self._bounds())
        if bounds and not is_number(column):
            return flags & self._ranges_within(column, bounds)
        if bounds:
            numbers = column.to_numpy(dtype=float, na_value=np.nan)
            for name, bound in bounds:
                flags &= _COMPARE[name](numbers, bound)
        return flags

    def _ranges_within(
        self, column: "pd.Series[Any]", bounds: Sequence[tuple[str, float]]
    ) -> NDArray[np.bool_]:
        """Return a flag per cell of text: whether its range lies within all bounds."""
        codes, labels = label_codes(column)
        if labels and not ranges.has_range(labels):
            raise ValueError(
                f"{self} compares {self.column!r} with a number, but the column holds "
                f"text: {count_labels(column, 3)}. Choose among its values, or read "
                "the column as a number."
            )
        flags = np.ones(len(column), dtype=bool)
        for name, bound in bounds:
            passes = ranges.passing(self.column, labels, name, bound)
            is_within = [passes[label] for label in labels]
            flags &= by_code(is_within, codes, missing=False)
        return flags

    @property
    def lists_values(self) -> bool:
        """Whether it only says which values a column may have."""
        if self.not_among or self.missing is not None or any(self._bounds()):
            return False
        return bool(self.among)

    def absent_values(self, frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
        """Return the values of ``among`` that a column of the table does not hold."""
        absent: dict[str, tuple[str, ...]] = {}
        for part in self._parts():
            absent |= part.absent_values(frame)
        if self.among:
            _, labels = label_codes(frame[self.column])
            values = tuple(value for value in self.among if value not in labels)
            if values:
                absent[self.column] = values
        return absent

    def __str__(self) -> str:
        """Return the condition in words: "age ≥ 25 and < 65"."""
        if self.any_of:
            return " or ".join(part.inner() for part in self.any_of)
        if self.all_of:
            return " and ".join(part.inner() for part in self.all_of)
        tests = []
        if self.among:
            tests.append(f"= {value_spans(self.among)}")
        if self.not_among:
            tests.append(f"≠ {value_spans(self.not_among)}")
        tests += [f"{_SIGNS[name]} {amount(bound)}" for name, bound in self._bounds()]
        if self.missing is not None:
            tests.append("is missing" if self.missing else "is not missing")
        return f"{self.column} {' and '.join(tests)}"

    def inner(self) -> str:
        """Return the words in brackets where they are several conditions."""
        return str(self) if self.column else f"({self})"


def read_conditions(content: Any) -> Any:
    """Return conditions of a list, or of values by column: ``{"year": [2023]}``."""
    if isinstance(content, Condition):
        return (content,)
    if not isinstance(content, Mapping):
        return content
    return tuple(
        Condition(column=str(column), among=values)
        for column, values in content.items()
    )


Conditions = Annotated[tuple[Condition, ...], Before(read_conditions)]


def conditions_words(conditions: Sequence[Condition]) -> str:
    """Return what all of some conditions say: "year = 2023 and (a = 1 or b > 2)"."""
    if len(conditions) == 1:
        return str(conditions[0])
    return " and ".join(
        f"({condition})" if condition.any_of else str(condition)
        for condition in conditions
    )
