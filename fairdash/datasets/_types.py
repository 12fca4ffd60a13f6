"""What kind of thing a column holds, with the reason, and columns of another kind."""

import re
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of, value_label
from fairdash.datasets._columns import (
    example_rows,
    is_identifier,
    is_nested,
    is_number,
)

ColumnKind = Literal["number", "category", "yes_no", "date", "text", "id"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
YES = frozenset({"1", "yes", "y", "true", "t", "ja", "oui", "si", "sí"})
NO = frozenset({"0", "no", "n", "false", "f", "nein", "non"})
DATE_FORMATS = {
    "%Y-%m-%d": "year-month-day",
    "%Y/%m/%d": "year/month/day",
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%Y": "day/month/year",
    "%d.%m.%Y": "day.month.year",
    "ISO8601": "ISO 8601",
}
SEPARATORS = re.compile(r"(?<=\d)[,' \u00a0\u202f](?=\d{3}(?!\d))")
PROBE = 200  # distinct values looked at before all of them are
FEWEST_LEVELS = 20  # fewer distinct values are categories, whatever they say
FREE_TEXT_SHARE = 0.2
FREE_TEXT_WORDS = 4.0


def infer_kind(column: "pd.Series[Any]") -> tuple[ColumnKind, str]:
    """Return what a column holds, and why that is thought, in a few words.

    Parameters
    ----------
    column : Series
        Of any type; missing values have no say.

    Returns
    -------
    kind : {"number", "category", "yes_no", "date", "text", "id"}
        ``id`` numbers or names the rows, ``text`` is written freely: both are left out
        of the features. Every other column fits its kind, see `as_kind`.
    reason : str
        Such as ``"different in every row"``.
    """
    if is_nested(column):
        return "text", "cells hold lists or records"
    if not column.notna().any():
        return "category", "every cell is missing"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date", "stored as dates"
    if pd.api.types.is_bool_dtype(column):
        return "yes_no", "stored as true and false"
    if is_number(column) and len(column.head(PROBE).dropna().unique()) > 2:
        return _infer_number(column)  # without a look at each of millions of values
    values = pd.Series(column.unique(), name=column.name).dropna()
    if len(values) == 2:
        labels = values.map(value_label).str.strip().str.lower()
        if labels.isin(YES).any() and labels.isin(NO).any():
            return "yes_no", f"holds {labels.min()} and {labels.max()}"
    if is_number(column):
        return _infer_number(column)
    return _infer_text(column, values.map(str).str.strip())


def _infer_number(column: "pd.Series[Any]") -> tuple[ColumnKind, str]:
    if is_identifier(column):
        return "id", "whole numbers, different in every row"
    return "number", f"numbers from {column.min():g} to {column.max():g}"


def _infer_text(
    column: "pd.Series[Any]", values: "pd.Series[Any]"
) -> tuple[ColumnKind, str]:
    """Return the kind of a column of text from its distinct values."""
    probe = values.iloc[:PROBE]
    if _numbers(probe).notna().all() and _numbers(values).notna().all():
        return "number", "numbers written as text"
    fitting = [form for form in DATE_FORMATS if _dates(values, form).notna().all()]
    if fitting:
        unclear = {"%m/%d/%Y", "%d/%m/%Y"} <= set(fitting)
        note = ", though day/month fits as well" if unclear else ""
        return "date", f"dates read as {DATE_FORMATS[fitting[0]]}{note}"
    n_words = float(values.str.count(r"\S+").mean())
    if len(values) <= FEWEST_LEVELS:
        return "category", f"{len(values)} value{'s' * (len(values) > 1)}"
    if n_words >= FREE_TEXT_WORDS:
        return "text", f"{n_words:.0f} words in a cell"
    if is_identifier(column):
        return "id", "different in every row"
    if len(values) > FREE_TEXT_SHARE * column.notna().sum():
        return "text", f"{len(values):,} different values"
    return "category", f"{len(values):,} different values"


def as_kind(column: "pd.Series[Any]", kind: str) -> "pd.Series[Any]":
    """Return a column as values of a kind; missing values stay missing.

    Numbers may be written with separated thousands (``1,234.5``, ``1 234``) and percent
    signs (``12.5%`` is 12.5). Dates are ISO 8601, ``year/month/day``,
    ``day.month.year`` or, where all rows fit, ``month/day/year``, else
    ``day/month/year``; yes is any of yes, y, true, t, 1, ja, oui, si, in any case.

    Parameters
    ----------
    column : Series
    kind : {"number", "category", "yes_no", "date", "text", "id"}

    Returns
    -------
    Series
        Of integers or floats, of text (category, text, id), of True and False, or of
        dates, with the index and the name of ``column``.

    Raises
    ------
    ValueError
        If a value does not fit; the message names the first rows.
    """
    check_one_of("kind", kind, COLUMN_KINDS)
    if kind in ("category", "text", "id"):
        return _per_value(column, lambda values: values.map(value_label)).astype("str")
    if kind == "number":
        if is_number(column):
            return column
        numbers = _per_value(column, lambda v: _numbers(v.map(value_label)))
        return _fitted(column, numbers, "a number", "category")
    if kind == "yes_no":
        if pd.api.types.is_bool_dtype(column):
            return column
        answers = _per_value(column, _answers)
        answers = _fitted(column, answers, "yes or no", "category")
        return answers.astype("boolean" if answers.isna().any() else "bool")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    return _fitted(column, _per_value(column, _best_dates), "a date", "category")


def date_parts(column: "pd.Series[Any]") -> pd.DataFrame:
    """Return year, month (1 to 12) and weekday (1 is Monday) of a column of dates.

    Columns are named after the date: ``hired`` gives ``hired year``, ``hired month``
    and ``hired weekday``. A missing date has missing parts.

    Raises
    ------
    ValueError
        If a value is no date; the message names the first rows.
    """
    dates = as_kind(column, "date").dt
    parts = {"year": dates.year, "month": dates.month, "weekday": dates.day_of_week + 1}
    return pd.DataFrame({f"{column.name} {part}": x for part, x in parts.items()})


def _per_value(
    column: "pd.Series[Any]", change: "Callable[[pd.Series[Any]], pd.Series[Any]]"
) -> "pd.Series[Any]":
    """Return ``change`` of a column, computed once for each distinct value."""
    codes, values = pd.factorize(column)
    changed = change(pd.Series(np.asarray(values), dtype=object))
    changed = changed.convert_dtypes() if changed.dtype == object else changed
    filled: pd.Series[Any] = changed.reindex(codes)  # code -1 has no value: missing
    filled.index, filled.name = column.index, column.name
    return filled


def _fitted(
    column: "pd.Series[Any]", changed: "pd.Series[Any]", what: str, instead: str
) -> "pd.Series[Any]":
    unfit: NDArray[np.bool_] = (changed.isna() & column.notna()).to_numpy()
    if unfit.any():
        values = [str(v) for v in column[unfit].unique()[:3]]
        message = f"{unfit.sum():,} rows of {column.name!r} are not {what}"
        raise ValueError(
            f"{message}, first rows {list(example_rows(unfit))} ({', '.join(values)}); "
            f"make these cells empty, or read the column as {instead}."
        )
    return changed


def _numbers(values: "pd.Series[Any]") -> "pd.Series[Any]":
    plain = values.str.strip().str.removesuffix("%").str.strip()
    plain = plain.str.replace(SEPARATORS, "", regex=True)
    return pd.to_numeric(plain, errors="coerce")


def _answers(values: "pd.Series[Any]") -> "pd.Series[Any]":
    words = values.map(value_label).str.strip().str.lower()
    known = dict.fromkeys(YES, True) | dict.fromkeys(NO, False)
    return words.map(known)


def _best_dates(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return dates in the format that fits most values."""
    texts = values.map(str).str.strip()
    return max((_dates(texts, form) for form in DATE_FORMATS), key=lambda x: x.count())


def _dates(values: "pd.Series[Any]", form: str) -> "pd.Series[Any]":
    head = pd.to_datetime(values.iloc[:PROBE], format=form, errors="coerce", utc=True)
    if not head.notna().any():
        return pd.Series(pd.NaT, index=values.index)
    dates = pd.to_datetime(values, format=form, errors="coerce", utc=True)
    return dates.dt.tz_localize(None)
