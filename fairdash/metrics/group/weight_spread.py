"""Densities and quantiles of weights r inside groups, and weights at another τ.

r is a ratio, so that everything here is on a logarithmic scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._counts import quantiles
from fairdash._validation import check_lengths, check_positive
from fairdash.metrics.group import counting

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
QUANTILES = tuple(f"q{100 * level:02.0f}" for level in LEVELS)
# Bins of a density: ten a decade; the first and the last hold what lies beyond.
EDGES = np.geomspace(1e-3, 1e2, 51)
EVERYONE = ""  # the subgroup of all rows
_HALF = (1e-7, 6e4)  # range of half precision
_LEAST = 2  # people of a cell that has quantiles


@dataclass(frozen=True, eq=False)
class WeightSpread:
    """Densities and quantiles of weights at some steps, such as epochs of training.

    Attributes
    ----------
    steps : ndarray of shape (n_steps,)
        What the steps are called: epochs, or values of τ.
    subgroups : tuple of str
        The first is `EVERYONE`.
    groups : tuple of str
    n : int ndarray of shape (n_subgroups, n_groups)
        Rows of every cell; of rows that are counts, their people.
    density : ndarray of shape (n_steps, n_groups, n_bins)
        Share of a group's rows, or people, in each bin of `EDGES`.
    quantiles : ndarray of shape (n_steps, n_subgroups, n_groups, 5)
        Weights at `LEVELS`, NaN in cells of fewer than two rows, or people.
    """

    steps: NDArray[np.float64]
    subgroups: tuple[str, ...]
    groups: tuple[str, ...]
    n: NDArray[np.int64]
    density: NDArray[np.floating]
    quantiles: NDArray[np.floating]

    @classmethod
    def of(
        cls,
        ratios: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        subgroups: ArrayLike,
        steps: Sequence[float] | NDArray[np.number] = (0,),
        people: ArrayLike | None = None,
    ) -> Self:
        """Return the spread of weights of shape (n_steps, n_rows).

        ``people`` says how many each row stands for, where rows are counts.

        Raises ValueError where lengths differ or a weight is negative or not finite.
        """
        weights = np.atleast_2d(np.asarray(ratios, dtype=np.float32))
        n_rows = weights.shape[1]
        for step in weights:
            counting.row_weights("ratios", step, n_rows)
        check_lengths(weights[0], np.asarray(sensitive_features))
        group = counting.group_codes(sensitive_features, weights[0])
        subgroup = counting.subgroup_codes(subgroups, weights[0])
        times = counting.row_weights("people", people, n_rows)
        n_subgroups = len(subgroup.names) + 1  # the first is of all rows
        n_groups = len(group.names)
        levels = np.full((len(weights), n_subgroups, n_groups, len(LEVELS)), np.nan)
        n = np.zeros((n_subgroups, n_groups), dtype=np.int64)
        density = np.empty((len(weights), n_groups, len(EDGES) - 1))
        for g in range(n_groups):
            in_group = group.codes == g
            group_times = times[in_group]
            density[:, g] = [_density(step[in_group], group_times) for step in weights]
            for s in range(n_subgroups):
                cell = in_group
                if s > 0:
                    cell = in_group & (subgroup.codes == s - 1)
                n[s, g] = times[cell].sum()
                if n[s, g] < _LEAST:
                    continue
                if people is None:  # all steps at once
                    levels[:, s, g] = np.quantile(weights[:, cell], LEVELS, axis=1).T
                else:
                    levels[:, s, g] = [
                        quantiles(step[cell], LEVELS, times[cell]) for step in weights
                    ]
        return cls(
            np.asarray(steps, dtype=np.float64),
            (EVERYONE, *subgroup.names),
            group.names,
            n,
            density,
            levels,
        )

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return what `from_arrays` takes, weights in half precision."""
        return {
            "steps": self.steps,
            "n": self.n,
            "density": self.density.astype(np.float16),
            "quantiles": np.clip(self.quantiles, *_HALF).astype(np.float16),
        }

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        *,
        subgroups: Sequence[str],
        groups: Sequence[str],
    ) -> Self:
        """Return the spread that `arrays` came of; ``subgroups`` without `EVERYONE`.

        Raises ValueError where the arrays are not of so many subgroups and groups.
        """
        names = ("steps", "n", "density", "quantiles")
        steps, n, density, quantiles = (arrays[name] for name in names)
        cells = (len(subgroups) + 1, len(groups))
        n_steps = len(steps)
        fits = (
            steps.shape == (n_steps,)
            and n.shape == cells
            and density.shape == (n_steps, len(groups), len(EDGES) - 1)
            and quantiles.shape == (n_steps, *cells, len(LEVELS))
        )
        if not fits:
            raise ValueError("The weights are not those of these subgroups and groups.")
        return cls(steps, (EVERYONE, *subgroups), tuple(groups), n, density, quantiles)

    def quantile_table(self) -> pd.DataFrame:
        """Return one row per step, subgroup and group: n, then `QUANTILES`."""
        names = ["step", "subgroup", "group"]
        index = pd.MultiIndex.from_product(
            [self.steps, self.subgroups, self.groups], names=names
        )
        flat = self.quantiles.reshape(-1, len(LEVELS)).astype(np.float64)
        table = pd.DataFrame(flat, index=index, columns=list(QUANTILES))
        table.insert(0, "n", np.tile(self.n.ravel(), len(self.steps)))
        return table.reset_index()

    def density_table(self) -> pd.DataFrame:
        """Return one row per step, group and bin: low, high, share of the rows."""
        names = ["step", "group", "low"]
        index = pd.MultiIndex.from_product(
            [self.steps, self.groups, EDGES[:-1]], names=names
        )
        share = self.density.reshape(-1).astype(np.float64)
        table = pd.DataFrame({"share": share}, index=index).reset_index()
        high = np.tile(EDGES[1:], len(self.steps) * len(self.groups))
        table.insert(3, "high", high)
        return table


def rows_with_half(ratio: ArrayLike, people: ArrayLike | None = None) -> float:
    """Return the smallest share of rows that has half of all weight.

    ``people`` says how many each row stands for, where rows are counts: the share is
    then of people.
    """
    weights = np.asarray(ratio, dtype=np.float64)
    times = counting.row_weights("people", people, len(weights))
    order = np.argsort(-weights, kind="stable")
    weights = weights[order]
    times = times[order]
    mass = np.cumsum(weights * times)
    half = mass[-1] / 2
    # Of the row at which the sum reaches one half, only as many people as it takes.
    last = int(np.searchsorted(mass, half))
    missing = half - (mass[last] - weights[last] * times[last])
    n_last = 1
    if weights[last]:
        n_last = max(1, int(np.ceil(missing / weights[last])))
    n_people = times[:last].sum() + min(n_last, times[last])
    return float(n_people / times.sum())


def boltzmann_weights(
    loss: ArrayLike,
    *,
    tau: float,
    sensitive_features: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Return the weights of BROAD for losses of an adversary, of mean one by group.

    .. math:: r_i = n_{s_i} e^{-L_i/\tau} \Big/ \sum_{s_j = s_i} e^{-L_j/\tau}

    Exact for losses of any size. Without groups the mean is one over all rows, as with
    ``normalisation="global"``. With ``sample_weight``, sampling weights or counts, it
    is the weighted mean that is one.
    """
    check_positive("tau", tau)
    log_weights = -np.asarray(loss, dtype=np.float64) / tau
    codes = np.zeros(len(log_weights), dtype=np.int64)
    if sensitive_features is not None:
        codes = counting.group_codes(sensitive_features, log_weights).codes
    mass = counting.row_weights("sample_weight", sample_weight, len(log_weights))
    weights = np.empty(len(log_weights))
    for code in range(codes.max() + 1):
        rows = codes == code
        # Less the largest, which the mean divides out again: nothing overflows.
        relative = np.exp(log_weights[rows] - log_weights[rows].max())
        # As in training, a group that weighs nothing counts each row once.
        group_mass = mass[rows] if mass[rows].any() else None
        weights[rows] = relative / np.average(relative, weights=group_mass)
    return weights


def weights_at(
    ratio: ArrayLike,
    *,
    trained: float,
    tau: float,
    sensitive_features: ArrayLike | None,
    sample_weight: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Return the weights that BROAD's adversary, trained at one τ, gives at another.

    Weights are :math:`r \propto e^{-L_S/\tau}` within groups, so the losses of the
    trained adversary are :math:`L_S = -\tau \log r` but for a constant of the group,
    which does not count. A weight that was too small for its number format is 0, and
    stays so.
    """
    check_positive("trained", trained)
    with np.errstate(divide="ignore"):
        losses = -trained * np.log(np.asarray(ratio, dtype=np.float64))
    return boltzmann_weights(
        losses,
        tau=tau,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )


def _density(
    weights: NDArray[np.floating], times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of rows, or people, in each bin of `EDGES`."""
    clipped = np.clip(weights, EDGES[0], EDGES[-1])
    counts, _ = np.histogram(clipped, EDGES, weights=times)
    return counts / max(1.0, float(times.sum()))
