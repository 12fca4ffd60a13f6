"""Where descent by the gradient printed for fair log-loss ends, against the optimum.

python benchmarks/fair_log_loss/published_gradient.py
"""

import numpy as np
from scipy.special import expit

from fairdash.methods import FairLogLoss, fair_log_loss_multiplier
from fairdash.methods.log_loss.truncation import play

ALPHA = 0.01
STEPS = 4_000


def main():
    errors = []
    above = []
    for seed in range(18):
        rng = np.random.default_rng(seed)
        s = rng.integers(2, size=400)
        X = rng.normal(size=(400, 3))
        X[:, 0] += s
        y = (X[:, 0] + X[:, 1] + rng.logistic(size=400) > 0.5).astype(float)
        model = FairLogLoss(alpha=ALPHA).fit(X, y, sensitive_features=s)
        design = np.column_stack([X, np.ones(400)])
        shares = np.bincount(s) / 400
        theta = np.zeros(4)
        best = np.inf
        for step in range(STEPS):
            score = expit(design @ theta)
            lam = fair_log_loss_multiplier(score[s == 1], score[s == 0], 400)
            pull = np.where(s == 1, lam / shares[1], -lam / shares[0])
            p, q, truncated = play(design @ theta, pull)
            loss = -q * np.log(p) - (1 - q) * np.log1p(-p)
            value = np.mean(loss + (q - y) * (design @ theta))
            value += ALPHA / 2 * theta @ theta
            best = min(best, value)
            missing = np.where(truncated, 0, pull * p * (1 - p)) @ design / 400
            if step == 0 or step == STEPS - 1:
                errors.append(np.abs(missing).max())
            slope = (q - y) @ design / 400 + ALPHA * theta - missing
            theta = theta - slope / np.sqrt(1 + step / 10)
        above.append(best - model.history_["loss"][0])
    print(f"term dropped at the end: median {np.median(errors[1::2]):.3f}")
    print(f"best value above the optimum: {min(above):.1e} to {max(above):.1e}")
    print(f"more than 1e-6 above: {np.sum(np.array(above) > 1e-6)} of {len(above)}")


if __name__ == "__main__":
    main()
