import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize, minimize_scalar

from fairdash.postprocessing import covariance_threshold, ramp_threshold

CASES = json.loads((Path(__file__).parent / "certified_ramps.json").read_text())
RAMPS = [case for case in CASES["cases"] if case["kind"] == "ramp"]
COVARIANCES = [case for case in CASES["cases"] if case["kind"] == "cov"]


def ramp(scores, t, gamma):
    return np.clip((np.asarray(scores) - t) / gamma, 0, 1)


def objective(h, scores, gamma, weight):
    return float(weight @ (gamma / 2 * h**2 - scores * h))


@pytest.mark.parametrize("case", RAMPS, ids=lambda case: case["name"])
def test_certified_ramps_are_met(case):
    given_ = case["input"]
    gamma = given_["gamma"]
    rho = float(Fraction(given_["rho"]))
    for k, expected in enumerate(case["output"]):
        scores = expected.get("f") or given_["scores"][k]
        mass = expected.get("mass")
        weight = None if mass is None else [float(Fraction(m)) for m in mass]
        t = ramp_threshold(scores, gamma, rho, given_["eps"], weight)
        low, high = expected["t_set"]
        assert low - 1e-9 <= t <= high + 1e-9
        assert t == pytest.approx(expected["t"], abs=1e-9)
        assert ramp(scores, t, gamma) == pytest.approx(expected["q"], abs=1e-9)


@pytest.mark.parametrize("case", COVARIANCES, ids=lambda case: case["name"])
def test_certified_covariances_are_met(case):
    given_ = case["input"]
    expected = case["output"]
    inside = np.array(given_["S"])
    scores = np.array(given_["scores"])
    gamma = given_["gamma"]
    t = covariance_threshold(scores, inside, gamma, given_["eps"])
    assert t == pytest.approx(expected["t"], abs=1e-9)
    h = np.clip((scores - t * (inside - inside.mean())) / gamma, 0, 1)
    assert h == pytest.approx(expected["q"], abs=1e-9)
    assert np.cov(h, inside, ddof=0)[0, 1] == pytest.approx(expected["cov"], abs=1e-9)


def draw_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    kinds = [
        rng.uniform(-1, 1, n),
        rng.choice([-1, -0.5, 0, 0.3, 1], n),
        np.clip(rng.normal(0, 2, n), -1, 1),
    ]
    weight = rng.choice([0.0, 1.0, 2.5, 0.1], n)
    weight[0] = 1
    gamma = float(10 ** rng.uniform(-3, np.log10(2)))
    rate = float(rng.choice([rng.uniform(), 0, 1, rng.integers(0, n + 1) / n]))
    return kinds[seed % 3], weight, gamma, rate


@pytest.mark.parametrize("seed", range(40))
def test_random_ramps_have_the_rate_and_the_least_objective(seed):
    scores, weight, gamma, rate = draw_problem(seed)
    t = ramp_threshold(scores, gamma, rate, 0.0, weight)
    h = ramp(scores, t, gamma)
    assert np.average(h, weights=weight) == pytest.approx(rate, abs=1e-10)
    # strong duality: the dual function of the rate is a lower bound of the objective
    total = weight.sum()

    def dual(multiplier):
        best = ramp(scores, multiplier, gamma)
        value = objective(best, scores, gamma, weight)
        return -(value + multiplier * (weight @ best - rate * total))

    optimum = minimize_scalar(
        dual, bounds=(-1 - gamma, 1 + gamma), method="bounded", options={"xatol": 1e-11}
    )
    assert objective(h, scores, gamma, weight) == pytest.approx(-optimum.fun, abs=1e-8)


def least_objective(scores, codes, weight, gamma, rate, tolerance):
    """The quadratic program of all groups at once, by a general solver.

    With weight w, minimise the sum of w (gamma h^2 / 2 - f h) over 0 <= h <= 1 with
    every group's weighted mean of h within half the tolerance of the rate.
    """
    sums = np.array([(codes == k) * weight for k in np.unique(codes)])
    means = sums / sums.sum(axis=1, keepdims=True)
    scale = gamma * weight.sum()
    limits = [{"type": "eq", "fun": lambda h: means @ h - rate, "jac": lambda h: means}]
    if tolerance:
        limits = [
            {
                "type": "ineq",
                "fun": lambda h, side=side: tolerance / 2 - side * (means @ h - rate),
                "jac": lambda h, side=side: -side * means,
            }
            for side in (-1, 1)
        ]
    optimum = minimize(
        lambda h: weight @ (gamma / 2 * h**2 - scores * h) / scale,
        np.full(len(scores), rate),
        jac=lambda h: weight * (gamma * h - scores) / scale,
        bounds=[(0, 1)] * len(scores),
        constraints=limits,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert optimum.success or optimum.status == 8, optimum.message
    return optimum.fun * scale


@pytest.mark.parametrize("n_groups", [2, 5, 20])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 2.0])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_all_groups_together_meet_a_general_solver(gamma, n_groups, tolerance):
    rng = np.random.default_rng(n_groups)
    n = 3 * n_groups
    codes = np.arange(n) % n_groups
    scores = rng.uniform(-1, 1, n).round(1)  # ties
    weight = rng.choice([0.5, 1.0, 2.0], n)
    rate = 0.45
    h = np.empty(n)
    for k in range(n_groups):
        rows = codes == k
        t = ramp_threshold(scores[rows], gamma, rate, tolerance, weight[rows])
        h[rows] = ramp(scores[rows], t, gamma)
        mean = np.average(h[rows], weights=weight[rows])
        assert abs(mean - rate) <= tolerance / 2 + 1e-10
    best = least_objective(scores, codes, weight, gamma, rate, tolerance)
    assert objective(h, scores, gamma, weight) == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("seed", range(60))
def test_the_optimality_conditions_hold_to_rounding(seed):
    scores, weight, gamma, rate = draw_problem(seed)
    tolerance = float(np.random.default_rng(seed).choice([0.0, 0.05, 0.3]))
    t = ramp_threshold(scores, gamma, rate, tolerance, weight)
    h = ramp(scores, t, gamma)
    heavy = weight > 0
    mean = np.average(h, weights=weight)
    # stationary: gamma h - f + t is 0 inside, pushes outwards at the bounds
    slope = (gamma * h - scores + t)[heavy]
    inside = (h[heavy] > 1e-12) & (h[heavy] < 1 - 1e-12)
    assert np.abs(slope[inside]).max(initial=0) < 1e-12
    assert (slope[h[heavy] <= 1e-12] >= -1e-12).all()
    assert (slope[h[heavy] >= 1 - 1e-12] <= 1e-12).all()
    # complementary: a multiplier only where its side of the band is touched
    low = max(rate - tolerance / 2, 0.0)
    high = min(rate + tolerance / 2, 1.0)
    assert low - 1e-10 <= mean <= high + 1e-10
    if t > 0:
        assert mean == pytest.approx(high, abs=1e-10)
    if t < 0:
        assert mean == pytest.approx(low, abs=1e-10)


def test_whole_weights_are_repeated_rows():
    scores = np.array([-0.9, -0.1, 0.2, 0.7])
    repeats = np.array([3, 1, 2, 2])
    weighted = ramp_threshold(scores, 0.3, 0.45, 0.0, repeats)
    repeated = ramp_threshold(np.repeat(scores, repeats), 0.3, 0.45)
    assert weighted == pytest.approx(repeated, abs=1e-12)


def test_of_many_thresholds_the_one_nearest_0_is_taken():
    assert ramp_threshold([-1, -0.8, 0.9, 1], 0.1, 0.5) == 0
    assert ramp_threshold([0.3, 0.4, 0.9, 1], 0.1, 0.5) == pytest.approx(0.4)
    assert ramp_threshold([-1, -0.9, -0.4, -0.3], 0.1, 0.5) == pytest.approx(-0.5)


def odd_problem(seed):
    """Few rows: ties, constants, a group of a single row, unequal weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 15))
    scores = [
        rng.uniform(-1, 1, n),
        rng.choice([-1, -0.2, 0, 0.4, 1], n),
        np.full(n, rng.choice([-0.3, 0.0, 0.6])),
    ][seed % 3]
    inside = rng.random(n) < 0.5
    inside[:2] = True, False
    if seed % 4 == 0:
        inside[1:] = False
    weight = rng.choice([0.5, 1.0, 3.0], n) if seed % 2 else np.ones(n)
    return scores, inside, weight, float(rng.choice([0.05, 0.3, 1.5]))


def least_by_solver(scores, weight, gamma, moments, low, high):
    """Least objective over 0 <= h <= 1 with low <= moments @ h <= high."""
    scale = gamma * weight.sum()
    optimum = minimize(
        lambda h: weight @ (gamma / 2 * h**2 - scores * h) / scale,
        np.full(len(scores), 0.5),
        jac=lambda h: weight * (gamma * h - scores) / scale,
        bounds=[(0, 1)] * len(scores),
        constraints=LinearConstraint(moments, low, high),
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert optimum.success or optimum.status == 8, optimum.message
    return optimum.fun * scale


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(12))
def test_covariance_control_is_the_quadratic_program(seed, tolerance):
    scores, inside, weight, gamma = odd_problem(seed)
    t = covariance_threshold(scores, inside, gamma, tolerance, weight)
    z = inside - np.average(inside, weights=weight)
    h = ramp(scores, t * z, gamma)
    moments = weight * z / weight.sum()
    assert abs(moments @ h) <= tolerance + 1e-10
    best = least_by_solver(scores, weight, gamma, moments, -tolerance, tolerance)
    assert objective(h, scores, gamma, weight) == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0.2, 1.2], 0.1, 0.5), r"\[-1, 1\]; 1 rows are not, .* row 1"),
        (([0.2, np.nan], 0.1, 0.5), "row 1"),
        (([], 0.1, 0.5), "one vector of numbers"),
        ((["a", "b"], 0.1, 0.5), "one vector of numbers"),
        (([0.2, 0.3], 0, 0.5), "`gamma`"),
        (([0.2, 0.3], 0.1, 1.5), "`rate`"),
        (([0.2, 0.3], 0.1, 0.5, -1), "`tolerance`"),
        (([0.2, 0.3], 0.1, 0.5, 0, [0, 0]), "`sample_weight`"),
        (([0.2, 0.3], 0.1, 0.5, 0, [1, -1]), "first is -1.0 in row 1"),
    ],
)
def test_a_ramp_refuses_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        ramp_threshold(*arguments)


def test_a_covariance_needs_both_kinds_of_rows():
    with pytest.raises(ValueError, match="true for some rows"):
        covariance_threshold([0.1, 0.2], [1, 1], 0.1)
