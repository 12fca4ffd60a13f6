"""Pages after a sweep over two methods: they speak of one model, and none fails."""

import pytest
from reading import drawn, widget, words

from fairdash import ui
from fairdash.audits import choices, gaps, training, trials
from fairdash.datasets import Subgroups


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
    model = [candidate for candidate in models if candidate.method == method][-1]
    page = visit("Train", run=two_methods, model=model.id, opened="training")
    assert not page.exception
    losses = training.curves(ui.store(), model.trials)["loss"]
    lines = [trace.get("y") for trace in drawn(page, -1)["data"]]
    assert pytest.approx(losses.tolist()) in lines
    assert f"{model.label}, mean of 2 seeds." in words(page)


def test_runs_show_the_figures_of_the_model_a_sweep_opens_on(two_methods):
    store = ui.store()
    (row,) = training.run_table(store, [store.run(two_methods)]).to_dict("records")
    model = choices.opened_on(store, two_methods)
    place = (
        store.run(two_methods).dataset_id,
        Subgroups(columns=("branch",), min_size=20),
    )
    (means,) = gaps.metrics_by_setting(store, [model], *place).to_dict("records")
    assert row["Model"] == model.label
    assert row["Accuracy"] == pytest.approx(100 * means["accuracy"])
    assert row["Gap"] == pytest.approx(100 * means["demographic_parity_difference"])
    assert row["Largest local gap"] == pytest.approx(100 * means["worst_1_di"])


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_seed_is_offered_where_there_are_several(visit, trained, seeds):
    run = trained("road", seeds, n_epochs=2, batch_size=128, fairness_weight=1.0)
    page = visit("Weights", run=run)
    assert not page.exception
    popovers = [block.proto.popover.label for block in page.get("popover")]
    assert sum("Seed" in label for label in popovers) == seeds - 1
