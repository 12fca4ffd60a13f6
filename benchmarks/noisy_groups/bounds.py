"""Bounds of appendices A.2 and B.4 that no page asks for, beside their linear programs.

With a number of draws, coverage of `fairdash.audits.audit_memberships` instead: groups
are known by probability only, decisions depend on the group beyond the proxy.

python benchmarks/noisy_groups/bounds.py
python benchmarks/noisy_groups/bounds.py 1000
"""

import sys

import numpy as np
import pandas as pd
from noisy_groups_data import simulate_noise
from numpy.typing import ArrayLike
from scipy.optimize import linprog
from scipy.stats import wasserstein_distance

from fairdash._arrays import FloatArray
from fairdash._validation import value_label
from fairdash.audits.tables import audit_memberships
from fairdash.methods.noisy_groups import estimate_noise


def wasserstein_bounds(
    values: ArrayLike, true_groups: ArrayLike, noisy_groups: ArrayLike
) -> pd.DataFrame:
    r"""Bound how far a group's mean score is from that of its noisy version.

    .. math::

        |E_{p_j}[h] - E_{\hat p_j}[h]| \le W_c(p_j, \hat p_j)
        \le TV(p_j, \hat p_j) \left(\max h - \min h\right),
        \quad c(x, x') = |h(x) - h(x')|

    Theorem 3 of the paper (appendix A.2) with the metric in which h is 1-Lipschitz: of
    any score or loss, where Theorem 1 needs one of range 1. The distance is that of two
    distributions on a line, so it is exact.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        h of every row, such as a model's score.
    true_groups, noisy_groups : array-like of shape (n_rows,)

    Returns
    -------
    DataFrame
        By group: ``radius``, the total variation; ``gap``, the mean of h in the true
        group less that in the noisy one; ``wasserstein`` and ``tv_bound``.

    Raises
    ------
    ValueError
        When the groupings do not have the same groups.
    """
    h = np.asarray(values, dtype=np.float64)
    noise = estimate_noise(true_groups, noisy_groups)
    true, noisy = (
        np.array([value_label(label) for label in np.asarray(labels)])
        for labels in (true_groups, noisy_groups)
    )
    parts = [(h[true == name], h[noisy == name]) for name in noise.counts.index]
    return pd.DataFrame(
        {
            "radius": noise.bounds["general"].to_numpy(),
            "gap": [p.mean() - q.mean() for p, q in parts],
            "wasserstein": [wasserstein_distance(p, q) for p, q in parts],
            "tv_bound": noise.bounds["general"].to_numpy() * np.ptp(h),
        },
        index=noise.counts.index,
    )


def crossed_bounds(joint: ArrayLike) -> tuple[FloatArray, FloatArray]:
    r"""Bound the distance of every true group from every noisy one, of any groupings.

    For groups i of one grouping and j of another,

    .. math::

        TV(p_j, \hat p_i) \le
        \max\left(P(\hat G \ne i | G = j),\; P(G \ne j | \hat G = i)\right),

    since both hold the people of i and j, with the smaller of the two shares at least.
    Appendix B.4 of the paper has the first term alone, which is too small where noisy
    group i is larger than true group j.

    Parameters
    ----------
    joint : array-like of shape (n_groups, n_noisy)
        P(G = j, noisy group i), or rows counted.

    Returns
    -------
    paper, general : ndarray of shape (n_groups, n_noisy)
        By the paper, and in any case.
    """
    table = np.asarray(joint, dtype=np.float64)
    paper = 1 - _share(table, table.sum(axis=1, keepdims=True))
    return paper, np.fmax(paper, 1 - _share(table, table.sum(axis=0, keepdims=True)))


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def transported(p, q, cost):
    """Least cost of moving p to q, by a linear program."""
    n = len(p)
    rows = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    optimum = linprog(
        cost.ravel(), A_eq=np.vstack(rows), b_eq=np.append(p, q), method="highs"
    )
    assert optimum.status == 0
    return optimum.fun


def largest_differences() -> tuple[float, float, int]:
    """Return how far both bounds are from transport, and how often B.4 is too small."""
    rng = np.random.default_rng(0)
    crossed = []
    scored = []
    too_small = 0
    for _ in range(10):
        groups = rng.choice(list("abc"), 24)
        noisy = rng.choice(["x", "y"], 24)
        counts = pd.crosstab(groups, noisy)
        paper, general = crossed_bounds(counts)
        for j, name in enumerate(counts.index):
            for i, column in enumerate(counts.columns):
                p = groups == name
                q = noisy == column
                far = transported(p / p.sum(), q / q.sum(), 1.0 - np.eye(24))
                crossed.append(abs(far - general[j, i]))
                too_small += int(paper[j, i] < far - 1e-9)
        groups = rng.choice(["a", "b"], 20)
        noisy = simulate_noise(groups, 0.2, random_state=rng.integers(99))
        score = rng.normal(size=20) + (groups == "b")
        table = wasserstein_bounds(score, groups, noisy)
        for name in "ab":
            p = groups == name
            q = noisy == name
            cost = np.abs(score[:, None] - score)
            far = transported(p / p.sum(), q / q.sum(), cost)
            scored.append(abs(table.loc[name, "wasserstein"] - far))
    return max(crossed), max(scored), too_small


def population(strong):
    """Return share of a and rates of a and b in 24 places of equal size."""
    rng = np.random.default_rng(11)
    shape = 0.15 if strong else 1.0
    share = rng.beta(shape, shape, 24)
    b = rng.uniform(0.4, 0.8, 24)
    return share, b - 0.3, b


def true_bounds(share, a, b):
    """Return the gap of a and b in the population, and its bounds."""
    chance = share * a + (1 - share) * b
    most = np.minimum(share, chance).sum() / share.sum()
    least = np.maximum(0, share + chance - 1).sum() / share.sum()
    column_parts = [
        (chance.sum() - rate * share.sum()) / (1 - share).sum()
        for rate in (least, most)
    ]
    gap = np.average(a, weights=share) - np.average(b, weights=1 - share)
    return gap, least - column_parts[0], most - column_parts[1]


def coverage(strong, n_rows, unit, draws, rng):
    """Print how often intervals hold the truth and the bounds, and what is sure."""
    share, a, b = population(strong)
    gap, least, most = true_bounds(share, a, b)
    holds = np.zeros((draws, 4))
    for draw in range(draws):
        place = rng.integers(24, size=n_rows // unit)
        group = rng.random(len(place)) < share[place]
        rate = np.where(group, a[place], b[place])
        people = np.repeat(np.arange(len(place)), unit)
        decided = rng.random(len(people)) < rate[people]
        again = np.flatnonzero(rng.random(len(people)) < 0.5)  # as the first of a unit
        decided[again] = decided[unit * people[again]]
        p = pd.DataFrame({"a": share[place], "b": 1 - share[place]}).iloc[people]
        audit = audit_memberships(
            None,
            decided.astype(int),
            group_probabilities=p,
            cluster=people,
            measures=["selection_rate"],
        )
        (result,) = audit.gaps().itertuples()
        holds[draw] = (
            result.ci_low <= gap <= result.ci_high,
            result.low <= gap <= result.high,
            result.low <= least and most <= result.high,
            result.low > 0 or result.high < 0,
        )
    weighted, truth, both_hold, sure = holds.mean(axis=0)
    print(
        f"{strong=} n {n_rows:5} unit {unit}: gap {gap:.3f} in "
        f"[{least:.3f}, {most:.3f}]; weighted {weighted:.3f}, truth {truth:.3f}, "
        f"both bounds {both_hold:.3f}, sure {sure:.3f}"
    )


if __name__ == "__main__" and len(sys.argv) > 1:
    rng = np.random.default_rng(20_261_127)
    for strong in (True, False):
        for n_rows, unit in ((600, 1), (3000, 1), (3000, 3)):
            coverage(strong, n_rows, unit, int(sys.argv[1]), rng)
elif __name__ == "__main__":
    crossed, scored, too_small = largest_differences()
    print(f"unequal groupings: {crossed:.1e} from the linear program")
    print(f"mean scores:       {scored:.1e} from the linear program")
    print(f"appendix B.4 is below the distance {too_small} times")
