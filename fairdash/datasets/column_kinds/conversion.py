"""A column read as another kind, and the parts of dates."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of, value_label
from fairdash.datasets import ranges
from fairdash.datasets.column_kinds.cell_texts import (
    answers_of,
    best_dates,
    numbers_of,
)
from fairdash.datasets.column_kinds.cells import example_rows, single_values
from fairdash.datasets.column_kinds.kinds import COLUMN_KINDS, is_number
from fairdash.datasets.column_kinds.labels import by_code, label_codes


def as_kind(column: "pd.Series[Any]", kind: str) -> "pd.Series[Any]":
    """Return a column as values of a kind; missing values stay missing.

    Numbers may be written with separated thousands (``1,234.5``, ``1 234``) and percent
    signs (``12.5%`` is 12.5). Dates are ISO 8601, ``year/month/day``,
    ``day.month.year`` or, where all rows fit, ``month/day/year``, else
    ``day/month/year``; yes is any of yes, y, true, t, 1, ja, oui, si, in any case.
    Ranges such as ``25-34`` keep their words, and are ordered by size.

    Raises ValueError, naming the first rows, if a value does not fit.
    """
    check_one_of("kind", kind, COLUMN_KINDS)
    if kind == "range":
        return _as_ranges(column)
    if kind == "number":
        return _as_numbers(column)
    if kind == "yes_no":
        return _as_answers(column)
    if kind == "date":
        return _as_dates(column)
    return _per_value(column, _labels_of).astype("str")


def _labels_of(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return values as labels."""
    return values.map(value_label)


def _as_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column as numbers; see `as_kind`."""
    if is_number(column):
        return column
    numbers = _per_value(column, lambda values: numbers_of(_labels_of(values)))
    return _fitted(column, numbers, "a number")


def _as_answers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column as True and False; see `as_kind`."""
    if pd.api.types.is_bool_dtype(column):
        return column
    answers = _per_value(column, answers_of)
    answers = _fitted(column, answers, "yes or no")
    # Only pandas' own "boolean" has a place for missing values.
    return answers.astype("boolean" if answers.isna().any() else "bool")


def _as_dates(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column as dates; see `as_kind`."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    dates = _per_value(column, best_dates)
    return _fitted(column, dates, "a date")


def _as_ranges(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column as an ordered category of ranges; ValueError without any."""
    codes, labels = label_codes(column)
    # One range is enough: the rows of a month may have a single one.
    if labels and not any(map(ranges.read_range, labels)):
        examples = ", ".join(map(repr, labels[:3]))
        raise ValueError(
            f"{column.name!r} holds no ranges, such as 25-34 or 65+, but {examples}; "
            "read the column as category."
        )
    by_size = ranges.ordered(labels)
    code_of_label = {label: code for code, label in enumerate(by_size)}
    new_codes = [code_of_label[label] for label in labels]
    values = pd.Categorical.from_codes(
        by_code(new_codes, codes, missing=-1),
        categories=pd.Index(by_size, dtype="str"),
        ordered=True,
    )
    return pd.Series(values, index=column.index, name=column.name)


def are_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which texts `as_kind` reads as numbers."""
    column = pd.Series([*texts], dtype=object)
    return numbers_of(column).notna().to_numpy()


def date_parts(column: "pd.Series[Any]") -> pd.DataFrame:
    """Return year, month (1 to 12) and weekday (1 is Monday) of a column of dates.

    Columns are named after the date: ``hired`` gives ``hired year``, ``hired month``
    and ``hired weekday``. A missing date has missing parts.

    Raises ValueError, naming the first rows, if a value is no date.
    """
    dates = as_kind(column, "date").dt
    return pd.DataFrame(
        {
            f"{column.name} year": dates.year,
            f"{column.name} month": dates.month,
            f"{column.name} weekday": dates.day_of_week + 1,
        }
    )


def _per_value(
    column: "pd.Series[Any]", change: "Callable[[pd.Series[Any]], pd.Series[Any]]"
) -> "pd.Series[Any]":
    """Return a column changed by its distinct values, which are fewer than its rows."""
    with single_values(column):
        codes, values = pd.factorize(column)
    changed = change(pd.Series(np.asarray(values), dtype=object))
    if changed.dtype == object:
        changed = changed.convert_dtypes()
    # Code -1 has no value there: its cells become missing.
    cells: pd.Series[Any] = changed.reindex(codes)
    cells.index = column.index
    cells.name = column.name
    return cells


def _fitted(
    column: "pd.Series[Any]", changed: "pd.Series[Any]", what: str
) -> "pd.Series[Any]":
    """Return a changed column; ValueError where a value became missing."""
    unfit: NDArray[np.bool_] = (changed.isna() & column.notna()).to_numpy()
    if unfit.any():
        examples = ", ".join(str(value) for value in column[unfit].unique()[:3])
        raise ValueError(
            f"{unfit.sum():,} rows of {column.name!r} are not {what}, first rows "
            f"{list(example_rows(unfit))} ({examples}); make these cells empty, or "
            "read the column as category."
        )
    return changed
