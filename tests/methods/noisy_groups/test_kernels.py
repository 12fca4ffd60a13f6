"""Worst cases in closed form against linear programs and certified cases."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from fairdash.methods.noisy_groups import (
    project_tv_ball,
    soft_group_max,
    soft_group_rates,
    tv_ball_max,
    tv_certificate,
)
from fairdash.methods.noisy_groups.worst_case import soft_ratio_max

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "certified.json").read_text())[
        "cases"
    ]
}
PROBLEMS = 40


def case(name):
    return CASES[name]["inputs"], CASES[name]["expected"]


def lp(cost, **constraints):
    solved = linprog(-np.asarray(cost), method="highs", **constraints)
    assert solved.status == 0, solved.message
    return -solved.fun


def tv_program(base, radius, scale=None):
    """The ball in (p, increase, decrease); with ``scale``, times a last variable."""
    n = len(base)
    eye = np.eye(n)
    ones = np.ones((1, n))
    equal = np.block([[eye, -eye, eye], [ones, 0 * ones, 0 * ones]])
    budget = np.hstack([0 * ones, ones, ones])
    if scale is None:
        return {
            "A_eq": equal,
            "b_eq": np.append(base, 1.0),
            "A_ub": budget,
            "b_ub": [2 * radius],
        }
    right = np.append(-base, -1.0)[:, None]
    counted = np.append(scale, np.zeros(2 * n + 1))[None]
    return {
        "A_eq": np.vstack([np.hstack([equal, right]), counted]),
        "b_eq": np.append(np.zeros(n + 1), 1.0),
        "A_ub": np.append(budget, -2 * radius)[None],
        "b_ub": [0.0],
        "bounds": (0, None),
    }


def random_base(rng, n):
    base = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.7)
    base = base + (base.sum() == 0)
    return base / base.sum()


def test_the_ball_maximum_equals_the_linear_program():
    rng = np.random.default_rng(0)
    for _ in range(PROBLEMS):
        n = int(rng.integers(2, 8))
        h = rng.choice([rng.normal(size=n), rng.integers(-1, 2, n).astype(float)])
        base = random_base(rng, n)
        radius = float(rng.choice([0, rng.random(), 1]))
        value, p = tv_ball_max(h, base, radius)
        exact = lp(np.append(h, np.zeros(2 * n)), **tv_program(base, radius))
        assert value == pytest.approx(exact, abs=1e-8)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert np.abs(p - base).sum() <= 2 * radius + 1e-12


def largest_mean(u, counted, base, radius):
    """The Charnes-Cooper program of a mean over the counted points."""
    cost = np.append(u * counted, np.zeros(2 * len(u) + 1))
    return lp(cost, **tv_program(base, radius, counted.astype(float)))


def robust_rates(*rows_and_radius):
    """Return the worst rates of a certificate: a column per rate, a row per group."""
    table = tv_certificate(*rows_and_radius, constraints="equalized_odds")
    return table.pivot(index="group", columns="rate", values="worst")


def test_robust_rates_equal_the_ratio_programs():
    rng = np.random.default_rng(3)
    for _ in range(PROBLEMS):
        n = int(rng.integers(8, 14))
        y, decided = rng.integers(2, size=(2, n))
        groups = rng.integers(2, size=n)
        y[:4], groups[:4] = [0, 1, 0, 1], [0, 0, 1, 1]
        radius = rng.random(2)
        rates = robust_rates(y, decided, groups, radius)
        for j in (0, 1):
            base = (groups == j) / (groups == j).sum()
            low = largest_mean(-decided, y == 1, base, radius[j])
            high = largest_mean(decided, y == 0, base, radius[j])
            assert rates.loc[j, "tpr"] == pytest.approx(-low, abs=1e-8)
            assert rates.loc[j, "fpr"] == pytest.approx(high, abs=1e-8)


def random_soft(rng):
    n_noisy = int(rng.integers(2, 4))
    m = int(rng.integers(2, 4))
    joint = rng.dirichlet(np.ones(4 * n_noisy)).reshape(n_noisy, 4)
    joint[rng.random(joint.shape) < 0.15] = 0
    joint[:, 0] += 1e-3
    joint /= joint.sum()
    return joint, rng.dirichlet(np.ones(m), size=n_noisy)


def test_the_soft_maximum_of_a_group_equals_the_linear_program():
    rng = np.random.default_rng(4)
    for _ in range(PROBLEMS):
        joint, b = random_soft(rng)
        h = rng.choice([rng.normal(size=4), np.array([0.0, 1, 1, -1])])
        j = int(rng.integers(b.shape[1]))
        mine = np.kron(np.eye(len(joint)), np.ones((1, 4))) * joint.ravel()
        budget = joint.sum(axis=1) * b[:, j]
        exact = lp((joint * h).ravel(), A_eq=mine, b_eq=budget, bounds=(0, 1))
        assert soft_group_max(h, joint, b, j) == pytest.approx(exact, abs=1e-8)


def test_a_mean_over_any_cells_is_its_charnes_cooper_program():
    """Ties, groups of no rows and shares that are certain: what goes wrong first."""
    rng = np.random.default_rng(8)
    for problem in range(PROBLEMS):
        k = int(rng.integers(1, 4))
        c = int(rng.integers(2, 4))
        share = rng.dirichlet(np.ones(k * (c + 1))).reshape(k, c + 1)
        size = share[:, :c]
        rest = share[:, c]
        value = rng.normal(size=(k, c))
        if problem % 2:
            value = np.sign(value)
        b = rng.dirichlet(np.ones(2), size=k)
        if problem % 4 == 0:
            b = np.round(b)
        budget = share.sum(axis=1)[:, None] * b
        largest, _ = soft_ratio_max(size, value, rest, budget, budget)
        for j in (0, 1):
            if budget[:, j].sum() < 1e-9:
                continue
            # what is of group j in the cells, in the rest, and one over its rows
            mine = np.kron(np.eye(k), np.ones((1, c)))
            whole = np.column_stack([mine, np.eye(k), -budget[:, j]])
            counted = np.concatenate([np.ones(k * c), np.zeros(k + 1)])
            caps = np.concatenate([size.ravel(), rest])
            exact = lp(
                np.concatenate([value.ravel(), np.zeros(k + 1)]),
                A_eq=np.vstack([whole, counted]),
                b_eq=np.append(np.zeros(k), 1.0),
                A_ub=np.column_stack([np.eye(k * c + k), -caps]),
                b_ub=np.zeros(k * c + k),
                bounds=(0, None),
            )
            assert largest[j] == pytest.approx(exact, abs=1e-8)


def test_certified_cases():
    inputs, expected = case("tv_linear_1")
    value, _ = tv_ball_max(inputs["h"], inputs["phat"], inputs["gamma"])
    assert value == pytest.approx(expected["max_value"], abs=1e-9)

    inputs, expected = case("tv_ratio_01")
    args = [inputs[name] for name in ("y", "yhat", "ghat", "gamma")]
    rates = robust_rates(*args)
    for j in (0, 1):
        for name in ("min_tpr", "max_fpr"):
            wanted = expected[f"group{j}"][name]
            assert rates.loc[j, name[-3:]] == pytest.approx(wanted, abs=1e-9)

    inputs, expected = case("tv_projection")
    p = project_tv_ball(inputs["z"], inputs["phat"], inputs["gamma"])
    np.testing.assert_allclose(p, expected["p"], atol=1e-9)

    inputs, expected = case("soft_linear_1")
    joint = np.array(inputs["P_cell_given_ghat"]) * np.array(inputs["P_ghat"])[:, None]
    b = np.array(inputs["P_g_given_ghat_rows_g"]).T
    value = soft_group_max(inputs["H"], joint, b, inputs["group"])
    assert value == pytest.approx(expected["max_of_sum_k_pi_V_H_w"], abs=1e-9)
    prior = np.array(inputs["P_ghat"]) @ b[:, inputs["group"]]
    assert value / prior == pytest.approx(expected["divide_by_P_G"], abs=1e-9)

    inputs, expected = case("soft_ratio")
    joint = np.array(inputs["P_cell_given_ghat"]) * np.array(inputs["P_ghat"])[:, None]
    rates = soft_group_rates(joint, np.array(inputs["P_g_given_ghat_rows_g"]).T)
    for j in (0, 1):
        for name, wanted in expected[f"group{j}"].items():
            assert rates.loc[j, name] == pytest.approx(wanted, abs=1e-9)


def test_the_projection_is_the_closest_point_of_the_ball():
    """By its optimality: no point of the ball lies on the other side of it."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = int(rng.integers(2, 6))
        base = random_base(rng, n)
        z = rng.normal(size=n)
        radius = float(rng.random() * 0.6)
        p = project_tv_ball(z, base, radius)
        assert p.min() >= -1e-12
        assert p.sum() == pytest.approx(1)
        assert np.abs(p - base).sum() <= 2 * radius + 1e-9
        furthest, _ = tv_ball_max(z - p, base, radius)
        assert furthest <= (z - p) @ p + 1e-9


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: tv_ball_max([0, 1], [0.5, 0.4], 0.1), "`base` must sum to 1, got 0.9"),
        (lambda: tv_ball_max([0, 1], [0.5, 0.5], 1.1), r"in \[0, 1\], got 1.1"),
        (lambda: robust_rates([1, 0], [0, 1], ["a", "a"], [0.1, 0.2]), "the 1 group"),
        (
            lambda: robust_rates([1, 0], [0, 1], ["a", "a"], {"b": 0.1}),
            "`radius` has no entry for the group 'a'",
        ),
        (lambda: robust_rates([1, 2], [0, 1], ["a", "a"], 0), "`y` must hold 0 and 1"),
        (
            lambda: soft_group_rates([[0.25] * 4], [[0.5, 0.5], [1, 0]]),
            "one row for each of the 1 noisy",
        ),
    ],
)
def test_bad_input_names_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()
