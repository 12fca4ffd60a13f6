"""Noisy groups of rows, and what is known of the true ones behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash._wording import group_label
from fairdash.datasets import Dataset
from fairdash.methods.noisy_groups import (
    NoiseEstimate,
    estimate_noise,
    largest_noise,
    reach,
    share_limits,
    shares_on_rows,
    symmetric_limits,
    symmetric_noise,
    tv_bounds,
    write_counts,
)

Labels = NDArray[Any]
Places = NDArray[np.int64]
Radius = float | Mapping[str, float]
CONFIDENCE = 0.95
_OF_LIMITS = (1 + CONFIDENCE) / 2  # of two limits, so that both hold with 95 %
FEW = 20  # most values of a column of groups


class NoisyRows(NamedTuple):
    """The rows of a data set, or of a file of scores.

    ``key`` is their identity, for caches and widgets; ``feature`` names the column of
    the groups.
    """

    key: str
    name: str
    groups: Labels
    has_outcome: bool
    feature: str = ""

    @classmethod
    def of(cls, dataset: Dataset) -> "NoisyRows":
        """Return the rows of a data set by its sensitive column."""
        return cls(
            dataset.key,
            dataset.name,
            np.asarray(dataset.sensitive_features, dtype=str),
            True,
            dataset.roles.sensitive_feature,
        )

    @property
    def group_names(self) -> list[str]:
        """The groups, sorted."""
        return sorted(set(self.groups))

    def label(self, group: str) -> str:
        """Return a group after its column, "sex: Female"."""
        return group_label(self.feature, group)

    @property
    def most_assumed(self) -> float:
        """The largest noise that the shares of the groups allow, in steps of .001."""
        _, n = np.unique(self.groups, return_counts=True)
        most = largest_noise(n / n.sum()).max() - 1e-9
        return float(np.floor(1000 * most) / 1000)


def columns_of_groups(frame: pd.DataFrame) -> list[str]:
    """Return the columns with two to 20 values."""
    return [str(name) for name in frame if 1 < frame[name].nunique() <= FEW]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the true groups of some rows.

    Attributes
    ----------
    matrix, least, most : DataFrame or None
        Share of each true group among the rows of each noisy one (rows, sorted), and
        its limits.
    reach : dict of str to float
        How far each true group can be from its noisy one, at most; empty if nothing is
        known.
    confidence : float or None
        With which limits and reach hold; None where nothing is known.
    """

    matrix: pd.DataFrame | None
    least: pd.DataFrame | None
    most: pd.DataFrame | None
    reach: Mapping[str, float]
    confidence: float | None

    def within(self, radius: Radius | None) -> Radius | None:
        """Return a radius for every group, or its reach where that is less.

        None asks for the reach itself; the answer is None if that is not known.
        """
        if not self.reach:
            return radius
        if radius is None:
            return dict(self.reach)
        given = (
            radius if isinstance(radius, Mapping) else dict.fromkeys(self.reach, radius)
        )
        return {
            name: min(most, given.get(name, most)) for name, most in self.reach.items()
        }


@dataclass(frozen=True, eq=False)
class Noise:
    """Noisy groups of all rows, and what relates them to the true ones.

    Attributes
    ----------
    shares : DataFrame or None
        Rows of a sample, or assumed shares, by true group (down) and noisy group
        (across).
    matrix, low, high : DataFrame or None
        P(G | noisy group), noisy groups in rows, sorted, and its limits.
    bounds : DataFrame or None
        ``paper``, ``general``, ``equal_priors`` and, from a sample, intervals.
    """

    key: str
    noisy: Labels
    shares: pd.DataFrame | None = None
    matrix: pd.DataFrame | None = None
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    bounds: pd.DataFrame | None = None

    @property
    def auxiliary(self) -> str:
        """The shares as methods for noisy groups take them."""
        return "" if self.shares is None else write_counts(self.shares)

    @property
    def too_small_for_lemma_1(self) -> list[str]:
        """Groups of unequal shares, which the paper's Lemma 1 does not bound."""
        if self.bounds is None:
            return []
        unequal = self.bounds[~self.bounds["equal_priors"].astype(bool)]
        below = unequal["paper"] < unequal["general"] - 1e-9
        return [str(name) for name in unequal.index[below]]

    def on(self, where: Places) -> Known:
        """Return what is known of the true groups of some rows.

        The shares of the rows lie about those that they were drawn from: within limits
        that hold together with a confidence of 95 %.
        """
        if self.matrix is None or self.low is None or self.high is None:
            return Known(None, None, None, {}, None)
        names, n = np.unique(self.noisy[where].astype(str), return_counts=True)
        matrix = self.matrix.loc[names]
        limits = shares_on_rows(
            self.low.loc[names], self.high.loc[names], n, _OF_LIMITS
        )
        least, most = (
            pd.DataFrame(end, index=names, columns=matrix.columns) for end in limits
        )
        between = pd.DataFrame(reach(least, most, n), names, matrix.columns)
        far = {str(name): float(between.loc[name, name]) for name in names}
        return Known(matrix, least, most, far, CONFIDENCE)


def from_levels(groups: Labels, levels: float | Mapping[str, float]) -> Noise:
    """Return assumed noise: the groups are noisy, true ones are not known.

    ``levels`` is the share of each true group that appears as another, for all groups
    or by name. Raises ValueError when there is more noise than the groups' shares
    allow.
    """
    names, n = np.unique(groups.astype(str), return_counts=True)
    level = [levels[name] for name in names] if isinstance(levels, Mapping) else levels
    prior = n / n.sum()
    table = symmetric_noise(prior, level)
    matrix, low, high = (
        pd.DataFrame(one, index=names, columns=names)
        for one in (table, *symmetric_limits(n, level, _OF_LIMITS))
    )
    joint = (matrix.mul(prior, axis=0)).T
    bounds = tv_bounds(joint).set_index(names)
    return Noise(f"assumed {level}", groups, joint, matrix, low, high, bounds)


def from_sample(
    rows: NoisyRows, sample: pd.DataFrame, true: str, noisy: str, digest: str
) -> Noise:
    """Return noise estimated from another table that has both groups."""
    known = estimate_noise(
        _complete(sample, true), _complete(sample, noisy), expected=rows.group_names
    )
    return from_estimate(rows.groups, known, f"sample {digest} {true} {noisy}")


def from_estimate(groups: Labels, known: NoiseEstimate, key: str) -> Noise:
    """Return noise estimated from a sample, which has all groups of the rows."""
    names, matrix = sorted(set(groups.astype(str))), known.group_given_noisy
    low, high = (
        pd.DataFrame(end, index=matrix.index, columns=matrix.columns).loc[names]
        for end in share_limits(known.counts, _OF_LIMITS)
    )
    return Noise(key, groups, known.counts, matrix.loc[names], low, high, known.bounds)


def _complete(frame: pd.DataFrame, column: str) -> Labels:
    """Return the labels of a column that has a value in every row."""
    missing = np.flatnonzero(frame[column].isna())
    if len(missing):
        message = f"Column {column!r} has no value in {len(missing)} rows"
        raise ValueError(
            f"{message}, first row {missing[0]}; pick a complete column or fill it."
        )
    return value_labels(frame[column]).to_numpy(dtype=object)
