"""The values that texts of cells stand for: numbers, yes and no, dates."""

import re
from typing import Any

import pandas as pd

from fairdash._validation import value_label

YES = frozenset({"1", "yes", "y", "true", "t", "ja", "oui", "si", "sí"})
NO = frozenset({"0", "no", "n", "false", "f", "nein", "non"})
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "ISO8601",
)
SEPARATOR = r"[,' \u00a0\u202f]"
# 0,125 and 1.234,567 have a decimal comma
THOUSANDS = re.compile(rf"^[+-]?[1-9]\d{{0,2}}({SEPARATOR}\d{{3}})+(\.\d*)?$")
PROBE = 200  # distinct values looked at before all of them are


def numbers_of(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return texts as numbers, with thousands and percent signs; NaN for others."""
    plain = values.str.strip().str.removesuffix("%").str.strip()
    plain = plain.str.replace(
        THOUSANDS, lambda match: re.sub(SEPARATOR, "", match[0]), regex=True
    )
    return pd.to_numeric(plain, errors="coerce")


def answers_of(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return values as yes or no, missing for others."""
    words = values.map(value_label).str.strip().str.lower()
    by_word = dict.fromkeys(YES, True) | dict.fromkeys(NO, False)
    return words.map(by_word)


def best_dates(values: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return values as dates of the format that most of them fit."""
    texts = values.map(str).str.strip()
    readings = (dates_of(texts, form) for form in DATE_FORMATS)
    return max(readings, key=lambda dates: dates.count())


def dates_of(values: "pd.Series[Any]", form: str) -> "pd.Series[Any]":
    """Return texts as dates of one format, missing for others."""
    head = pd.to_datetime(values.iloc[:PROBE], format=form, errors="coerce", utc=True)
    if not head.notna().any():
        return pd.Series(pd.NaT, index=values.index)
    dates = pd.to_datetime(values, format=form, errors="coerce", utc=True)
    return dates.dt.tz_localize(None)
