"""Opponents and certificates against linear programs on hostile random problems.

Values with ties, constants, groups of one row, radii from 0 to 1: what a closed form
gets wrong first.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

from fairdash.methods.noisy_groups.dro import WorstInBall
from fairdash.methods.noisy_groups.game import compress
from fairdash.methods.noisy_groups.inputs import SIDES
from fairdash.methods.noisy_groups.soft_method import WorstSoft

PROBLEMS = 24  # remainders by 2, 3 and 4, which `problem` looks at, twice
CONSTRAINTS = list(SIDES)
RADII = (0.0, 0.05, 0.5, 0.9, 0.999, 1.0)
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


def worst_in_ball(u, counted, base, radius):
    """The ratio's Charnes-Cooper program in (p, increase, decrease, scale)."""
    n = len(base)
    eye, zero = np.eye(n), np.zeros(n)
    shape = np.hstack([eye, -eye, eye, -base[:, None]])
    total = np.concatenate([np.ones(n), zero, zero, [-1.0]])
    scale = np.concatenate([counted, zero, zero, [0.0]])
    budget = np.concatenate([zero, np.ones(2 * n), [-2 * radius]])
    return maximum(
        np.concatenate([counted * u, zero, zero, [0.0]]),
        A_eq=np.vstack([shape, total, scale]),
        b_eq=np.concatenate([zero, [0.0, 1.0]]),
        A_ub=budget[None],
        b_ub=[0.0],
    )


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


@pytest.mark.parametrize("constraints", CONSTRAINTS)
def test_the_opponent_in_the_ball_is_the_linear_program(constraints):
    for seed in range(PROBLEMS):
        rng, rows, y, codes, m, phi = problem(seed, constraints)
        radius = rng.choice(RADII, size=(2, m)).astype(np.float32)
        multiplier = rng.random((2, m)).astype(np.float32)
        for side in rows.sides:
            v = side.side.sign * phi[:, side.span]
            answer = WorstInBall(side, radius).answer(v, v > 0, multiplier)
            whole = side.side.sign * phi[:, rows.of_row].astype(float)
            counted = side.side.rows(y).astype(float)
            for model, j in np.ndindex(2, m):
                base, gamma = (codes == j) / (codes == j).sum(), float(radius[model, j])
                exact = worst_in_ball(whole[model], counted, base, gamma)
                assert answer.mean[model, j] == pytest.approx(exact, abs=2e-6), seed
            # the pull is the weight of each row: the means once more
            np.testing.assert_allclose(
                (answer.pull * v).sum(axis=1),
                (multiplier * answer.mean).sum(axis=1),
                atol=1e-5,
            )


@pytest.mark.parametrize("constraints", CONSTRAINTS)
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
                        [counted & (codes == k) & (yes == one) for one in (False, True)]
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
