"""One optimisation step against an independent computation in NumPy."""

import numpy as np
import pytest
import torch

from fairdash.methods import BROAD, ROAD, AdversarialDebiasing
from fairdash.methods.network import Batch, Groups
from methods import numpy_game


@pytest.fixture(autouse=True)
def double_precision():
    """Adam divides tiny gradients by themselves: single precision would show."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


CLASSES = {"zhang": AdversarialDebiasing, "road": ROAD, "broad": BROAD}


def make_rows(n_groups, n=70, d=5):
    rng = np.random.default_rng(n_groups)
    s = rng.integers(n_groups, size=n)
    X = rng.normal(size=(n, d)) + s[:, None] / 2
    y = rng.integers(2, size=n)
    batch = Batch(
        torch.tensor(X), torch.tensor(y).double(), Groups(torch.tensor(s), n_groups)
    )
    return X, y, s, batch


def flat(network):
    return np.concatenate([p.ravel() for p in (*network.weights, *network.biases)])


def flat_numpy(net):
    return np.concatenate([p.ravel() for p in (*net.W, *net.b)])


@pytest.mark.parametrize("n_groups", [2, 3])
@pytest.mark.parametrize("constraints", ["demographic_parity", "equalized_odds"])
@pytest.mark.parametrize(
    "method, normalisation",
    [
        ("zhang", None),
        ("road", "conditional"),
        ("road", "global"),
        ("broad", "conditional"),
        ("broad", "global"),
    ],
)
def test_two_steps_equal_an_independent_computation(
    method, normalisation, constraints, n_groups
):
    X, y, s, batch = make_rows(n_groups)
    rate = 0.01
    params = {"learning_rate": rate, "n_adversary_steps": 3}
    if normalisation:
        params["normalisation"] = normalisation
    if method == "road":
        params["n_ratio_steps"] = 3
    points = [(0.7, 0.2), (2.5, 0.9)]
    models = [
        CLASSES[method](constraints, fairness_weight=lam, **params)
        if method == "zhang"
        else CLASSES[method](constraints, fairness_weight=lam, tau=tau, **params)
        for lam, tau in points
    ]
    trainer = models[0]._trainer_class(
        models, batch, seeds=[1, 2, 3], device=torch.device("cpu")
    )
    stacks = [trainer.predictor, trainer.adversary]
    stacks += [trainer.ratio] if method == "road" else []
    expected = [
        [numpy_game.Net(stack.networks()[i], rate) for stack in stacks]
        for i in range(2)
    ]
    with torch.no_grad():
        for _ in range(2):
            trainer.step(batch)
    for i, (lam, tau) in enumerate(points):
        f, g, *r = expected[i]
        for _ in range(2):
            numpy_game.step(
                method,
                f,
                g,
                r[0] if r else None,
                X,
                y,
                s,
                n_groups=n_groups,
                lam=lam,
                tau=tau,
                odds=constraints == "equalized_odds",
                conditional=normalisation != "global",
                k_g=3,
                k_r=3,
            )
        for stack, net in zip(stacks, expected[i], strict=True):
            after = flat(stack.networks()[i])
            np.testing.assert_allclose(after, flat_numpy(net), rtol=0, atol=1e-7)
            assert np.abs(after - flat_numpy(net.start)).max() > 1.5 * rate


def test_road_with_a_very_large_tau_is_zhang():
    _, _, _, batch = make_rows(2)

    def trained(model):
        trainer = model._trainer_class(
            [model], batch, seeds=[1, 2, 3], device=torch.device("cpu")
        )
        with torch.no_grad():
            if isinstance(model, ROAD):  # r starts at random: let it find its minimum
                loss = trainer.group_loss(batch)
                for _ in range(400):
                    trainer.fit_ratio(loss, batch)
            for _ in range(20):
                trainer.step(batch)
        return flat(trainer.predictor.networks()[0])

    zhang = trained(AdversarialDebiasing(fairness_weight=3))
    far = [
        np.abs(trained(ROAD(fairness_weight=3, tau=tau)) - zhang).max()
        for tau in (0.1, 1, 100, 1e6)
    ]
    assert far == sorted(far, reverse=True)
    assert far[3] < 1e-5 < 1e-3 < far[0]


def test_a_batch_without_one_of_the_groups_is_no_obstacle():
    _, _, s, batch = make_rows(2)
    trainer = ROAD._trainer_class(
        [ROAD()], batch, seeds=[1, 2, 3], device=torch.device("cpu")
    )
    with torch.no_grad():
        losses = trainer.step(batch[torch.tensor(np.flatnonzero(s == 1))])
    assert all(torch.isfinite(loss).all() for loss in losses.values())
    assert np.isfinite(flat(trainer.predictor.networks()[0])).all()


def test_log_weights_survive_extreme_logits():
    groups = Groups(torch.tensor([0, 0, 1, 1]), 2)
    weights = groups.log_weights(torch.tensor([[1e4, 1e4, -1e4, -1e4 - 1]])).exp()
    np.testing.assert_allclose(weights[0, :2], 1, atol=1e-6)
    expected = 2 * np.array([1, np.exp(-1)]) / (1 + np.exp(-1))
    np.testing.assert_allclose(weights[0, 2:], expected, atol=1e-4)


def warming(warm_up):
    """A stack of one model and of one with a warm-up, not yet trained."""
    _, _, _, batch = make_rows(2)
    models = [
        AdversarialDebiasing(fairness_weight=weight, warm_up=share)
        for weight, share in ((3.0, warm_up), (2.0, 0.0))
    ]
    return models[0]._trainer_class(
        models, batch, seeds=[1, 2, 3], device=torch.device("cpu")
    )


@pytest.mark.parametrize(
    "done, weight", [(0.0, 0.0), (0.1, 0.75), (0.3, 2.25), (0.4, 3.0), (0.9, 3.0)]
)
def test_the_fairness_weight_rises_in_a_line_and_then_stays(done, weight):
    trainer = warming(0.4)
    trainer.begin_epoch(done)
    assert trainer.fairness_weight[:, 0].tolist() == pytest.approx([weight, 2.0])
