"""Pages after a sweep over two methods: they speak of one model, and none fails."""

import pytest
from reading import drawn, widget, words

from fairdash import ui
from fairdash.audits import choices, training, trials


@pytest.fixture
def models(two_methods):
    """The models of the sweep."""
    return trials.known_models_of(ui.store(), [two_methods])


@pytest.fixture
def opens_on(monkeypatch, two_methods, models):
    """Return a function by which the sweep opens on a model of a method."""

    def go(method):
        first = next(model for model in models if model.method == method)
        monkeypatch.setattr(choices, "notable", lambda *_, **__: [first])
        return first

    return go


def test_weights_open_on_a_model_that_has_them_and_name_the_one_without(
    visit, two_methods, opens_on
):
    without = opens_on("adversarial")
    page = visit("Weights", run=two_methods)
    assert not page.exception
    assert widget(page, "button_group", "Model").value.startswith("ROAD")
    assert f"{without.label} has no weights. Shown are those of ROAD" in words(page)


def test_weights_say_nothing_of_models_where_the_sweep_opens_on_one_with_them(
    visit, two_methods, opens_on
):
    first = opens_on("road")
    page = visit("Weights", run=two_methods)
    assert not page.exception
    assert widget(page, "button_group", "Model").value == first.label
    assert "has no weights" not in words(page)


@pytest.mark.parametrize("method", ["unconstrained", "adversarial", "road"])
def test_training_draws_the_losses_of_the_model_looked_at(
    visit, two_methods, models, method
):
    model = [one for one in models if one.method == method][-1]
    page = visit("Train", run=two_methods, model=model.id, opened="training")
    assert not page.exception
    losses = training.curves(ui.store(), model.trials)["loss"]
    lines = [trace.get("y") for trace in drawn(page, -1)["data"]]
    assert pytest.approx(losses.tolist()) in lines
    assert f"{model.label}, mean of 2 seeds." in words(page)
