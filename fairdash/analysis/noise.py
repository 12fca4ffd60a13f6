"""Noisy groups of rows, and what is known of the true ones behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash.methods.noisy_groups import (
    estimate_noise,
    largest_noise,
    reach,
    shares_on_rows,
    symmetric_limits,
    symmetric_noise,
)

Labels = NDArray[Any]
Places = NDArray[np.int64]
NOISE_CONFIDENCE = 0.95
# Of each of two limits, so that both hold with 95 %.
_OF_LIMITS = (1 + NOISE_CONFIDENCE) / 2


@dataclass(frozen=True, eq=False)
class RateLimits:
    """Bounds on the true groups of some rows, with 95 % confidence.

    Attributes
    ----------
    matrix, least, most : DataFrame or None
        Share of each true group among the rows of each noisy one (rows, sorted), and
        its limits.
    reach : dict of str to float
        How far each true group can be from its noisy one, at most; empty if nothing is
        known.
    """

    matrix: pd.DataFrame | None
    least: pd.DataFrame | None
    most: pd.DataFrame | None
    reach: Mapping[str, float]

    def within(self, radius: float) -> float | dict[str, float]:
        """Return a radius for every group, or its reach where that is less."""
        if not self.reach:
            return radius
        return {name: min(most, radius) for name, most in self.reach.items()}


@dataclass(frozen=True, eq=False)
class Noise:
    """Noisy groups of all rows, and what relates them to the true ones.

    Attributes
    ----------
    key : str
        Its identity, for caches.
    noisy : ndarray of str
    matrix, low, high : DataFrame or None
        P(G | noisy group), noisy groups in rows, sorted, and its limits.
    unit : ndarray of int or None
        Whose each row is, where one person has several.
    memberships : DataFrame or None
        Probabilities of all groups, one column each, in place of recorded groups.
    """

    key: str
    noisy: Labels
    matrix: pd.DataFrame | None = None
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    unit: Places | None = None
    memberships: pd.DataFrame | None = None

    @classmethod
    def from_level(
        cls, groups: Labels, level: float, unit: Places | None = None
    ) -> "Noise":
        """Return assumed noise: the groups are noisy, true ones are not known.

        ``level`` is the share of every true group that appears as another, ``unit``
        whose each row is. Raises ValueError when there is more noise than the shares
        allow.
        """
        names, n = np.unique(groups.astype(str), return_counts=True)
        one_group = np.zeros(len(groups), int)
        independent = n * _independent(one_group, unit) / len(groups)
        low, high = symmetric_limits(independent, level, _OF_LIMITS)

        def by_group(table: NDArray[np.float64]) -> pd.DataFrame:
            return pd.DataFrame(table, index=names, columns=names)

        return cls(
            f"assumed {level}",
            groups,
            matrix=by_group(symmetric_noise(n / n.sum(), level)),
            low=by_group(low),
            high=by_group(high),
            unit=unit,
        )

    @classmethod
    def from_sample(
        cls,
        groups: Labels,
        sample: pd.DataFrame,
        true: str,
        noisy: str,
        key: str = "sample",
        unit: Places | None = None,
    ) -> "Noise":
        """Return noise estimated from another table that has both, a row a person.

        Raises ValueError when a column has no value in a row, or the sample lacks a
        group.
        """
        names = sorted(set(groups.astype(str)))
        estimate = estimate_noise(
            _complete(sample, true),
            _complete(sample, noisy),
            expected=names,
            confidence=_OF_LIMITS,
        )
        return cls(
            f"{key} {true} {noisy}",
            groups,
            matrix=estimate.group_given_noisy.loc[names],
            low=estimate.low.loc[names],
            high=estimate.high.loc[names],
            unit=unit,
        )

    @property
    def table(self) -> pd.DataFrame:
        """P(G | noisy group) as a long table: recorded group, true group, share."""
        assert self.matrix is not None, "shown where something is known"
        recorded, true = np.meshgrid(*self.matrix.axes, indexing="ij")
        share = self.matrix.to_numpy()
        columns = {"Recorded as": recorded, "Is": true, "Share": share}
        return pd.DataFrame({name: cells.ravel() for name, cells in columns.items()})

    def on(self, where: Places) -> RateLimits:
        """Return what is known of the true groups of some rows.

        The shares of the rows lie about those that they were drawn from: within limits
        that hold together with a confidence of 95 %. Rows of one unit are of one group,
        so they vary like as many rows as units of equal size.
        """
        if self.matrix is None or self.low is None or self.high is None:
            return RateLimits(None, None, None, {})
        noisy = self.noisy[where].astype(str)
        names, n = np.unique(noisy, return_counts=True)
        unit = None if self.unit is None else self.unit[where]
        independent = _independent(noisy, unit)
        matrix = self.matrix.loc[names]

        def by_group(table: Any) -> pd.DataFrame:
            return pd.DataFrame(table, index=names, columns=matrix.columns)

        low_shares, high_shares = shares_on_rows(
            self.low.loc[names], self.high.loc[names], independent, _OF_LIMITS
        )
        least = by_group(low_shares)
        most = by_group(high_shares)
        distances = by_group(reach(least, most, n))
        reach_of_group = {str(name): float(distances.loc[name, name]) for name in names}
        return RateLimits(matrix, least, most, reach_of_group)


def most_assumed(groups: Labels) -> float:
    """Return the largest noise that the shares of groups allow, in steps of .001."""
    _, n = np.unique(groups, return_counts=True)
    return float(np.floor(1000 * (largest_noise(n / n.sum()) - 1e-9)) / 1000)


def _independent(groups: Labels, unit: Places | None) -> NDArray[np.int64]:
    """Return as many independent rows as each group's are worth: Kish's number."""
    if unit is None:
        _, counts = np.unique(groups, return_counts=True)
        return counts
    rows = pd.DataFrame({"group": groups, "unit": unit})
    sizes = rows.groupby(["group", "unit"]).size().groupby("group")
    squares = sizes.agg(lambda unit_sizes: (unit_sizes**2).sum())
    worth = sizes.sum() ** 2 / squares
    return worth.to_numpy().astype(np.int64)


def _complete(frame: pd.DataFrame, column: str) -> Labels:
    """Return the labels of a column; ValueError where one is missing."""
    missing = np.flatnonzero(frame[column].isna())
    if len(missing):
        raise ValueError(
            f"Column {column!r} has no value in {len(missing)} rows, first row "
            f"{missing[0]}; pick a complete column or fill it."
        )
    return value_labels(frame[column]).to_numpy(dtype=object)
