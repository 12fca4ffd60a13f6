"""Worst soft memberships against linear programs on hostile random problems.

Values with ties, constants, groups of one row: what a closed form gets wrong first.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairdash.methods.noisy_groups.game import compress
from fairdash.methods.noisy_groups.ideal import WorstSoft
from fairdash.methods.noisy_groups.inputs import SIDES

PROBLEMS = 24  # remainders by 2, 3 and 4, which `problem` looks at, twice
VALUES = {
    "normal": lambda rng, n: rng.uniform(-1, 1, n),
    "ties": lambda rng, n: rng.choice([-1.0, 0.25, 1.0], n),
    "constant": lambda rng, n: np.full(n, rng.uniform(-1, 1)),
    "two": lambda rng, n: rng.choice([-0.5, 0.5], n),
}


def maximum(cost, **constraints):
    found = linprog(-cost, method="highs", bounds=(0, None), **constraints)
    assert found.status == 0, found.message
    return -found.fun


def worst_soft(size, value, rest, budget):
    """The ratio's Charnes-Cooper program in (x of cells, x of the rest, scale)."""
    n, c = size.shape
    total = np.zeros((n, n * c + n + 1))
    for k in range(n):
        total[k, k * c : (k + 1) * c] = total[k, n * c + k] = 1
        total[k, -1] = -budget[k]
    caps = np.column_stack(
        [np.eye(n * c + n), -np.concatenate([size.ravel(), rest])[:, None]]
    )
    scale = np.concatenate([np.ones(n * c), np.zeros(n + 1)])
    return maximum(
        np.concatenate([value.ravel(), np.zeros(n + 1)]),
        A_eq=np.vstack([total, scale]),
        b_eq=np.append(np.zeros(n), 1.0),
        A_ub=caps,
        b_ub=np.zeros(len(caps)),
    )


def problem(seed, constraints):
    """Rows, groups of which some have one row, and scores of two models."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 4)), int(rng.integers(6, 14))
    y, codes = rng.integers(2, size=n), np.zeros(n, int)
    y[: 2 * m], codes[: 2 * m] = np.tile([0, 1], m), np.repeat(np.arange(m), 2)
    codes[2 * m :] = rng.integers(m, size=n - 2 * m) if seed % 3 else 0
    X = np.arange(n, dtype=np.float32)[:, None]
    if seed % 2:
        X = rng.integers(3, size=(n, 1)).astype(np.float32)
    names = np.arange(m)
    rows = compress(X, y, codes, names, SIDES[constraints])
    draw = list(VALUES.values())[seed % len(VALUES)]
    phi = np.stack([draw(rng, len(rows.share)) for _ in range(2)]).astype(np.float32)
    return rng, rows, y, codes, m, phi


@pytest.mark.parametrize("constraints", ["equalized_odds", "demographic_parity"])
def test_the_soft_opponent_is_the_linear_program(constraints):
    for seed in range(PROBLEMS):
        rng, rows, y, codes, m, phi = problem(seed, constraints)
        b = rng.dirichlet(np.ones(2), size=m)
        if seed % 4 == 0:
            b = np.round(b)  # a noisy group that is one group for certain
        multiplier = rng.random((2, 2)).astype(np.float32)
        for side in rows.sides:
            v = side.side.sign * phi[:, side.span]
            decided = phi[:, side.span] > 0
            soft = WorstSoft(side, np.repeat(b[None], 2, 0).astype(np.float32))
            answer = soft.answer(v, decided, multiplier)
            counted = side.side.rows(y)
            for model, j in np.ndindex(2, 2):
                u = side.side.sign * phi[model, rows.of_row].astype(float)
                yes = phi[model, rows.of_row] > 0
                cells = np.array(
                    [
                        [counted & (codes == k) & (yes == d) for d in (False, True)]
                        for k in range(m)
                    ]
                )
                size = cells.mean(axis=2)
                mean = (cells @ u) / np.maximum(cells.sum(axis=2), 1)
                rest = np.array([(~counted & (codes == k)).mean() for k in range(m)])
                budget = np.bincount(codes, minlength=m) / len(codes) * b[:, j]
                if min(size.sum(), budget.sum()) < 1e-6:
                    continue  # the group has no rows at all
                exact = worst_soft(size, mean, rest, budget)
                assert answer.mean[model, j] == pytest.approx(exact, abs=5e-6), seed
