"""One encoding for every method: numbers scaled, categories one-hot, float32."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import Record
from fairdash._validation import check_one_of
from fairdash.datasets._dataset import Dataset
from fairdash.datasets._roles import Roles
from fairdash.datasets.column_kinds import (
    by_code,
    example_rows,
    is_number,
    label_codes,
)

PART_ROWS = 262_144
OTHER = "(other)"
MISSING = "(missing)"
LARGEST = float(np.finfo(np.float32).max)


class NumberEncoding(Record):
    """A number as it is; ``fill`` stands in for missing ones."""

    column: str
    fill: float
    indicator: bool

    def names(self) -> list[str]:
        """Return the names of the encoded columns."""
        if self.indicator:
            return [self.column, f"{self.column}={MISSING}"]
        return [self.column]

    def values(self, column: "pd.Series[Any]") -> NDArray[np.float64]:
        """Return the columns before scaling."""
        x = column.to_numpy(dtype=float, na_value=np.nan)
        missing = np.isnan(x)
        filled = np.where(missing, self.fill, x)
        parts = [filled, missing] if self.indicator else [filled]
        return np.stack(parts, axis=1)


class CategoryEncoding(Record):
    """A category as one column per level; ``other`` collects the rare and unseen."""

    column: str
    levels: tuple[str, ...]
    other: bool
    missing: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The level of each encoded column."""
        extra = [OTHER] * self.other + [MISSING] * self.missing
        return (*self.levels, *extra)

    def names(self) -> list[str]:
        """Return the names of the encoded columns."""
        return [f"{self.column}={level}" for level in self.labels]

    def values(self, column: "pd.Series[Any]") -> NDArray[np.float64]:
        """Return the columns before scaling; a level without a column gives zeros."""
        codes, labels = label_codes(column)
        position = {level: i for i, level in enumerate(self.levels)}
        width = len(self.levels) + self.other + self.missing
        # Values without a column go to a last one, which is cut off.
        if_other = len(self.levels) if self.other else width
        if_missing = width - 1 if self.missing else width
        positions = [position.get(label, if_other) for label in labels]
        column_of_row = by_code(positions, codes, missing=if_missing)
        one_hot = np.zeros((len(codes), width + 1))
        one_hot[np.arange(len(codes)), column_of_row] = 1
        return one_hot[:, :width]


class Encoder(Record):
    """A fitted encoding of features, in the words of the table and back.

    Attributes
    ----------
    shift, scale : tuple of float
        One for each encoded column v, which becomes (v - shift) / scale.
    dropped : tuple of str
        Encoded columns that are constant on the training rows and therefore not used.
    """

    columns: tuple[NumberEncoding | CategoryEncoding, ...]
    shift: tuple[float, ...]
    scale: tuple[float, ...]
    dropped: tuple[str, ...] = ()
    missing: Literal["impute", "exclude"] = "impute"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the encoded columns, such as "age" or "race=Hispanic"."""
        names = [name for column in self.columns for name in column.names()]
        dropped = set(self.dropped)
        return tuple(name for name in names if name not in dropped)

    @property
    def filled(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The encoded columns of numbers that were filled in, and their indicators.

        An indicator is above 0 where its number was missing.
        """
        names = self.feature_names
        pairs = [
            [names.index(name) for name in column.names()]
            for column in self.columns
            if isinstance(column, NumberEncoding) and column.indicator
            if set(self.dropped).isdisjoint(column.names())
        ]
        filled, flags = np.array(pairs, np.int64).reshape(-1, 2).T
        return filled, flags

    def transform(self, frame: pd.DataFrame) -> NDArray[np.float32]:
        """Encode a table.

        A level that the training rows did not have goes to the column "(other)" where
        there is one, else it gives zeros in all columns of its feature.

        Columns of ``frame`` that are no features are ignored. The result is of shape
        (n_rows, n_encoded), C-contiguous.

        Raises
        ------
        ValueError
            If a feature is no column of the table, holds text where the training rows
            held numbers, or, with ``missing="exclude"``, has missing values.
        """
        self._check_columns(frame)
        dropped = set(self.dropped)
        X = np.empty((len(frame), len(self.feature_names)), dtype=np.float32)
        n_read = 0  # encoded columns, dropped ones included
        n_written = 0
        for encoding in self.columns:
            used = np.array([name not in dropped for name in encoding.names()])
            n_used = used.sum()
            positions = slice(n_read, n_read + len(used))
            scaled = encoding.values(frame[encoding.column])[:, used]
            scaled -= np.array(self.shift[positions])[used]
            # A row may lie any number of training deviations away.
            with np.errstate(over="ignore"):
                scaled /= np.array(self.scale[positions])[used]
            np.clip(scaled, -LARGEST, LARGEST, out=scaled)
            X[:, n_written : n_written + n_used] = scaled
            n_read += len(used)
            n_written += n_used
        return X

    def _check_columns(self, frame: pd.DataFrame) -> None:
        """Raise ValueError where a table does not have what the encoding needs."""
        absent = [c.column for c in self.columns if c.column not in frame]
        if absent:
            raise ValueError(f"The table lacks the columns {absent} the model needs.")
        for encoding in self.columns:
            column = frame[encoding.column]
            needs_numbers = isinstance(encoding, NumberEncoding)
            if needs_numbers and not pd.api.types.is_numeric_dtype(column):
                raise ValueError(
                    f"{encoding.column!r} held numbers when the model was trained but "
                    f"now holds text such as {column.dropna().iloc[:1].tolist()}; "
                    "clean these values."
                )
            if self.missing == "exclude" and column.isna().any():
                flags = column.isna().to_numpy()
                raise ValueError(
                    f"{encoding.column!r} is missing in {flags.sum():,} rows, first "
                    f"rows {list(example_rows(flags))}; exclude these rows."
                )


@dataclass(frozen=True)
class Encoded:
    """The rows of a data set as numbers, made when they are asked for.

    They are encoded with statistics of the training rows.
    """

    frame: pd.DataFrame
    encoder: Encoder

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return self.encoder.feature_names

    @cached_property
    def X(self) -> NDArray[np.float32]:
        """All rows, of shape (n_rows, d)."""
        return self.encoder.transform(self.frame)

    def rows(self, where: NDArray[np.int64] | slice) -> NDArray[np.float32]:
        """Return some rows, ``X[where]``, without encoding the others."""
        features = [encoding.column for encoding in self.encoder.columns]
        return self.encoder.transform(self.frame[features].iloc[where])

    def parts(self) -> Iterator[slice]:
        """Yield slices that together are all rows; each encodes in little memory."""
        for start in range(0, len(self.frame), PART_ROWS):
            yield slice(start, start + PART_ROWS)


def encode(
    dataset: Dataset,
    rows: NDArray[np.int64],
    *,
    scaling: Literal["standard", "minmax"] = "standard",
) -> Encoded:
    """Encode the features with statistics of the training rows only.

    Categories (text and True/False) get a column of 0 and 1 per level; levels of fewer
    than ``roles.min_level_rows`` training rows and those beyond the commonest
    ``roles.max_levels`` share the column "(other)", which exists when training rows
    fall in it. A missing category has the level "(missing)", a missing number the
    training median and an indicator, unless ``roles`` exclude such rows. Then every
    column is scaled to mean 0 and standard deviation 1 or to the range 0 to 1:
    adversarial training at the ROAD paper's small learning rate stalls when levels stay
    at 0 and 1. Columns constant on the training rows are in ``encoder.dropped``.

    ``rows`` are the training rows. Raises ValueError if no column is a feature.
    """
    check_one_of("scaling", scaling, ("standard", "minmax"))
    dataset.check_features()
    encodings: list[NumberEncoding | CategoryEncoding] = []
    centres = []
    spreads = []
    for name in dataset.roles.features:
        column = dataset.frame[name].iloc[rows]
        encoding: NumberEncoding | CategoryEncoding
        if is_number(column):
            encoding = _fit_number(column)
        else:
            encoding = _fit_category(column, dataset.roles)
        encodings.append(encoding)
        values = encoding.values(column)
        extent = np.ptp(values, axis=0)
        if scaling == "standard":
            centre = values.mean(0)
            spread = values.std(0)
        else:
            centre = values.min(0)
            spread = extent
        centres.append(centre)
        # The deviation of equal values may be rounded to more than 0.
        spreads.append(np.where(extent > 0, spread, 0.0))
    shift = np.concatenate(centres)
    scale = np.concatenate(spreads)
    names = [name for encoding in encodings for name in encoding.names()]
    encoder = Encoder(
        columns=tuple(encodings),
        shift=tuple(shift.tolist()),
        scale=tuple(np.where(scale > 0, scale, 1.0).tolist()),
        dropped=tuple(np.array(names)[scale == 0].tolist()),
        missing="exclude" if dataset.roles.missing == "exclude" else "impute",
    )
    return Encoded(dataset.frame, encoder)


def _fit_number(column: "pd.Series[Any]") -> NumberEncoding:
    """Return the encoding of a number; missing ones become the median."""
    x = column.to_numpy(dtype=float, na_value=np.nan)
    missing = np.isnan(x)
    return NumberEncoding(
        column=str(column.name),
        fill=float(np.median(x[~missing])) if not missing.all() else 0.0,
        indicator=bool(missing.any()),
    )


def _fit_category(column: "pd.Series[Any]", roles: Roles) -> CategoryEncoding:
    """Return the encoding of a category: a column for each level of enough rows."""
    codes, labels = label_codes(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    commonest = np.argsort(-counts, kind="stable")[: roles.max_levels]
    large = np.sort(commonest[counts[commonest] >= roles.min_level_rows])
    if counts.sum() > counts[large].sum():
        # A level that is called "(other)" joins those that are merged.
        large = large[[labels[i] != OTHER for i in large]]
    return CategoryEncoding(
        column=str(column.name),
        levels=tuple(labels[i] for i in large),
        other=bool(counts.sum() > counts[large].sum()),
        missing=bool((codes < 0).any()),
    )
