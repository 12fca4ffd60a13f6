"""Runs of methods that earlier versions had: listed, explained, deleted, in no way."""

from types import SimpleNamespace

import pytest
from reading import button, labels

from fairdash import ui
from fairdash.jobs import submit
from fairdash.sweep import SweepSpec
from fairdash.ui import pages

QUICK = {"n_epochs": 3, "batch_size": 128}
PICKS_A_RUN = [page.name for page in pages.pages() if page.pick == "run"]


@pytest.fixture
def plane(dataset_id):
    """A finished run of an earlier version: a trained model, and points of a plane."""
    store = ui.store()
    record = store.dataset_record(dataset_id)
    spec = SweepSpec.model_validate(
        {
            "data": {"table": record.table_sha256, "roles": record.roles, "name": "P"},
            "methods": [{"method": "unconstrained", "params": QUICK}],
            "subgroups": record.subgroups,
        }
    )
    (trained,) = store.snapshot(submit(store, spec, name="Before")).trials
    stored = spec.model_dump(mode="json")
    grid = {"fairness_weight": [0.5, 4.0], "tau": [0.1, 0.6]}
    stored["methods"] += [{"method": "road_plane", "params": grid, "effort": "plane"}]
    points = [
        SimpleNamespace(
            key=f"plane{i}",
            method="road_plane",
            params={"fairness_weight": weight, "tau": 0.1},
            seed=0,
        )
        for i, weight in enumerate(grid["fairness_weight"])
    ]
    run = store.add_run(stored, [trained, *points], "Old plane", dataset_id)
    store.set_status(run, "running")
    for key in (trained.key, *(point.key for point in points)):
        store.put_trial(run, key, row=trained.row, seconds=1.0)
    store.set_status(run, "finished")
    return run


def test_a_page_says_that_the_run_is_no_longer_supported(visit, plane, dataset_id):
    for name in [*PICKS_A_RUN, "Train"]:
        page = visit(name, run=plane)
        assert not page.exception, name
        assert [error.proto.title for error in page.error] == [
            "Old plane is no longer supported"
        ]
        assert "New sweep of this data" in labels(page)
    page = visit("Sweep", run=plane)
    button(page, "New sweep of this data").click().run()
    assert page.query_params["data"] == dataset_id
