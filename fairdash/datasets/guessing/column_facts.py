"""The facts about the columns of a table that a guess goes by."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets.choices import n_choices, separator_of
from fairdash.datasets.column_kinds import (
    is_identifier,
    is_nested,
    is_number,
    is_unnamed,
    label_codes,
    some_rows,
)
from fairdash.datasets.guessing import words
from fairdash.datasets.guessing.features import bookkeeping
from fairdash.datasets.guessing.related_names import (
    NUMBERED,
    derived_names,
    is_earlier,
    is_numbered,
    latest_numbers,
)

RANKED_ROWS = 1_000  # from which associations between columns are read ...
COMPARED = 300  # ... with so many of the columns
FEWEST_DUMMIES = 3  # columns of a set that splits the rows ...
LEAST_FILLED = 0.5  # ... and the share of the rows in which one of them is 1
YEAR_DUMMY = re.compile(r"(?i)(y|yr|year|d|t)_?\d{2,4}")


@dataclass(frozen=True)
class Column:
    """The facts about a column that a guess goes by, from a sample of rows.

    Attributes
    ----------
    n_values : int
        Different values; choices of a multiple choice.
    second_share : float
        Share of the rows that have the second commonest value.
    missing_share : float
    index : int
        From 0, among the columns that are no identifiers.
    attribute : str, optional
        Sensitive attribute that it holds, such as "sex".
    sensitive_strength : float
        How strongly its name and values say so.
    association : float
        Mean absolute rank correlation with the others.
    is_dummy : bool
        One of a set that splits the rows: years, regions, types.
    is_derived : bool
        Made from another column: its logarithm, its square.
    is_earlier : bool
        Comes again with a later year.
    is_numbered : bool
        Of one of several persons: ``gender1`` beside ``gender2``.
    is_output : bool
        Of another model, by its name and those beside it.
    """

    name: str
    is_number: bool
    n_values: int
    second_share: float
    missing_share: float
    index: int
    attribute: str | None
    sensitive_strength: float
    association: float = 0.0
    is_dummy: bool = False
    is_derived: bool = False
    is_earlier: bool = False
    is_numbered: bool = False
    is_output: bool = False


def candidate_columns(frame: pd.DataFrame) -> Iterator[Column]:
    """Yield the facts about every column that may have a role."""
    sample = frame.iloc[some_rows(len(frame))]
    columns: list[Column] = []
    for name in frame:
        if not _may_have_role(frame[name], sample[name]):
            continue
        column = _describe(sample[name], index=len(columns))
        if column.n_values > 1:
            columns.append(column)
    associations = _associations(sample, columns)
    dummies = _dummies(sample, columns)
    names = {column.name for column in columns}
    derived = derived_names(names)
    latest = latest_numbers(names)
    truths = words.truths(names)[:1]
    for column, association in zip(columns, associations, strict=True):
        yield replace(
            column,
            association=association,
            is_dummy=column.name in dummies,
            is_derived=column.name in derived,
            is_earlier=is_earlier(column.name, latest),
            is_numbered=is_numbered(column.name, names),
            is_output=words.is_score(column.name, truths),
        )


def _describe(values: "pd.Series[Any]", index: int) -> Column:
    """Return the facts about one column, from a sample of its values."""
    counts = values.value_counts()
    n_values = len(counts)
    second_share = counts.iloc[1] / counts.sum() if n_values > 1 else 0.0
    attribute, sensitive_strength = words.sensitive_strength(values)
    if attribute is not None and n_values > 2:
        # A multiple choice, such as "White;Asian", has fewer choices than values.
        separator = separator_of(values)
        if separator is not None:
            n_values = n_choices(values, separator)
    return Column(
        name=str(values.name),
        is_number=is_number(values),
        n_values=n_values,
        second_share=float(second_share),
        missing_share=float(values.isna().mean()),
        index=index,
        attribute=attribute,
        sensitive_strength=sensitive_strength,
    )


def _may_have_role(column: "pd.Series[Any]", sample: "pd.Series[Any]") -> bool:
    """Return whether a column holds single values that are about a case.

    Dates, identifiers and what numbers the rows have no role.
    """
    name = str(column.name)
    if is_nested(sample) or pd.api.types.is_datetime64_any_dtype(sample):
        return False
    if is_identifier(column):
        return False
    if is_number(sample) and is_unnamed(name):
        return False
    # "event" alone is the outcome of a survival study.
    return name.lower() == "event" or not bookkeeping(column)


def _associations(sample: pd.DataFrame, columns: list[Column]) -> list[float]:
    """Return the mean absolute rank correlation of each column with the others."""
    step = max(1, len(sample) // RANKED_ROWS)
    rows = sample.iloc[::step]
    unit_ranks = np.zeros((len(columns), len(rows)))
    for index, column in enumerate(columns):
        values = rows[column.name]
        if not column.is_number:
            codes, _ = label_codes(values)
            values = pd.Series(codes, dtype=np.float64).where(codes >= 0)
        ranks = values.rank().to_numpy(dtype=np.float64, na_value=np.nan)
        mean = np.nansum(ranks) / max(1, values.count())
        # A missing value counts as the mean, so that it adds nothing to a product.
        centred = np.nan_to_num(ranks - mean)
        length = np.linalg.norm(centred)
        if length > 0:
            unit_ranks[index] = centred / length
    correlations = np.abs(unit_ranks @ unit_ranks[:COMPARED].T)
    np.fill_diagonal(correlations, 0.0)
    n_others = max(1, correlations.shape[1] - 1)
    return (correlations.sum(axis=1) / n_others).tolist()


def _dummies(sample: pd.DataFrame, columns: list[Column]) -> set[str]:
    """Return the columns that split the rows among them: years, regions, types.

    A set has three columns or more side by side that together are 1 in half of the
    rows, or two with one stem and a number. A dummy named after a year needs no set.
    """
    dummies: set[str] = set()
    for names, filled_share in _exclusive_runs(sample, columns):
        if len(names) >= FEWEST_DUMMIES and filled_share >= LEAST_FILLED:
            dummies.update(names)
        dummies.update(_of_one_stem(names))
    for column in columns:
        if column.n_values == 2 and YEAR_DUMMY.fullmatch(column.name):
            dummies.add(column.name)
    return dummies


def _exclusive_runs(
    sample: pd.DataFrame, columns: list[Column]
) -> Iterator[tuple[list[str], float]]:
    """Yield 0/1 columns side by side of which one at most is 1 in a row.

    Each with the share of the rows in which one is.
    """
    names: list[str] = []
    total: NDArray[np.float64] = np.zeros(len(sample))
    for column in columns:
        values = _zero_one(sample, column)
        if values is not None and (total + values).max() <= 1:
            names.append(column.name)
            total = total + values
            continue
        yield names, float(total.mean())
        # A column that overlaps the run before it may begin the next one.
        names = [] if values is None else [column.name]
        total = np.zeros(len(sample)) if values is None else values
    yield names, float(total.mean())


def _of_one_stem(names: list[str]) -> set[str]:
    """Return the names whose stem another one has: ``type_1``, ``type_2``."""
    by_stem: dict[str, list[str]] = {}
    for name in names:
        match = NUMBERED.fullmatch(name)
        if match is not None:
            by_stem.setdefault(match["stem"], []).append(name)
    return {name for peers in by_stem.values() if len(peers) > 1 for name in peers}


def _zero_one(sample: pd.DataFrame, column: Column) -> NDArray[np.float64] | None:
    """Return the values of a column of 0 and 1, missing as 0; None of another one."""
    if column.n_values != 2:
        return None
    cells = sample[column.name]
    if not column.is_number and cells.dtype != bool:
        return None
    values = cells.to_numpy(dtype=float, na_value=0.0)
    is_zero_one = np.isin(values, (0.0, 1.0)).all()
    return values if is_zero_one else None
