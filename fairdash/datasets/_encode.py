"""One encoding for every method: numbers scaled, categories one-hot, float32."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of
from fairdash.datasets._columns import is_number, label_codes
from fairdash.datasets._dataset import Dataset
from fairdash.datasets._encoder import CategoryEncoding, Encoder, NumberEncoding
from fairdash.datasets._roles import Roles

PART_ROWS = 262_144


@dataclass(frozen=True)
class Encoded:
    """The rows of a data set as numbers, made when they are asked for.

    Attributes
    ----------
    frame : DataFrame
        The rows of the data set.
    encoder : Encoder
        Fitted on the training rows.
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
    ``roles.max_levels`` share the column "(other)". That column exists exactly when
    training rows fall in it, as a weight that no row has trained would only add noise;
    without it a new level gives zeros. With ``roles.missing="impute"`` a missing
    category has the level "(missing)", a missing number the training median and an
    indicator "(missing)". Then every column, those of levels too, is scaled to mean 0
    and standard deviation 1 or to the range 0 to 1. As in the ROAD paper: adversarial
    training at its small learning rate stalls near a constant model when levels stay at
    0 and 1. Columns constant on the training rows are dropped and listed in
    ``encoder.dropped``.

    Parameters
    ----------
    dataset : Dataset
    rows : ndarray of int64
        Training rows.
    scaling : {"standard", "minmax"}

    Returns
    -------
    Encoded
        ``X`` of shape (n_rows, d) for all rows, ``feature_names``, ``encoder``, and
        ``rows`` for some of very many.
    """
    check_one_of("scaling", scaling, ("standard", "minmax"))
    columns: list[NumberEncoding | CategoryEncoding] = []
    centres, spreads = [], []
    for name in dataset.roles.features:
        column = dataset.frame[name].iloc[rows]
        fitted = (
            _fit_number(column)
            if is_number(column)
            else _fit_category(column, dataset.roles)
        )
        columns.append(fitted)
        values = fitted.values(column)
        standard = scaling == "standard"
        centres.append(values.mean(0) if standard else values.min(0))
        spreads.append(
            np.where(
                np.ptp(values, axis=0) > 0,
                values.std(0) if standard else np.ptp(values, axis=0),
                0.0,
            )
        )
    shift, scale = np.concatenate(centres), np.concatenate(spreads)
    names = [name for column in columns for name in column.names()]
    encoder = Encoder(
        columns=tuple(columns),
        shift=tuple(shift.tolist()),
        scale=tuple(np.where(scale > 0, scale, 1.0).tolist()),
        dropped=tuple(np.array(names)[scale == 0].tolist()),
        missing=dataset.roles.missing,
    )
    return Encoded(dataset.frame, encoder)


def _fit_number(column: "pd.Series[Any]") -> NumberEncoding:
    x = column.to_numpy(dtype=float, na_value=np.nan)
    missing = np.isnan(x)
    return NumberEncoding(
        column=str(column.name),
        fill=float(np.median(x[~missing])) if not missing.all() else 0.0,
        indicator=bool(missing.any()),
    )


def _fit_category(column: "pd.Series[Any]", roles: Roles) -> CategoryEncoding:
    codes, labels = label_codes(column)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    commonest = np.argsort(-counts, kind="stable")[: roles.max_levels]
    own = np.sort(commonest[counts[commonest] >= roles.min_level_rows])
    return CategoryEncoding(
        column=str(column.name),
        levels=tuple(labels[i] for i in own),
        other=bool(counts.sum() > counts[own].sum()),
        missing=bool((codes < 0).any()),
    )
