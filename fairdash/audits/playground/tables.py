"""People of a data set in the plane of two of its columns."""

import numpy as np
from numpy.typing import NDArray

from fairdash.audits.playground.people import EDGE, People
from fairdash.datasets import Dataset, NumberEncoding, encode

MOST_ROWS = 600


def plane_columns(dataset: Dataset) -> list[str]:
    """Return the features that can be an axis of the plane: numbers that vary."""
    encoded = encode(dataset, np.arange(dataset.n_rows))
    numbers = {
        column.column
        for column in encoded.encoder.columns
        if isinstance(column, NumberEncoding)
    }
    return [name for name in encoded.feature_names if name in numbers]


def people_of(dataset: Dataset, across: str, up: str) -> People:
    """Return rows of a data set, placed by two columns.

    Columns are standardised and placed within ``EDGE``. Models learn from all features;
    the plane shows them with the other features at their medians.

    Parameters
    ----------
    across, up : str
        Of `plane_columns`.

    Returns
    -------
    People
        At most `MOST_ROWS`, drawn at random, the same each time, of the two groups with
        the most rows.

    Raises
    ------
    ValueError
        When there are fewer than two groups, or a column is none of `plane_columns`.
    """
    if len(dataset.group_names) < 2:
        raise ValueError("The plane needs two groups; the data set has one.")
    sizes = np.bincount(dataset.group, minlength=len(dataset.group_names))
    largest = np.sort(np.argsort(-sizes, kind="stable")[:2])
    rows = _drawn(np.flatnonzero(np.isin(dataset.group, largest)))
    encoded = encode(dataset, rows)
    values = encoded.rows(rows).astype(np.float64)
    places = []
    for name in (across, up):
        if name not in encoded.feature_names:
            raise ValueError(f"{name!r} is no number that varies in these rows.")
        places.append(encoded.feature_names.index(name))
    group = (dataset.group[rows] == largest[1]).astype(np.int64)
    return People(
        np.clip(values[:, places], -EDGE, EDGE),
        group,
        dataset.y[rows].astype(np.int64),
        group,
        others=np.delete(values, places, axis=1),
        names=(dataset.group_names[largest[0]], dataset.group_names[largest[1]]),
        axes=(across, up),
    )


def _drawn(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    if len(rows) <= MOST_ROWS:
        return rows
    generator = np.random.default_rng(0)
    return np.sort(generator.choice(rows, MOST_ROWS, replace=False))
