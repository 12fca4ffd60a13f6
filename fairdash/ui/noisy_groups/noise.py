"""Noisy groups of rows and what is known of the true ones behind them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from fairdash._validation import value_labels
from fairdash.methods.noisy_groups import (
    estimate_noise,
    simulate_noise,
    symmetric_noise,
    tv_bounds,
)
from fairdash.ui.noisy_groups.rows import Doubted, Labels

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
    def reach(self) -> dict[str, float]:
        """How far each group can be from its noisy one, at most; empty if not known.

        Of a sample it is the upper end of the interval. A group that nothing is known
        of can be anywhere.
        """
        if self.bounds is None:
            return {}
        sampled = self.true is None and "general_high" in self.bounds
        column = self.bounds["general_high" if sampled else "general"].fillna(1.0)
        return {str(name): float(value) for name, value in column.items()}

    def radii(self, radius: float) -> float | dict[str, float]:
        """Return ``radius`` for every group, or how far it can be if that is less."""
        known = {name: min(radius, most) for name, most in self.reach.items()}
        return known or radius


class Question(NamedTuple):
    """What is asked of every model."""

    constraints: str
    slack: float


def simulated(rows: Doubted, level: float) -> Noise:
    """Return noise made on the table's groups, which are then the true ones."""
    true = rows.groups
    noisy = simulate_noise(true, level, random_state=SEED).astype(object)
    return _both(f"simulated {level:g}", true, noisy)


def from_column(rows: Doubted, column: str) -> Noise:
    """Return the noise between the table's groups and a column with noisy ones."""
    noisy = _complete(rows.frame, column)
    return _both(f"column {column}", rows.groups, noisy)


def from_levels(rows: Doubted, levels: dict[str, float]) -> Noise:
    """Return assumed noise: the table's groups are noisy, true ones are not known."""
    noisy = rows.groups
    names, codes = np.unique(noisy.astype(str), return_inverse=True)
    prior = np.bincount(codes) / len(codes)
    matrix = symmetric_noise(prior, [levels[name] for name in names])
    joint = pd.DataFrame((matrix * prior[:, None]).T, index=names, columns=names)
    bounds = tv_bounds(joint).set_index(names)
    frame = pd.DataFrame(matrix, index=names, columns=names)
    return Noise(f"assumed {sorted(levels.items())}", noisy, None, joint, frame, bounds)


def from_sample(
    rows: Doubted, sample: pd.DataFrame, true: str, noisy: str, digest: str
) -> Noise:
    """Return noise estimated from another table that has both groups."""
    mine = rows.groups
    known = estimate_noise(
        _complete(sample, true), _complete(sample, noisy), expected=sorted(set(mine))
    )
    matrix = known.group_given_noisy.loc[sorted(set(mine))]
    key = f"sample {digest} {true} {noisy}"
    return Noise(key, mine, None, known.counts, matrix, known.bounds)


def _both(key: str, true: Labels, noisy: Labels) -> Noise:
    known = estimate_noise(true.astype(str), noisy.astype(str))
    return Noise(key, noisy, true, known.counts, known.group_given_noisy, known.bounds)


def _complete(frame: pd.DataFrame, column: str) -> Labels:
    """Return the labels of a column that has a value in every row."""
    missing = np.flatnonzero(frame[column].isna())
    if len(missing):
        message = f"Column {column!r} has no value in {len(missing)} rows"
        raise ValueError(
            f"{message}, first row {missing[0]}; pick a complete column or fill it."
        )
    return value_labels(frame[column]).to_numpy(dtype=object)
