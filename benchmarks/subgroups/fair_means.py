"""How often a fair table is called unfair by a mean, an AUC or an error cost.

    python benchmarks/subgroups/fair_means.py [TABLES] [SEED]

Both groups have the same expected value of the measure in every subgroup, and scores of
unlike spread where the measure allows it. A finding is a largest gap above its floor.
"""

import sys

import numpy as np

from fairdash.metrics import LocalMeasure

SETTINGS = {  # rows, share of the smaller group, spread of its scores, of the others'
    "smaller group narrow": (600, 0.1, 0.3, 2.5),
    "smaller group wide": (600, 0.1, 2.5, 0.3),
    "like spread": (1500, 0.3, 1.0, 1.0),
}
PARTS = 6


def drawn(rng, measure, n, share, narrow, wide):
    """Return group, outcome and score of rows that are fair in the measure."""
    small = rng.random(n) < share
    if measure == "calibration":
        logit = rng.normal(size=n) * np.where(small, narrow, wide)
    else:  # one distribution: the value itself depends on the spread
        logit = rng.normal(size=n)
    score = 1 / (1 + np.exp(-logit))
    y = (rng.random(n) < score).astype(int)
    return np.where(small, "a", "b"), y, score


def main(tables=300, seed=2024):
    """Print the share of fair tables with a finding, by measure and setting."""
    rng = np.random.default_rng(seed)
    for measure in ("calibration", "brier", "auc", "error_cost 3:1"):
        for name, setting in SETTINGS.items():
            if measure != "calibration" and name == "smaller group wide":
                continue  # the same as narrow: spreads are equal
            wrong = judged = 0
            for _ in range(tables):
                group, y, score = drawn(rng, measure, *setting)
                scored = measure in ("calibration", "brier", "auc")
                local = LocalMeasure.of(
                    measure,
                    y,
                    score if scored else (score > 0.5).astype(int),
                    sensitive_features=group,
                    subgroups=rng.integers(0, PARTS, len(y)).astype(str),
                    min_size=30,
                )
                if local.estimable.any():
                    judged += 1
                    floor = local.noise_floor(n_permutations=400).quantile
                    wrong += bool(np.nanmax(local.gaps()) > floor)
            print(f"{measure:<15} {name:<21} {wrong / judged:.3f} of {judged}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
