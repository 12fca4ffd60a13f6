import pytest
from reading import button, labels, numbers, words

from fairdash import ui
from fairdash.jobs import submit
from fairdash.methods import PLANES
from fairdash.sweep import SweepSpec
from fairdash.ui._sweep_form import PAPER, Axes, sweep_spec
from fairdash.ui._sweep_form import QUICK as QUICK_GRID

QUICK = {"n_epochs": 3, "batch_size": 128, "n_settings": 4}
GRID = {"fairness_weight": [0.5, 4.0], "tau": [0.1, 0.6]}


@pytest.fixture
def run_id(dataset_id):
    """A finished sweep of a plane over two seeds."""
    record = ui.store().dataset_record(dataset_id)
    spec = SweepSpec.model_validate(
        {
            "data": {"table": record.table_sha256, "roles": record.roles, "name": "P"},
            "methods": [
                {"method": "unconstrained", "params": {"n_epochs": 3}},
                {"method": "road", "effort": "plane", "params": {**QUICK, **GRID}},
            ],
            "seeds": [0, 1],
            "subgroups": record.subgroups,
            "di_limit": 0.5,
        }
    )
    return submit(ui.store(), spec, name="Plane")


def sliders(page):
    """Return the continuous sliders of λ and τ."""
    return {w.label: w for w in page.slider if "(" in w.label}


def notes(page):
    """Return what stands under the first three cards."""
    return [metric.proto.delta_description for metric in page.metric][:3]


def stand_at(page, weight, tau):
    sliders(page)["Fairness weight (λ)"].set_value(weight)
    sliders(page)["Locality (τ)"].set_value(tau).run()
    assert not page.exception


def test_the_grid_of_a_plane_is_labelled_and_its_sliders_are_continuous(visit, run_id):
    assert ui.store().run(run_id).status == "finished"
    page = visit("Sweep", run=run_id)
    assert not page.exception
    assert "ROAD (plane): any setting, approximately" in words(page)
    assert "approximation" in words(page)
    rows = ui.store().snapshot(run_id).table()
    stand_at(page, 4.0, 0.6)  # a grid point: the page evaluates what the sweep stored
    mine = rows[(rows["fairness_weight"] == 4.0) & (rows["tau"] == 0.6)]
    assert len(mine) == 2
    assert numbers(page)["Accuracy"] == f"{mine['test_accuracy'].mean():.1%}"
    assert numbers(page)["Worst-1-DI"] == f"{mine['test_worst_1_di'].mean():.3f}"
    stand_at(page, 1.25, 0.335)  # between the points
    assert "ROAD (plane) λ 1.25 τ 0.335" in words(page)


def test_a_setting_is_trained_exactly_on_request_and_shown_beside(visit, run_id):
    page = visit("Sweep", run=run_id)
    stand_at(page, 1.25, 0.335)
    effort = next(w for w in page.get("button_group") if w.label == "Exact training")
    effort.set_value("fast").run()
    assert set(notes(page)) == {"approximation"}
    button(page, "Train this setting exactly").click().run()
    assert not page.exception
    newest = ui.store().runs()[0]
    assert newest.status == "finished"
    (grid,) = newest.spec["methods"]
    assert (grid["method"], grid["effort"]) == ("road", "fast")
    assert newest.spec["seeds"] == [0, 1]
    accuracy = ui.store().snapshot(newest.id).table()["test_accuracy"].mean()
    assert notes(page)[0] == f"exactly {accuracy:.1%}"
    assert "Train this setting exactly" not in labels(page)
    stand_at(page, 2.5, 0.335)
    assert "Train this setting exactly" in labels(page)


def test_the_form_offers_the_plane_for_the_methods_that_have_one(visit, dataset_id):
    page = visit("Sweep", data=dataset_id)
    group = {w.label: w for w in page.get("button_group")}
    assert not [label for label in group if "(plane)" in label]
    group["Effort"].set_value("plane")
    group["Methods"].set_value(["road", "broad"]).run()
    assert not page.exception
    assert "No plane of BROAD: trained at every setting, fast." in words(page)
    assert "51 models: about" in words(page)


@pytest.mark.parametrize("axes", [QUICK_GRID, PAPER], ids=["quick", "paper"])
def test_a_preset_goes_to_the_end_of_the_range_of_a_plane(dataset_id, axes):
    chosen = ["adversarial", "road", "broad"]
    spec = sweep_spec(dataset_id, chosen, axes, effort="plane", n_seeds=1)
    asked = {
        grid.method: max(grid.params["fairness_weight"]) for grid in spec.methods[1:]
    }
    (top,) = {
        param.default
        for plane in PLANES.values()
        for param in plane.params
        if param.name == "max_fairness_weight"
    }
    assert asked == {"adversarial_plane": top, "road_plane": top, "broad": 5.0}
    own = Axes((1.0, 3.0), (0.1,))
    spec = sweep_spec(dataset_id, ["road"], own, effort="plane", n_seeds=1)
    assert spec.methods[1].params["fairness_weight"] == own.weights
