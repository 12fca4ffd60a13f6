"""Seconds of fair log-loss against plain logistic regression and the alternatives.

All on the same 45,222 x 100 rows, in one run; rounds alternate between the solvers, so
that a machine that drifts drifts for all, and the quickest round of each is shown. The
exponentiated gradient, much slower, has one round.

    OMP_NUM_THREADS=1 python benchmarks/fair_log_loss/bench_fair_log_loss.py
"""

import argparse
import time
from unittest.mock import patch

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairdash.methods import FairLogLoss, fair_log_loss_multiplier
from fairdash.methods.classical.reductions import Reductions
from fairdash.methods.log_loss import saddle
from fairdash.methods.log_loss.truncation import play

ALPHA = 0.005


def make_data(n_rows, n_features):
    rng = np.random.default_rng(0)
    group = (rng.random(n_rows) < 0.67).astype(int)
    X = rng.normal(size=(n_rows, n_features))
    X[:, :20] += 0.3 * group[:, None]
    signal = X[:, :30] @ rng.normal(size=30) * 0.5 + group
    y = (signal + rng.logistic(size=n_rows) > 1).astype(int)
    return X, y, group


def lbfgs(X, y, group):
    """Descend the corrected objective, its multiplier found anew at every step."""
    design = np.column_stack([X, np.ones(len(X))])
    shares = np.bincount(group) / len(y)

    def objective(theta):
        margin = design @ theta
        score = expit(margin)
        multiplier = fair_log_loss_multiplier(
            score[group == 1], score[group == 0], len(y)
        )
        pull = np.where(group == 1, multiplier / shares[1], -multiplier / shares[0])
        p, q, _ = play(margin, pull)
        loss = -q * np.log(p) - (1 - q) * np.log1p(-p) + (q - y) * margin
        slope = (q - y) @ design / len(y) + ALPHA * theta
        return loss.mean() + ALPHA / 2 * theta @ theta, slope

    start = np.zeros(design.shape[1])
    options = {"gtol": 1e-8, "ftol": 1e-14, "maxiter": 1000}
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=options)


def nested(fit):
    """Fit without joint steps: theta is minimised for every multiplier."""
    with patch.object(saddle, "_together", lambda here, *limits: (here, 0)):
        return fit()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=45_222)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    X, y, group = make_data(options.rows, options.features)

    def fair(constraints):
        model = FairLogLoss(constraints, alpha=ALPHA)
        return model.fit(X, y, sensitive_features=group)

    plain = "plain logistic regression"
    solvers = {
        plain: lambda: LogisticRegression(C=1 / (ALPHA * len(y))).fit(X, y),
        "parity": lambda: fair("demographic_parity"),
        "equal opportunity": lambda: fair("true_positive_rate_parity"),
        "equalized odds": lambda: fair("equalized_odds"),
        "parity, fallback alone": lambda: nested(lambda: fair("demographic_parity")),
        "equalized odds, fallback alone": lambda: nested(
            lambda: fair("equalized_odds")
        ),
        "L-BFGS, parity": lambda: lbfgs(X, y, group),
    }
    seconds = {name: [] for name in solvers}
    results = {}
    for _ in range(options.rounds):
        for name, solve in solvers.items():
            began = time.perf_counter()
            results[name] = solve()
            seconds[name].append(time.perf_counter() - began)
    slow = "exponentiated gradient, parity"
    began = time.perf_counter()
    results[slow] = Reductions(alpha=ALPHA).fit(X, y, sensitive_features=group)
    seconds[slow] = [time.perf_counter() - began]
    base = min(seconds[plain])
    print(f"{options.rows:,} x {options.features}, alpha {ALPHA}\n")
    print("| solver | seconds | of plain | steps | residual |")
    print("|---|---|---|---|---|")
    for name, times in seconds.items():
        model = results[name]
        best = min(times)
        steps = getattr(model, "n_iter_", getattr(model, "nit", None))
        residual = getattr(model, "kkt_residual_", None)
        if residual is None:
            residual = np.abs(model.jac).max() if hasattr(model, "jac") else np.nan
        steps = int(np.max(steps))
        print(f"| {name} | {best:.3f} | {best / base:.1f} | {steps} | {residual:.1e} |")
    above = results["L-BFGS, parity"].fun - results["parity"].history_["loss"][0]
    print(f"\nL-BFGS ends {above:.1e} above the optimum.")


if __name__ == "__main__":
    main()
