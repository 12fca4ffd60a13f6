"""Turn user input into clean arrays, or raise an error that says what to change."""

import reprlib
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._columns import as_array, as_vector
from fairdash._lazy import is_installed, narwhals
from fairdash._record import Whole, explained

if TYPE_CHECKING:
    from pydantic import ValidationError

CONSTRAINTS = ("demographic_parity", "equalized_odds")
NESTED = (list, dict, set, np.ndarray)  # what a cell holds that is no single value
CROSS = " × "  # between the values of crossed columns
_MOST_DECIMALS = 20  # different numbers that are not whole, taken as groups
Count = Annotated[int, Whole(1, 10**12, strict=True)]  # of rows or of values


def brief(value: object) -> str:
    """Return a value as Python writes it, shortened where it is long or deep."""
    shortener = reprlib.Repr()
    shortener.maxstring = shortener.maxother = 200
    if isinstance(value, int) and abs(value) >= 10**18:  # Python may refuse to write it
        return "a number of more than 18 digits"
    return shortener.repr(value)


def check_lengths(*columns: Any) -> None:
    """Raise ValueError unless all that is not None has as many rows."""
    lengths = [
        (getattr(column, "shape", ()) or (len(column),))[0]
        for column in columns
        if column is not None
    ]
    if len(set(lengths)) > 1:
        message = "Found input variables with inconsistent numbers of samples"
        raise ValueError(f"{message}: {lengths}")


def is_frame(value: object) -> bool:
    """Return whether a value is a table of any library that narwhals knows."""
    if isinstance(value, pd.DataFrame):
        return True
    kind = type(value)  # an attribute of a lazy table may compute
    return hasattr(kind, "columns") and narwhals.dependencies.is_into_dataframe(value)


def as_frame(name: str, table: Any) -> pd.DataFrame:
    """Return a table of pandas, Polars, Arrow or another library as pandas' own.

    Parameters
    ----------
    name : str
        Of the argument, for the error.
    table : DataFrame, or an eager frame of a library that narwhals knows

    Raises
    ------
    ValueError
        When it is no table, or a lazy one, which holds no rows yet.
    """
    if isinstance(table, pd.DataFrame):
        return table
    if not is_frame(table):
        kind = type(table).__name__
        remedy = "collect it first" if hasattr(table, "collect") else "got " + kind
        raise ValueError(
            f"`{name}` must be a table of pandas, Polars or Arrow; {remedy}."
        )
    frame = narwhals.from_native(table, eager_only=True)
    if is_installed("pyarrow"):
        return frame.to_pandas()
    return pd.DataFrame(frame.to_dict(as_series=False))


def check_one_of(name: str, value: object, options: Collection[str]) -> None:
    """Raise ValueError unless ``value`` is one of ``options``."""
    if value not in list(options):  # a list has no hash
        message = f"`{name}` must be one of {sorted(options)}, got {brief(value)}."
        raise ValueError(message)


def check_non_negative(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number that is at least 0."""
    if not (_is_number(value) and value >= 0):  # type: ignore[operator]
        raise ValueError(f"`{name}` must be a finite number >= 0, got {brief(value)}.")


def check_positive(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number above 0."""
    if not (_is_number(value) and value > 0):  # type: ignore[operator]
        raise ValueError(f"`{name}` must be a finite number > 0, got {brief(value)}.")


def check_share_below_one(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a number in [0, 1)."""
    if not (_is_number(value) and 0 <= value < 1):  # type: ignore[operator]
        raise ValueError(f"`{name}` must be a number in [0, 1), got {brief(value)}.")


def check_whole(
    name: str, value: object, *, at_least: int, at_most: int | None = None
) -> None:
    """Raise ValueError unless ``value`` is a whole number within its range."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    end = value if at_most is None else at_most
    if not (whole and at_least <= value <= end):  # type: ignore[operator]
        ends = f">= {at_least}" if at_most is None else f"from {at_least} to {end:,}"
        raise ValueError(f"`{name}` must be a whole number {ends}, got {brief(value)}.")


def encode_binary_target(
    y: ArrayLike, *, pos_label: object = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the two classes of ``y`` and the index of each sample's class.

    The second class is the positive one: ``pos_label``, by default the larger.
    """
    from sklearn.utils.multiclass import type_of_target

    kind = type_of_target(y, input_name="y", raise_unknown=True)
    if kind != "binary":
        message = "Only binary classification is supported. The type of the target is"
        raise ValueError(f"{message} {kind}.")
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"y has 1 class, {as_written(classes[0])}; two are needed.")
    if pos_label is None or classes[1] == pos_label:
        return classes, codes
    if classes[0] != pos_label:
        message = f"`pos_label` must be one of {', '.join(map(as_written, classes))}"
        raise ValueError(f"{message}, the labels of `y`; got {brief(pos_label)}.")
    return classes[::-1], 1 - codes


def encode_groups(
    sensitive_features: ArrayLike, like: Any, *, at_least: int = 2
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct groups and the index of each sample's group.

    ``like`` is any array with one entry per sample, to compare lengths with. Fewer
    groups than ``at_least`` are an error: two to learn from, one to predict for.
    Several columns, of an array or a frame, are crossed: "Female × Black".
    """
    values = one_column("sensitive_features", sensitive_features)
    if isinstance(values, pd.Categorical):
        # the names of millions of rows are not looked at one by one
        values = values.reorder_categories(values.categories.sort_values())
    check_lengths(like, values)
    missing = pd.isna(values)
    if missing.any():
        rows = np.flatnonzero(missing)
        message = (
            f"`sensitive_features` has missing values in {len(rows)} rows, first "
            f"row {rows[0]}. Leave these rows out or make them a group of their own."
        )
        raise ValueError(message)
    try:
        codes, values_of = pd.factorize(values, sort=True)
    except TypeError:
        nested = next((v for v in values if isinstance(v, NESTED)), None)
        if nested is None:
            raise
        raise ValueError(
            f"`sensitive_features` needs one value a row, got {brief(nested)}: cells "
            "that hold lists or records are no groups. Give a column of single values."
        ) from None
    groups = np.asarray(values_of)
    _check_no_measurement(groups)
    if len(groups) < at_least:
        got = ", ".join(map(as_written, groups))
        raise ValueError(
            f"`sensitive_features` needs at least two groups, got {got or 'none'}."
        )
    return groups, codes


def one_column(name: str, values: Any) -> Any:
    """Return the group of every row; several columns are crossed, see `crossed`."""
    if is_frame(values):
        return as_vector(name, crossed(values, name))
    if not isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        values = as_array(name, values)
        if values.ndim == 2:
            values = crossed(values, name)
    return as_vector(name, values)


def _check_no_measurement(groups: NDArray[Any]) -> None:
    """Raise ValueError if groups are many numbers with decimals, such as incomes."""
    if groups.dtype.kind == "f" and len(groups) > _MOST_DECIMALS:
        whole = groups == np.floor(groups)
        if not whole.all():
            raise ValueError(
                f"`sensitive_features` holds {len(groups):,} different numbers with "
                "decimals, which are no groups. Put them into ranges, such as by "
                "`pandas.cut`."
            )


def check_distinct(column: str, names: Sequence[str]) -> None:
    """Raise ValueError if two groups would have the same name."""
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(
            f"`{column}` has different values with the same name {twice[0]!r}, such as "
            "the number 1 and the text '1' or crossed names that hold a '×'. Rename "
            "one of them."
        )


def check_unique(frame: Any, name: str = "The table") -> None:
    """Raise ValueError if two columns of a frame have one name."""
    twice = list(map(str, frame.columns[frame.columns.duplicated()].unique()))
    if twice:
        raise ValueError(
            f"{name} has more than one column named {twice[0]!r}; rename all but one."
        )


def crossed(columns: Any, name: str = "sensitive_features") -> Any:
    """Return the rows of a table as groups such as "Female × Black"; one column as is.

    Raises ValueError if two combinations would have the same name: "a × b" with "c" and
    "a" with "b × c".
    """
    frame = as_frame(name, columns) if is_frame(columns) else pd.DataFrame(columns)
    if not frame.shape[1]:
        raise ValueError(f"`{name}` needs at least one column.")
    parts = [frame.iloc[:, i] for i in range(frame.shape[1])]
    if len(parts) == 1:
        return parts[0]
    labels = [value_labels(part).astype(object) for part in parts]
    joined = labels[0]
    for label in labels[1:]:
        joined = joined + CROSS + label
    levels = pd.concat([*labels, joined], axis=1).dropna().drop_duplicates()
    last = levels.iloc[:, -1]
    if last.duplicated().any():
        twice = last[last.duplicated()].iloc[0]
        raise ValueError(
            f"`{name}` has different values with the same name {twice!r}: crossed "
            "names that hold a '×'; rename one of them."
        )
    return joined.to_numpy(dtype=object)


def explain_invalid(error: "ValidationError") -> str:
    """Return pydantic's first findings as one sentence each, without its links."""
    return explained(
        (finding["loc"], finding["msg"].removeprefix("Value error, "))
        for finding in error.errors(include_url=False, include_context=False)
        if finding["type"] != "too_short" or not finding["input"]  # items were refused
    )


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
    if column.dtype == object:  # 1 and True are one value there, and have two labels
        return column.map(value_label, na_action="ignore")
    codes, distinct = pd.factorize(column)
    if not len(distinct):
        return column.map(value_label, na_action="ignore")
    labels = pd.Series(distinct).map(value_label)
    return pd.Series(
        labels.array.take(codes, allow_fill=True), column.index, name=column.name
    )


def _is_number(value: object) -> bool:
    kinds = int | float | np.integer | np.floating
    if isinstance(value, bool) or not isinstance(value, kinds):
        return False
    largest = sys.float_info.max  # which a number of any length compares with
    return bool(-largest <= value <= largest)
