"""Noisy groups of rows, and what is known of the true ones behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash._wording import group_label, number
from fairdash.datasets import Dataset
from fairdash.methods.noisy_groups import (
    NoiseEstimate,
    crossed_bounds,
    estimate_from_counts,
    estimate_noise,
    largest_noise,
    reach,
    read_counts,
    share_limits,
    shares_on_rows,
    simulate_noise,
    symmetric_limits,
    symmetric_noise,
    tv_bounds,
    write_counts,
)
from fairdash.sweep import Scalar

Labels = NDArray[Any]
Places = NDArray[np.int64]
Radius = float | Mapping[str, float]
SEED = 0  # of simulated noise, so that every model meets the same groups
CONFIDENCE = 0.95
FEW = 20  # most values of a column of groups


class NoisyRows(NamedTuple):
    """The rows of a data set, or of a file of scores.

    ``key`` is their identity, for caches and widgets; ``taken`` are the columns that
    are groups, outcome or scores; ``feature`` names the column of the groups.
    """

    key: str
    name: str
    frame: pd.DataFrame
    groups: Labels
    taken: frozenset[str]
    has_outcome: bool
    feature: str = ""

    @classmethod
    def of(cls, dataset: Dataset) -> "NoisyRows":
        """Return the rows of a data set by its sensitive column."""
        roles = dataset.roles
        return cls(
            dataset.key,
            dataset.name,
            dataset.frame,
            np.asarray(dataset.sensitive_features, dtype=str),
            frozenset([roles.target, roles.sensitive_feature]),
            True,
            roles.sensitive_feature,
        )

    @property
    def group_names(self) -> list[str]:
        """The groups, sorted."""
        return sorted(set(self.groups))

    def label(self, group: str) -> str:
        """Return a group after its column, "sex: Female"; one of another column bare.

        A sample may have true groups by other names than those of the table.
        """
        return group_label(self.feature if group in self.group_names else "", group)

    @property
    def most_simulated(self) -> float:
        """Share of rows, in steps of .01, up to which a noisy group says something."""
        return round(1 - 1 / len(self.group_names) - 0.05, 2)

    @property
    def most_assumed(self) -> float:
        """The largest noise that the shares of the groups allow, in steps of .001."""
        _, n = np.unique(self.groups, return_counts=True)
        most = largest_noise(n / n.sum()).max() - 1e-9
        return float(np.floor(1000 * most) / 1000)

    @property
    def columns_of_groups(self) -> list[str]:
        """Columns that may hold other groups of these rows."""
        return [
            name for name in columns_of_groups(self.frame) if name not in self.taken
        ]


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
        known or the groupings differ.
    confidence : float or None
        With which limits and reach hold; None where true groups are known.
    nearest : dict of str to str
        Where the groupings differ: the noisy group that each true one is nearest to,
        which ``reach`` is then the distance from.
    """

    matrix: pd.DataFrame | None
    least: pd.DataFrame | None
    most: pd.DataFrame | None
    reach: Mapping[str, float]
    confidence: float | None
    nearest: Mapping[str, str] = field(default_factory=dict)

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
    """Noisy groups of all rows, true ones where known, and what relates them.

    Attributes
    ----------
    shares : DataFrame or None
        Rows, or shares where only these are assumed, by true group (down) and noisy
        group (across).
    matrix, low, high : DataFrame or None
        P(G | noisy group), noisy groups in rows, sorted, and its limits.
    bounds : DataFrame or None
        ``paper``, ``general``, ``equal_priors`` and, from a sample, intervals.
    confidence : float
        Of the limits of the shares of given rows, so that all holds with 95 %.
    taught : dict of str to value
        What methods for noisy groups are told of it, by parameter; empty where the
        table's groups are not the noisy ones.
    """

    key: str
    noisy: Labels
    true: Labels | None = None
    shares: pd.DataFrame | None = None
    matrix: pd.DataFrame | None = None
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    bounds: pd.DataFrame | None = None
    confidence: float = CONFIDENCE
    taught: Mapping[str, Scalar] = field(default_factory=dict)

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

        Where true groups are known they are counted in these rows. Elsewhere the shares
        of the rows lie about those that they were drawn from: within limits that hold
        together with a confidence of 95 %.
        """
        noisy = self.noisy[where].astype(str)
        names, n = np.unique(noisy, return_counts=True)
        if self.true is not None:
            known = estimate_noise(self.true[where].astype(str), noisy)
            everyone = sorted(set(self.true.astype(str)))
            matrix = known.group_given_noisy.reindex(columns=everyone, fill_value=0.0)
            least = most = matrix
        elif self.matrix is None or self.low is None or self.high is None:
            return Known(None, None, None, {}, None)
        else:
            absent = [name for name in names if name not in self.matrix.index]
            if absent:
                raise ValueError(
                    f"The noise has no row for the noisy group {str(absent[0])!r}; it "
                    f"has {', '.join(map(str, self.matrix.index))}."
                )
            matrix = self.matrix.loc[names]
            limits = shares_on_rows(
                self.low.loc[names], self.high.loc[names], n, self.confidence
            )
            least, most = (
                pd.DataFrame(end, index=names, columns=matrix.columns) for end in limits
            )
        sure = CONFIDENCE if self.true is None else None
        between = pd.DataFrame(reach(least, most, n), names, matrix.columns)
        nearest: dict[str, str] = {}
        if set(matrix.columns) >= set(names):
            far = {str(name): float(between.loc[name, name]) for name in names}
        else:
            far = {str(name): float(between[name].min()) for name in between}
            nearest = {str(name): str(between[name].idxmin()) for name in between}
        return Known(matrix, least, most, far, sure, nearest)


def nearest_table(shares: pd.DataFrame) -> pd.DataFrame:
    """Return the noisy group that each true one is nearest to, and how far it is.

    ``shares`` are those of `Noise`; `fairdash.methods.noisy_groups.crossed_bounds`.
    """
    paper, general = crossed_bounds(shares)
    place = general.argmin(axis=1)
    at = np.arange(len(place)), place
    return pd.DataFrame(
        {
            "True": [str(name) for name in shares.index],
            "Nearest": [str(shares.columns[i]) for i in place],
            "Paper (B.4)": [number(value) for value in paper[at]],
            "In any case": [number(value) for value in general[at]],
        }
    )


def simulated(rows: NoisyRows, level: float) -> Noise:
    """Return noise made on the table's groups, which are then the true ones."""
    noisy = simulate_noise(rows.groups, level, random_state=SEED).astype(object)
    told = dict.fromkeys(["simulated_noise", "tv_radius", "noise_level"], level)
    return replace(_both(f"simulated {level:g}", rows.groups, noisy), taught=told)


def from_column(rows: NoisyRows, column: str) -> Noise:
    """Return the noise between the table's groups and a column with noisy ones."""
    noisy = _complete(rows.frame, column)
    return _both(f"column {column}", rows.groups, noisy)


def from_levels(groups: Labels, levels: float | Mapping[str, float]) -> Noise:
    """Return assumed noise: the groups are noisy, true ones are not known.

    ``levels`` is the share of each true group that appears as another, for all groups
    or by name. Raises ValueError when there is more noise than the groups' shares
    allow.
    """
    names, n = np.unique(groups.astype(str), return_counts=True)
    level = [levels[name] for name in names] if isinstance(levels, Mapping) else levels
    prior, half = n / n.sum(), (1 + CONFIDENCE) / 2
    table = symmetric_noise(prior, level)
    matrix, low, high = (
        pd.DataFrame(one, index=names, columns=names)
        for one in (table, *symmetric_limits(n, level, half))
    )
    joint = (matrix.mul(prior, axis=0)).T
    bounds = tv_bounds(joint).set_index(names)
    key = f"assumed {level}"
    told = {"auxiliary": write_counts(joint)}
    return Noise(key, groups, None, joint, matrix, low, high, bounds, half, told)


def from_matrix(groups: Labels, matrix: pd.DataFrame) -> Noise:
    """Return noise that is given: P(true group | noisy group), noisy groups in rows."""
    return Noise("given", groups, None, None, matrix, matrix, matrix, None, CONFIDENCE)


def from_sample(
    rows: NoisyRows, sample: pd.DataFrame, true: str, noisy: str, digest: str
) -> Noise:
    """Return noise estimated from another table that has both groups."""
    known = estimate_noise(
        _complete(sample, true), _complete(sample, noisy), expected=rows.group_names
    )
    return from_estimate(rows.groups, known, f"sample {digest} {true} {noisy}")


def from_counts(rows: NoisyRows, text: str) -> Noise:
    """Return noise from a small table of counts, as `read_counts` reads it."""
    known = estimate_from_counts(read_counts(text), expected=rows.group_names)
    return from_estimate(rows.groups, known, f"counts {text}")


def from_estimate(groups: Labels, known: NoiseEstimate, key: str) -> Noise:
    """Return noise that a sample told, which has all groups of the rows."""
    names = sorted(set(groups.astype(str)))
    half, matrix = (1 + CONFIDENCE) / 2, known.group_given_noisy
    low, high = (
        pd.DataFrame(end, index=matrix.index, columns=matrix.columns).loc[names]
        for end in share_limits(known.counts, half)
    )
    return Noise(
        key,
        groups,
        None,
        known.counts,
        matrix.loc[names],
        low,
        high,
        known.bounds,
        half,
        {"auxiliary": write_counts(known.counts)},
    )


def _both(key: str, true: Labels, noisy: Labels) -> Noise:
    known = estimate_noise(true.astype(str), noisy.astype(str))
    return Noise(
        key,
        noisy,
        true,
        known.counts,
        known.group_given_noisy,
        bounds=known.bounds,
    )


def _complete(frame: pd.DataFrame, column: str) -> Labels:
    """Return the labels of a column that has a value in every row."""
    missing = np.flatnonzero(frame[column].isna())
    if len(missing):
        message = f"Column {column!r} has no value in {len(missing)} rows"
        raise ValueError(
            f"{message}, first row {missing[0]}; pick a complete column or fill it."
        )
    return value_labels(frame[column]).to_numpy(dtype=object)
