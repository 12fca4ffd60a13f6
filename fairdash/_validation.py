"""Turn user input into clean arrays, or raise an error that says what to change."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import ValidationError
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import type_of_target

CONSTRAINTS = ("demographic_parity", "equalized_odds")


def check_one_of(name: str, value: object, options: Collection[str]) -> None:
    """Raise ValueError unless ``value`` is one of ``options``."""
    if value not in options:
        raise ValueError(f"`{name}` must be one of {sorted(options)}, got {value!r}.")


def check_non_negative(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number that is at least 0."""
    if not (_is_number(value) and value >= 0):  # type: ignore[operator]
        raise ValueError(f"`{name}` must be a finite number >= 0, got {value!r}.")


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number above 0."""
    if not (_is_number(value) and value > 0):  # type: ignore[operator]
        raise ValueError(f"`{name}` must be a finite number > 0, got {value!r}.")


def check_whole(name: str, value: object, *, at_least: int) -> None:
    """Raise ValueError unless ``value`` is a whole number of at least ``at_least``."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not (whole and value >= at_least):  # type: ignore[operator]
        message = f"`{name}` must be a whole number >= {at_least}, got {value!r}."
        raise ValueError(message)


def encode_binary_target(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the two classes of ``y`` and the index of each sample's class."""
    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        message = "Only binary classification is supported. The type of the target is"
        raise ValueError(f"{message} {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"y has 1 class, {as_written(classes[0])}; two are needed.")
    return classes, codes


def encode_groups(
    sensitive_features: ArrayLike, like: Any, *, at_least: int = 2
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct groups and the index of each sample's group.

    ``like`` is any array with one entry per sample, to compare lengths with. Fewer
    groups than ``at_least`` are an error: two to learn from, one to predict for.
    """
    if isinstance(getattr(sensitive_features, "dtype", None), pd.CategoricalDtype):
        # the names of millions of rows are not looked at one by one
        known: Any = pd.Series(sensitive_features).array
        values = known.reorder_categories(known.categories.sort_values())
    else:
        values = column_or_1d(sensitive_features)
    check_consistent_length(like, values)
    missing = pd.isna(values)
    if missing.any():
        rows = np.flatnonzero(missing)
        message = (
            f"`sensitive_features` has missing values in {len(rows)} rows, first "
            f"row {rows[0]}; leave these rows out or make them a group of their own."
        )
        raise ValueError(message)
    codes, found = pd.factorize(values, sort=True)
    groups = np.asarray(found)
    if len(groups) < at_least:
        message = f"`sensitive_features` needs at least two groups, got {list(groups)}."
        raise ValueError(message)
    return groups, codes


def explain_invalid(error: ValidationError) -> str:
    """Return pydantic's findings as one sentence each, without its links."""
    findings = []
    for finding in error.errors():
        where = ".".join(map(str, finding["loc"]))
        what = finding["msg"].removeprefix("Value error, ")
        findings.append(f"{where}: {what}" if where else what)
    return "; ".join(dict.fromkeys(findings))


def as_written(value: object) -> str:
    """Return a cell as Python writes it, without NumPy's type: 3, not np.int64(3)."""
    return repr(value.item() if isinstance(value, np.generic) else value)


def value_label(value: object) -> str:
    """Return how a cell is named in roles and on screen: 1, 1.0 and True differ not.

    Whole floats lose their decimals and booleans become ``"0"`` and ``"1"``, so that a
    column reads the same whether or not a missing value turned it into floats.
    """
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def value_labels(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return ``column`` with every value as its label; missing values stay missing."""
    return column.map(value_label, na_action="ignore")


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        return False
    return bool(np.isfinite(value))
