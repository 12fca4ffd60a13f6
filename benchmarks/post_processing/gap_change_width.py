"""Intervals of the change of a gap beside those of a percentile bootstrap.

    python benchmarks/post_processing/gap_change_width.py

Two per cent of decisions are drawn anew. Prints the ends in the middle table of each
setting, and how often both kinds of interval hold the truth.
"""

import numpy as np

from fairdash.metrics import gap_change

TABLES = 200
RESAMPLED_TABLES = 60
RESAMPLES = 150
GROUPS = {
    "2 of 250": np.repeat(np.arange(2), 250),
    "5 of 200": np.repeat(np.arange(5), 200),
    "12 of 200": np.repeat(np.arange(12), 200),
    "11 of 200, one of 4 rows": np.r_[np.repeat(np.arange(11), 200), np.full(4, 11)],
}
GAPS = {"no gap": (0.0, 0.0), "it stays": (0.2, 0.2), "it is removed": (0.3, 0.0)}


def largest_gap(decided, group, n_groups):
    """Return the largest difference of selection rates."""
    rows = np.bincount(group, minlength=n_groups)
    rates = np.bincount(group, decided, n_groups)[rows > 0] / rows[rows > 0]
    return np.ptp(rates)


def bootstrap(decided, group, rng):
    """Return the percentile interval of the change of the largest gap."""
    n_groups = int(group.max()) + 1
    changes = []
    for _ in range(RESAMPLES):
        drawn = rng.integers(0, len(group), len(group))
        gaps = [
            largest_gap(column[drawn], group[drawn], n_groups) for column in decided
        ]
        changes.append(gaps[1] - gaps[0])
    return np.quantile(changes, [0.025, 0.975])


def main():
    """Print a line for each setting."""
    for groups, group in GROUPS.items():
        for name, gaps in GAPS.items():
            rng = np.random.default_rng(9)
            truth = gaps[1] - gaps[0]
            ends = {"interval": [], "bootstrap": []}
            for table in range(TABLES):
                first = rng.random(len(group))
                again = rng.random(len(group)) < 0.02
                second = np.where(again, rng.random(len(group)), first)
                decided = [
                    (drawn < 0.5 - gap * (group == 0)).astype(int)
                    for drawn, gap in zip((first, second), gaps, strict=True)
                ]
                change = gap_change(*decided, sensitive_features=group)
                ends["interval"].append((change.low, change.high))
                if table < RESAMPLED_TABLES:
                    ends["bootstrap"].append(bootstrap(decided, group, rng))
            for kind, intervals in ends.items():
                low, high = np.median(intervals, axis=0)
                share = np.mean([a <= truth <= b for a, b in intervals])
                print(f"{groups}, {name}, {kind}: {low:.3f} {high:.3f}, {share:.2f}")


if __name__ == "__main__":
    main()
