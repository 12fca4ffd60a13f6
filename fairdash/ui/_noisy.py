"""Noisy groups of a table and what is known of the true ones behind them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash.datasets import Dataset
from fairdash.methods.noisy_groups import (
    estimate_noise,
    simulate_noise,
    symmetric_noise,
    tv_bounds,
)

Labels = NDArray[np.object_]
SEED = 0  # of simulated noise, so that every model meets the same groups


@dataclass(frozen=True, eq=False)
class Noise:
    """Noisy groups of all rows, true ones where known, and what relates them.

    Attributes
    ----------
    key : str
        Identity, for caches.
    noisy : ndarray of str
    true : ndarray of str, or None
    shares : DataFrame
        Rows, or shares where only these are assumed, by true group (down) and noisy
        group (across).
    matrix : DataFrame
        P(G | noisy group), noisy groups in rows, sorted.
    bounds : DataFrame or None
        ``paper``, ``general``, ``equal_priors`` and, from a sample, intervals.
    """

    key: str
    noisy: Labels
    true: Labels | None
    shares: pd.DataFrame
    matrix: pd.DataFrame
    bounds: pd.DataFrame | None

    @property
    def largest_bound(self) -> float:
        """The radius within which all groups are known to be; NaN if not known.

        Of a sample it is the upper end of the interval.
        """
        if self.bounds is None:
            return np.nan
        sampled = self.true is None and "general_high" in self.bounds
        return float(self.bounds["general_high" if sampled else "general"].max())


class Question(NamedTuple):
    """What is asked of every model."""

    constraints: str
    slack: float


def simulated(dataset: Dataset, level: float) -> Noise:
    """Return noise made on the table's groups, which are then the true ones."""
    true = _labels(dataset)
    noisy = simulate_noise(true, level, random_state=SEED).astype(object)
    return _both(f"simulated {level:g}", true, noisy)


def from_column(dataset: Dataset, column: str) -> Noise:
    """Return the noise between the table's groups and a column with noisy ones."""
    noisy = _complete(dataset.frame, column)
    return _both(f"column {column}", _labels(dataset), noisy)


def from_levels(dataset: Dataset, levels: dict[str, float]) -> Noise:
    """Return assumed noise: the table's groups are noisy, true ones are not known."""
    noisy = _labels(dataset)
    names, codes = np.unique(noisy.astype(str), return_inverse=True)
    prior = np.bincount(codes) / len(codes)
    matrix = symmetric_noise(prior, [levels[name] for name in names])
    joint = pd.DataFrame((matrix * prior[:, None]).T, index=names, columns=names)
    bounds = tv_bounds(joint).set_index(names)
    frame = pd.DataFrame(matrix, index=names, columns=names)
    return Noise(f"assumed {sorted(levels.items())}", noisy, None, joint, frame, bounds)


def from_sample(
    dataset: Dataset, sample: pd.DataFrame, true: str, noisy: str, digest: str
) -> Noise:
    """Return noise estimated from another table that has both groups."""
    mine = _labels(dataset)
    known = estimate_noise(
        _complete(sample, true), _complete(sample, noisy), expected=sorted(set(mine))
    )
    matrix = known.group_given_noisy.loc[sorted(set(mine))]
    key = f"sample {digest} {true} {noisy}"
    return Noise(key, mine, None, known.counts, matrix, known.bounds)


def _both(key: str, true: Labels, noisy: Labels) -> Noise:
    known = estimate_noise(true.astype(str), noisy.astype(str))
    return Noise(key, noisy, true, known.counts, known.group_given_noisy, known.bounds)


def _labels(dataset: Dataset) -> Labels:
    return np.asarray(dataset.sensitive_features, dtype=object)


def _complete(frame: pd.DataFrame, column: str) -> Labels:
    """Return the labels of a column that has a value in every row."""
    missing = np.flatnonzero(frame[column].isna())
    if len(missing):
        message = f"Column {column!r} has no value in {len(missing)} rows"
        raise ValueError(
            f"{message}, first row {missing[0]}; pick a complete column or fill it."
        )
    return value_labels(frame[column]).to_numpy(dtype=object)
