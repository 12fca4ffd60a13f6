"""The content of a column: its labels, its kind, and how it reads as another."""

import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any, Literal, get_args
from weakref import ReferenceType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import NAME_LETTERS, cut
from fairdash._validation import check_one_of, value_label
from fairdash.datasets import ranges
from fairdash.datasets.cell_texts import (
    DATE_FORMATS,
    PROBE,
    answers_of,
    best_dates,
    dates_of,
    numbers_of,
)

N_EXAMPLES = 5
PROBED_ROWS = 10_000
SCREEN_ROWS = 20_000  # that a guess and the checks look at
SCREEN_COLUMNS = 200
FEWEST_CODES = 3  # values of a column of codes
MOST_CODES = 20
CODE_WORDS = {
    "action", "category", "class", "code", "decision", "disposition", "ethnicity",
    "gender", "kind", "marital", "occupancy", "outcome", "purpose", "race", "reason",
    "result", "sex", "status", "type",
}  # fmt: skip
UNKNOWN_CODES = {7.0, 8.0, 9.0, 77.0, 88.0, 98.0, 99.0, 998.0, 999.0, 8888.0, 9999.0}
UNNAMED = re.compile(r"unnamed: \d+|")  # how a column without a name is called
FEWEST_NUMBERED = 20  # rows; fewer may differ by chance
NUMBERING_WORDS = {"id", "index", "key", "number", "nr", "no"}
ROW_WORDS = {"index", "row", "rownames", "rowname", "rownumber", "rowid"}
ColumnKind = Literal["number", "category", "yes_no", "date", "text", "id", "range"]
COLUMN_KINDS: tuple[ColumnKind, ...] = get_args(ColumnKind)
FEWEST_LEVELS = 20  # fewer distinct values are categories, whatever they say
READ_LETTERS = 200  # of a name and of a cell that a guess reads
FREE_TEXT_SHARE = 0.2
FREE_TEXT_WORDS = 4.0


def label_codes(column: "pd.Series[Any]") -> tuple[NDArray[np.int64], list[str]]:
    """Return the code of each row's label (-1 where missing) and the labels, sorted.

    Values with one label (1, 1.0, True and "1") share one code. Labels that are all
    numbers are sorted as numbers, those of a column read as ranges by size. Raises
    ValueError if cells hold lists or records.
    """
    with _single_values(column):
        codes, values = pd.factorize(column)
    labels = [value_label(value) for value in values]
    by_size = ranges.ordered if has_order(column) else sorted_labels
    distinct = by_size(set(labels))
    position = {label: code for code, label in enumerate(distinct)}
    # the extra entry answers to code -1, a missing value
    relabel = np.array([*(position[label] for label in labels), -1], dtype=np.int64)
    return relabel[codes], distinct


def count_codes(codes: NDArray[np.int64], n_codes: int) -> NDArray[np.int64]:
    """Return how many rows have each code; -1 is none."""
    return np.bincount(codes + 1, minlength=n_codes + 1)[1:]


def sorted_labels(labels: set[str]) -> list[str]:
    """Return labels in the order a reader expects: numbers by size, else by name."""
    try:
        return sorted(labels, key=lambda label: (float(label), label))
    except ValueError:
        return sorted(labels)


def ends(column: "pd.Series[Any]") -> tuple[float, float]:
    """Return the least and the largest number, or lower ends of ranges."""
    if is_number(column):
        return float(column.min()), float(column.max())
    lows = ranges.edges(label_codes(column)[1]) or [np.nan]
    return lows[0], lows[-1]


def count_labels(column: "pd.Series[Any]", most: int = 8) -> str:
    """Return the labels of a column with their row counts, the commonest first."""
    codes, labels = label_codes(column)
    counts = count_codes(codes, len(labels))
    commonest = np.argsort(-counts, kind="stable")[:most]
    text = ", ".join(
        f"{cut(labels[i], NAME_LETTERS)} ({counts[i]:,} rows)" for i in commonest
    )
    n_rest = len(labels) - len(commonest)
    return f"{text} and {n_rest:,} more" if n_rest else text


def common_labels(column: "pd.Series[Any]") -> list[str]:
    """Return the labels of a column, the commonest first."""
    counts = column.value_counts()
    present = counts.index[counts.to_numpy() > 0]
    return list(dict.fromkeys(value_label(v) for v in present))


def listed_labels(column: "pd.Series[Any]") -> list[str]:
    """Return the labels of a column as a menu offers them.

    Ranges by size, others with the commonest first.
    """
    return label_codes(column)[1] if has_order(column) else common_labels(column)


def has_order(column: "pd.Series[Any]") -> bool:
    """Return whether a column was read as ranges, see `as_kind`."""
    return isinstance(column.dtype, pd.CategoricalDtype) and bool(column.dtype.ordered)


def range_labels(column: "pd.Series[Any]") -> list[str] | None:
    """Return the labels of a column of ranges by size, None of another column."""
    if has_order(column):
        _, labels = label_codes(column)
        return labels
    if not pd.api.types.is_string_dtype(column) or is_nested(column):
        return None
    if count_values(column, ranges.MOST_LABELS) > ranges.MOST_LABELS:
        return None
    labels = common_labels(column)
    return ranges.ordered(labels) if ranges.are_ranges(labels) else None


def count_values(column: "pd.Series[Any]", most: int) -> int:
    """Return how many different values there are, or some number above ``most``.

    The first rows and then others may already show that there are more; else all
    are counted. Raises ValueError if cells hold lists or records.
    """
    with _single_values(column):
        for part in _looks(column):
            n_values = int(part.nunique())
            if n_values > most:
                break
        return n_values


def _looks(column: "pd.Series[Any]") -> "Iterator[pd.Series[Any]]":
    """Yield the first rows and some other rows of a long column, then all of it."""
    if len(column) > SCREEN_ROWS:
        yield column.head(SCREEN_ROWS)
        yield column.iloc[some_rows(len(column))]
    yield column


def all_differ(column: "pd.Series[Any]") -> bool:
    """Tell whether no value comes twice.

    Where one does, the first rows or some others show it for most columns.
    """
    for part in _looks(column):
        if part is column and len(column) > SCREEN_ROWS and _is_arrow_text(column):
            return _texts_differ(column)
        if part.nunique(dropna=False) < len(part):
            return False
    return True


def _is_arrow_text(column: "pd.Series[Any]") -> bool:
    return isinstance(column.array, pd.arrays.ArrowStringArray)


_differing: dict[int, tuple["ReferenceType[Any]", bool]] = {}  # by the id of the cells


def _texts_differ(column: "pd.Series[Any]") -> bool:
    """Tell whether no text comes twice, from all cells.

    Several questions about a table need it, so the answer is kept as long as the cells
    are: pandas takes new ones where one is changed.
    """
    cells = column.array.__arrow_array__()
    reference, answer = _differing.get(id(cells), (None, False))
    if reference is None or reference() is not cells:
        answer = column[_repeated_hashes(column)].is_unique
        forget = partial(_forget, id(cells))
        _differing[id(cells)] = weakref.ref(cells, forget), answer
    return answer


def _forget(key: int, reference: "ReferenceType[Any]") -> None:
    """Drop an answer once its cells are gone; others may have their id by then."""
    if _differing.get(key, (None,))[0] is reference:
        del _differing[key]


def _repeated_hashes(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    """Flag the cells of a column of text whose hash another cell has as well.

    They are read by parts, so that not all of a long text is in memory a second time.
    """
    hashes = np.empty(len(column), dtype=np.int64)
    for start in range(0, len(column), SCREEN_ROWS):
        part = slice(start, start + SCREEN_ROWS)
        cells = column.iloc[part].to_numpy(dtype=object, na_value=np.nan)
        hashes[part] = np.fromiter(map(hash, cells), np.int64, len(cells))
    repeated: NDArray[np.bool_] = pd.Series(hashes).duplicated(keep=False).to_numpy()
    return repeated


@contextmanager
def _single_values(column: "pd.Series[Any]") -> Iterator[None]:
    """Turn the TypeError of lists or records into a ValueError with the way out."""
    try:
        yield
    except TypeError as error:
        if not is_nested(column):
            raise
        raise ValueError(
            f"The cells of {column.name!r} hold lists or records; choose a column of "
            "single values, or split it into several columns."
        ) from error


@lru_cache(maxsize=16)
def some_rows(n_rows: int) -> NDArray[np.int64]:
    """Return positions of 20,000 rows drawn at random, or of all where fewer."""
    rows = np.arange(n_rows)
    if n_rows > SCREEN_ROWS:
        rng = np.random.default_rng(0)
        rows = np.sort(rng.choice(n_rows, SCREEN_ROWS, replace=False, shuffle=False))
    rows.flags.writeable = False  # shared by all who ask
    return rows


def example_rows(flags: NDArray[np.bool_]) -> tuple[int, ...]:
    """Return the numbers of the first flagged rows; the first row of data is row 1."""
    return tuple(int(row) + 1 for row in np.flatnonzero(flags)[:N_EXAMPLES])


def is_nested(column: "pd.Series[Any]") -> bool:
    """Tell whether cells hold lists or records rather than single values."""
    if not pd.api.types.is_object_dtype(column):
        return False
    # pandas looks at millions of cells in the time that Python takes for thousands
    if not pd.api.types.infer_dtype(column, skipna=True).startswith("mixed"):
        return False
    return any(isinstance(v, list | dict | set | np.ndarray) for v in column)


def is_number(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds numbers; True and False are not numbers."""
    numeric = pd.api.types.is_numeric_dtype(column)
    return bool(numeric and not pd.api.types.is_bool_dtype(column))


def is_whole(column: "pd.Series[Any]") -> bool:
    """Tell whether every value of a column of numbers is whole."""
    if pd.api.types.is_integer_dtype(column):
        return True
    values = column.dropna().to_numpy(dtype=float)
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def is_coded(column: "pd.Series[Any]") -> bool:
    """Tell whether numbers are codes of categories rather than a quantity.

    Few whole numbers whose name says so, such as a status or a type, or that leave a
    gap of codes for "unknown": 1, 2, 3, 9.
    """
    if not is_number(column) or count_values(column, MOST_CODES) > MOST_CODES:
        return False
    values = np.sort(column.dropna().unique().astype(np.float64))
    if len(values) < FEWEST_CODES or not is_whole(column) or values[0] < 0:
        return False
    return bool(words(str(column.name)) & CODE_WORDS) or _has_unknown_code(values)


def _has_unknown_code(values: NDArray[np.float64]) -> bool:
    """Return whether the last of rising codes stands off as one for "unknown"."""
    steps = np.diff(values)
    has_gap = steps[-1] > 1 and (steps[:-1] == 1).all()
    return bool(has_gap and values[-1] in UNKNOWN_CODES)


@lru_cache(maxsize=10_000)
def words(name: str) -> frozenset[str]:
    """Return the lower-case words of a column name: "dobYear_2" has dob, year, 2.

    Only the first `READ_LETTERS` of a name are read.
    """
    name = name[:READ_LETTERS]
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)", " ", name)
    return frozenset(re.split(r"[^a-z0-9]+", spaced.lower())) - {""}


def is_age(name: str) -> bool:
    """Tell whether a column name says age."""
    return bool(words(name) & {"age", "ages"})


def is_identifier(column: "pd.Series[Any]") -> bool:
    """Tell whether a column numbers or names its rows: no value twice, and no measure.

    Whole numbers count as identifiers when they only rise or fall down the table, are
    1 to n in any order, or when the column's name says so; text counts whenever no
    value comes twice.
    """
    head = column.head(PROBED_ROWS)  # decides at little cost for most columns
    if is_number(column) and not is_whole(head):
        return False
    if not all_differ(head.dropna()):
        return False
    present = column.dropna() if column.hasnans else column
    if len(present) < FEWEST_NUMBERED or not all_differ(present):
        return False
    if not is_number(column):
        return not pd.api.types.is_datetime64_any_dtype(column)
    if not is_whole(column):
        return False
    if present.is_monotonic_increasing or present.is_monotonic_decreasing:
        return True
    name = str(column.name)
    has_no_gap = present.max() - present.min() + 1 == len(present)
    if has_no_gap and not words(name) & {"year", "yr", "age"}:
        return True
    return bool(words(name) & NUMBERING_WORDS) or is_unnamed(name)


def is_unnamed(name: str) -> bool:
    """Tell whether a file gives a column no name, or only that of its rows."""
    letters = {word for word in words(name) if not word.isdigit()}
    numbers = bool(letters) and letters <= ROW_WORDS
    return numbers or UNNAMED.fullmatch(name.strip().lower()) is not None


def infer_kind(column: "pd.Series[Any]") -> ColumnKind:
    """Return what a column holds: number, category, date, text or id.

    ``id`` numbers or names the rows, ``text`` is written freely. For text the
    beginnings of some cells decide, and all cells whether a value comes twice.
    """
    if is_nested(column):
        return "text"
    if pd.api.types.is_datetime64_any_dtype(column):
        return "date"
    if pd.api.types.is_numeric_dtype(column):
        return "id" if is_identifier(column) else "number"
    return _infer_text(column)


def _infer_text(column: "pd.Series[Any]") -> ColumnKind:
    """Return what a column that is no number by its type holds; see `infer_kind`."""
    sample = column.iloc[some_rows(len(column))].dropna()
    values: pd.Series[Any] = pd.Series(sample.unique())
    if isinstance(values.dtype, pd.StringDtype):  # else a cell may be of any kind
        values = values.str.slice(0, READ_LETTERS)
    values = values.map(str).str.strip()
    if values.empty:
        return "category"
    # The first values settle most columns of text, which take long to read as numbers.
    may_be_numbers = numbers_of(values.iloc[:PROBE]).notna().all()
    if may_be_numbers and numbers_of(values).notna().all():
        return "number"
    may_be_dates = any(character.isdigit() for character in values.iloc[0])
    if may_be_dates and _fits_date_format(values):
        return "date"
    if len(values) <= FEWEST_LEVELS:
        return "category"
    if values.str.count(r"\S+").mean() >= FREE_TEXT_WORDS:
        return "text"
    if is_identifier(column):
        return "id"
    has_many_values = len(values) > FREE_TEXT_SHARE * len(sample)
    return "text" if has_many_values else "category"


def _fits_date_format(values: "pd.Series[Any]") -> bool:
    """Return whether all values are dates in one format."""
    return any(dates_of(values, form).notna().all() for form in DATE_FORMATS)


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
    if kind in ("category", "text", "id"):
        return _per_value(column, lambda values: values.map(value_label)).astype("str")
    if kind == "number":
        if is_number(column):
            return column
        numbers = _per_value(column, lambda v: numbers_of(v.map(value_label)))
        return _fitted(column, numbers, "a number")
    if kind == "yes_no":
        if pd.api.types.is_bool_dtype(column):
            return column
        answers = _per_value(column, answers_of)
        answers = _fitted(column, answers, "yes or no")
        return answers.astype("boolean" if answers.isna().any() else "bool")
    if pd.api.types.is_datetime64_any_dtype(column):
        return column
    return _fitted(column, _per_value(column, best_dates), "a date")


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
    position = {label: i for i, label in enumerate(by_size)}
    # The last entry answers to code -1, a missing value.
    new_codes = np.array([*(position[label] for label in labels), -1], dtype=np.int64)
    values = pd.Categorical.from_codes(
        new_codes[codes], categories=pd.Index(by_size, dtype="str"), ordered=True
    )
    return pd.Series(values, index=column.index, name=column.name)


def are_numbers(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Tell which texts `as_kind` reads as numbers."""
    return numbers_of(pd.Series([*texts], dtype=object)).notna().to_numpy()


def date_parts(column: "pd.Series[Any]") -> pd.DataFrame:
    """Return year, month (1 to 12) and weekday (1 is Monday) of a column of dates.

    Columns are named after the date: ``hired`` gives ``hired year``, ``hired month``
    and ``hired weekday``. A missing date has missing parts.

    Raises ValueError, naming the first rows, if a value is no date.
    """
    dates = as_kind(column, "date").dt
    parts = {"year": dates.year, "month": dates.month, "weekday": dates.day_of_week + 1}
    return pd.DataFrame({f"{column.name} {part}": x for part, x in parts.items()})


def _per_value(
    column: "pd.Series[Any]", change: "Callable[[pd.Series[Any]], pd.Series[Any]]"
) -> "pd.Series[Any]":
    """Return a column changed by its distinct values, which are fewer than its rows."""
    with _single_values(column):
        codes, values = pd.factorize(column)
    changed = change(pd.Series(np.asarray(values), dtype=object))
    if changed.dtype == object:
        changed = changed.convert_dtypes()
    cells: pd.Series[Any] = changed.reindex(codes)  # code -1 has no value: missing
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
