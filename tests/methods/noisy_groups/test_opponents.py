"""Opponents in training against the exact kernels on the same rows."""

import numpy as np
import pytest

from fairdash.methods.noisy_groups import project_tv_ball
from fairdash.methods.noisy_groups.dro import AscentInBall
from fairdash.methods.noisy_groups.game import GivenGroups, compress, shrink, slopes
from fairdash.methods.noisy_groups.ideal import WorstSoft
from fairdash.methods.noisy_groups.inputs import SIDES
from fairdash.methods.noisy_groups.soft_method import AscentSoft

NAMES = np.array(["a", "b", "c"])


NONE = np.zeros((1, 3), np.float32)


def table(seed, n=60):
    """Rows of which many are equal, so that merging them matters."""
    rng = np.random.default_rng(seed)
    X = rng.integers(2, size=(n, 3)).astype(np.float32)
    y = rng.integers(2, size=n)
    codes = rng.integers(3, size=n)
    y[:6], codes[:6] = [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]
    return X, y, codes, rng


def scores(rows, rng):
    theta = rng.normal(size=(2, rows.X.shape[1])).astype(np.float32)
    return theta @ rows.X.T


@pytest.mark.parametrize("constraints", list(SIDES))
def test_merged_rows_are_the_training_rows(constraints):
    X, y, codes, _ = table(0)
    rows = compress(X, y, codes, NAMES, SIDES[constraints])
    assert len(rows.share) < len(y)
    np.testing.assert_array_equal(rows.X[rows.of_row, :-1], X)
    np.testing.assert_array_equal(rows.sign[rows.of_row] > 0, y == 1)
    assert rows.share.sum() == pytest.approx(1)
    for side in rows.sides:
        assert side.counts.sum() == side.side.rows(y).sum()
        for j, mine in enumerate(side.groups):
            inside = side.side.rows(y) & (codes == j)
            assert side.counts[mine].sum() == inside.sum()
            assert side.sizes[j] == (codes == j).sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_ascent_projects_as_the_kernel_does(seed):
    X, y, codes, rng = table(seed)
    rows = compress(X, y, codes, NAMES, SIDES["true_positive_rate_parity"])
    (side,) = rows.sides
    gamma = np.array([[0.05, 0.2, 0.5]], np.float32)
    ascent = AscentInBall(side, gamma, np.array([0.02], np.float32))
    ascent._p += 0.03 * rng.normal(size=ascent._p.shape).astype(np.float32) * (seed > 0)
    before = ascent._p.copy()
    ascent._project()
    positive = y == 1
    n = len(side.counts)
    place = rows.of_row[positive] - side.span.start
    for j in range(3):
        outside = np.where(codes == j, before[0, j, n], before[0, j, n + 1])
        z = outside.astype(float)
        z[positive] = before[0, j, place]
        p = project_tv_ball(z, (codes == j) / (codes == j).sum(), float(gamma[0, j]))
        np.testing.assert_allclose(ascent._p[0, j, place], p[positive], atol=2e-5)


def test_climbing_memberships_approach_the_worst_and_keep_total_probability():
    X, y, codes, rng = table(1, 400)
    b = rng.dirichlet(np.full(3, 2.0), size=3).astype(np.float32)[None]
    rows = compress(X, y, codes, NAMES, SIDES["true_positive_rate_parity"])
    (side,) = rows.sides
    phi = scores(rows, rng)[:1, side.span]
    v = np.maximum(-phi, -1)
    first_only = np.array([[1, 0, 0]], np.float32)
    ascent = AscentSoft(side, b, np.array([0.02], np.float32))
    for _ in range(400):
        reached = ascent.answer(v, phi > 0, first_only).mean
    start = AscentSoft(side, b, np.array([0.02], np.float32))
    first = start.answer(v, phi > 0, NONE).mean
    assert reached[0, 0] > first[0, 0] + 0.01
    worst = WorstSoft(side, b).answer(v, phi > 0, first_only).mean
    assert reached[0, 0] <= worst[0, 0] + 0.01
    size = ascent.shares(ascent.cells(v, phi > 0))
    shares = np.einsum("knc,kncj->knj", size, ascent._w)
    np.testing.assert_allclose(shares, b, atol=0.02)


@pytest.mark.parametrize("constraints", list(SIDES))
def test_slopes_are_the_derivative_of_the_lagrangian(constraints):
    X, y, codes, rng = table(4)
    rows = compress(X, y, codes, NAMES, SIDES[constraints])
    opponents = [GivenGroups(side) for side in rows.sides]
    lam = rng.random((1, 3 * len(opponents))).astype(np.float32)
    phi = 1.5 * rng.normal(size=len(y)).astype(np.float32)
    phi = np.round(phi[: len(rows.share)][None], 3) + np.float32(1e-4)
    slope, gap = slopes(rows, opponents, phi, lam)

    def lagrangian(phi):
        whole = phi[rows.of_row]
        value = 0.0
        value += np.maximum(0, 1 - (2 * y - 1) * whole).mean()
        k = 0
        for side in SIDES[constraints]:
            chosen = side.rows(y)
            up = np.maximum(0, 1 + whole)
            low = np.minimum(1, whole)
            for j in range(3):
                mine = chosen & (codes == j)
                if side.sign < 0:
                    g = up[chosen].mean() - low[mine].mean()
                else:
                    g = up[mine].mean() - low[chosen].mean()
                assert gap[0, k] == pytest.approx(g, abs=1e-5)
                value += lam[0, k] * g
                k += 1
        return value

    for i in rng.integers(len(rows.share), size=12):
        step = np.zeros(len(rows.share))
        step[i] = 1e-6
        vertex = phi[0].astype(float)
        numeric = (lagrangian(vertex + step) - lagrangian(vertex - step)) / 2e-6
        assert slope[0, i] == pytest.approx(numeric, abs=1e-5)


def test_multipliers_are_projected_onto_their_budget():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(50, 4)).astype(np.float32)
    projected = shrink(z, 1.0)
    assert (projected >= 0).all()
    assert (projected.sum(axis=1) <= 1 + 1e-6).all()
    for point, near in zip(z, projected, strict=True):
        for another in rng.dirichlet(np.ones(5), size=20)[:, :4]:
            assert (point - near) @ (another - near) <= 1e-5
