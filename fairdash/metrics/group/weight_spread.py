"""How weights r spread inside groups: densities, quantiles, and at other τ.

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
# of the bins of a density; ten a decade, the first and the last hold what lies beyond
EDGES = np.geomspace(1e-3, 1e2, 51)
EVERYONE = ""  # the subgroup of all rows
_HALF = 1e-7, 6e4  # what half precision holds of weights
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
        named = counting.subgroup_codes(subgroups, weights[0])
        each = counting.row_weights("people", people, n_rows)
        shape = len(named.names) + 1, len(group.names)
        at_levels = np.full((len(weights), *shape, len(LEVELS)), np.nan)
        n = np.zeros(shape, dtype=np.int64)
        density = np.empty((len(weights), shape[1], len(EDGES) - 1))
        for g in range(shape[1]):
            own = group.codes == g
            density[:, g] = [_density(step[own], each[own]) for step in weights]
            for s in range(shape[0]):
                cell = own if s == 0 else own & (named.codes == s - 1)
                n[s, g] = each[cell].sum()
                if n[s, g] < _LEAST:
                    continue
                if people is None:  # all steps at once
                    inside = np.quantile(weights[:, cell], LEVELS, axis=1)
                    at_levels[:, s, g] = inside.T
                else:
                    at_levels[:, s, g] = [
                        quantiles(step[cell], LEVELS, each[cell]) for step in weights
                    ]
        return cls(
            np.asarray(steps, dtype=np.float64),
            (EVERYONE, *named.names),
            group.names,
            n,
            density,
            at_levels,
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
        parts = [arrays[name] for name in ("steps", "n", "density", "quantiles")]
        cells, n_steps = (len(subgroups) + 1, len(groups)), len(parts[0])
        shapes = [
            (n_steps,),
            cells,
            (n_steps, len(groups), len(EDGES) - 1),
            (n_steps, *cells, len(LEVELS)),
        ]
        if [part.shape for part in parts] != shapes:
            raise ValueError("The weights are not those of these subgroups and groups.")
        steps, n, density, quantiles = parts
        names = (EVERYONE, *subgroups), tuple(groups)
        return cls(steps, *names, n, density, quantiles)

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
    each = counting.row_weights("people", people, len(weights))
    order = np.argsort(-weights, kind="stable")
    heaviest, times = weights[order], each[order]
    carried = np.cumsum(heaviest * times)
    place = int(np.searchsorted(carried, carried[-1] / 2))
    missing = carried[-1] / 2 - (carried[place] - heaviest[place] * times[place])
    # as many of the people of that row as bring the sum to one half
    last = max(1, int(np.ceil(missing / heaviest[place]))) if heaviest[place] else 1
    return float((times[:place].sum() + min(last, times[place])) / times.sum())


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
        own = codes == code
        raised = np.exp(log_weights[own] - log_weights[own].max())
        # as in training, a group that weighs nothing counts each row once
        each = mass[own] if mass[own].any() else None
        weights[own] = raised / np.average(raised, weights=each)
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
    weights: NDArray[np.floating], each: NDArray[np.float64]
) -> NDArray[np.float64]:
    inside = np.clip(weights, EDGES[0], EDGES[-1])
    counts, _ = np.histogram(inside, EDGES, weights=each)
    return counts / max(1.0, float(each.sum()))
