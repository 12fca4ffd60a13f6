"""Coverage of the change of the gap that Post-process shows, by simulation.

    python benchmarks/post_processing/gap_change_coverage.py [TABLES] [SEED]

A ramp is learned on a table drawn anew each time. Its true change of the gap is that in
200,000 other rows; the interval is looked at on the rows it learned from and on as many
new ones.
"""

import sys

import numpy as np

from fairdash.postprocessing import RampThreshold, ScoredRows

SIZES = (240, 1800)
POPULATION = 200_000


def drawn(rng, n):
    """Return n rows of two groups whose scores differ, with calibrated scores."""
    group = rng.integers(0, 2, n)
    scores = 1 / (1 + np.exp(-1.2 * (rng.normal(size=n) + 0.3 * group)))
    return ScoredRows.read(
        scores,
        sensitive_features=np.array(["f", "m"])[group],
        y=(rng.random(n) < scores).astype(int),
        score_type="probability",
    )


def change_of(report):
    """Return the change of the gap with the ends of its interval."""
    row = report.outcome.set_index("metric").loc["demographic_parity_difference"]
    return row["change"], row["change_low"], row["change_high"]


def main(tables=150, seed=77):
    """Print the share of tables whose interval covers the true change."""
    rng = np.random.default_rng(seed)
    everybody = drawn(rng, POPULATION)
    print("rows  learned from  new")
    for n in SIZES:
        covered = np.zeros(2)
        for _ in range(tables):
            parts = drawn(rng, n), drawn(rng, n)
            ramp = RampThreshold(0.1, score_type="probability").fit_rows(parts[0])
            true, _, _ = change_of(ramp.report(everybody))
            for place, rows in enumerate(parts):
                _, low, high = change_of(ramp.report(rows))
                covered[place] += low <= true <= high
        learned, new = covered / tables
        print(f"{n:<5} {learned:<13.3f} {new:.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
