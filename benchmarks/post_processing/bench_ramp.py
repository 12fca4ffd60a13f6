"""The exact ramp against SGD solvers of the same problem and fairlearn's thresholds.

All get the same scores in memory: seconds to fit, the gap between the groups' expected
rates on the fitting rows, and expected accuracy on as many fresh rows. Two SGD solvers
descend on the dual of the same problem and get the target rate for free. One follows
the published schedule: 10,000 minibatch steps of 256 rows a group, averaged, then 1,000
steps on all rows. The other is tuned: its step falls with the square root, and it stops
as soon as rates are within 0.0005 of the target, looked at after every epoch at no
cost. Scores are true probabilities of synthetic people in two groups, and the same
piled up at both ends, as those of an overconfident network are.

    OMP_NUM_THREADS=1 python benchmarks/post_processing/bench_ramp.py \
        [--rows 45222 1000000]
"""

import argparse
import time

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import BaseEstimator, ClassifierMixin

from fairdash.postprocessing import HardtThreshold, RampThreshold

BATCH = 256
EPOCHS = 100
NEAR = 5e-4
STEPS = 10_000
FULL_STEPS = 1000
RIVALS = ("published SGD", "tuned SGD", "fairlearn")


class GivenScores(ClassifierMixin, BaseEstimator):
    """Hands the scores through that fairlearn wants from an estimator."""

    def fit(self, X, y=None):
        """Learn nothing."""
        return self

    def decision_function(self, X):
        """Return the scores."""
        return X[:, 0]

    def __sklearn_is_fitted__(self):
        return True


def people(n, seed, *, piled_up):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    margins = np.clip(rng.normal(-0.35 + 0.35 * group, 0.45, n), -0.999, 0.999)
    y = (rng.uniform(-1, 1, n) < margins).astype(int)
    return np.tanh(6 * margins) if piled_up else margins, y, group


def published_sgd(margins, group, gamma, rate, seed=0):
    """Return seconds and the starts of the ramps by the published schedule."""
    rng = np.random.default_rng(seed)
    begin = time.perf_counter()
    starts = []
    step = gamma * np.sqrt(BATCH / STEPS)
    for k in range(group.max() + 1):
        scores = margins[group == k]
        start = mean = 0.0
        for _ in range(STEPS):
            rows = scores[rng.integers(0, len(scores), BATCH)]
            start += step * (np.clip((rows - start) / gamma, 0, 1).mean() - rate)
            mean += start / STEPS
        for _ in range(FULL_STEPS):
            h = np.clip((scores - mean) / gamma, 0, 1).mean()
            mean += gamma / 2 * (h - rate)
        starts.append(mean)
    return time.perf_counter() - begin, np.array(starts)


def tuned_sgd(margins, group, gamma, rate, seed=0):
    """Return seconds and the starts of the ramps by stochastic dual descent."""
    rng = np.random.default_rng(seed)
    starts = []
    seconds = 0.0
    for k in range(group.max() + 1):
        scores = margins[group == k]
        upper = lower = mean = 0.0
        steps = 0
        for _ in range(EPOCHS):
            begin = time.perf_counter()
            order = rng.permutation(scores)
            for rows in np.split(order, range(BATCH, len(scores), BATCH)):
                steps += 1
                h = np.clip((rows - (upper - lower)) / gamma, 0, 1).mean()
                step = 1 / np.sqrt(steps)
                upper = max(upper + step * (h - rate), 0.0)
                lower = max(lower - step * (h - rate), 0.0)
                mean += (
                    2 * (upper - lower - mean) / (steps + 1)
                )  # late steps weigh more
            seconds += time.perf_counter() - begin
            if abs(np.clip((scores - mean) / gamma, 0, 1).mean() - rate) < NEAR:
                break
        starts.append(mean)
    return seconds, np.array(starts)


def timed(fit, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = fit()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def compare(n, gamma, *, piled_up):
    margins, y, group = people(n, 0, piled_up=piled_up)
    fresh, outcome, fresh_group = people(n, 1, piled_up=piled_up)
    fitting = {"sensitive_features": group}
    rows = {}
    rate = None

    def record(name, seconds, decide):
        gap = np.ptp(pd.Series(decide(margins, group)).groupby(group).mean())
        h = decide(fresh, fresh_group)
        accuracy = np.where(outcome == 1, h, 1 - h).mean()
        rows[name] = {"seconds": seconds, "accuracy": accuracy, "gap": gap}

    def decide_by(method):
        return lambda scores, groups: method.predict_proba(
            scores, sensitive_features=groups
        )

    for name, target in (
        ("ramp, most accurate rate", "accuracy"),
        ("ramp, balanced rate", "balanced"),
        ("ramp, given rate", None),
    ):
        ramp = RampThreshold(gamma, rate if target is None else target)
        seconds, ramp = timed(lambda ramp=ramp: ramp.fit(margins, y, **fitting), 3)
        record(name, seconds, decide_by(ramp))
        rate = ramp.target_rate_ if target == "accuracy" else rate
    for name, solver in (("published SGD", published_sgd), ("tuned SGD", tuned_sgd)):
        seconds, starts = solver(margins, group, gamma, rate)
        record(
            name,
            seconds,
            lambda f, g, starts=starts: np.clip((f - starts[g]) / gamma, 0, 1),
        )
    seconds, hardt = timed(lambda: HardtThreshold().fit(margins, y, **fitting), 3)
    record("Hardt, exact", seconds, decide_by(hardt))
    optimizer = ThresholdOptimizer(
        estimator=GivenScores(),
        constraints="demographic_parity",
        prefit=True,
        predict_method="decision_function",
    )
    seconds, theirs = timed(lambda: optimizer.fit(margins[:, None], y, **fitting), 1)
    record(
        "fairlearn",
        seconds,
        lambda f, g: theirs._pmf_predict(f[:, None], sensitive_features=g)[:, 1],
    )
    table = pd.DataFrame(rows).T
    for name in RIVALS:
        table[f"{name} / it"] = table.loc[name, "seconds"] / table["seconds"]
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[45_222, 1_000_000])
    parser.add_argument("--gamma", type=float, default=0.01)
    options = parser.parse_args()
    for n in options.rows:
        for piled_up in (False, True):
            kind = "piled up at the ends" if piled_up else "true probabilities"
            print(f"\n{n:,} rows, gamma {options.gamma:g}, scores {kind}")
            table = compare(n, options.gamma, piled_up=piled_up)
            formats = {
                "seconds": "{:.4f}".format,
                "accuracy": "{:.4f}".format,
                "gap": "{:.1e}".format,
                **{f"{name} / it": "{:.1f}".format for name in RIVALS},
            }
            print(table.to_string(formatters=formats))


if __name__ == "__main__":
    main()
