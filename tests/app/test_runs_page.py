import pytest
from reading import button, figures, words

from fairdash import ui
from fairdash.jobs import pack_runs
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def runs(dataset_id):
    """Two finished runs, the newest first."""
    start_training(dataset_id, MethodGrid(method="unconstrained", params=QUICK), 1)
    start_training(dataset_id, MethodGrid(method="adversarial", params=QUICK), 1)
    return ui.store().runs()


def test_first_visit_says_that_nothing_was_tried(visit):
    page = visit("Runs")
    assert not page.exception
    assert "No run yet" in words(page)


def test_every_run_is_listed_with_its_result(visit, runs):
    page = visit("Runs")
    assert not page.exception
    table = page.dataframe[0].value
    assert table["Run"].tolist() == [run.name for run in runs]
    assert table["Status"].tolist() == [["finished"], ["finished"]]
    accuracy = 100 * runs[0].summary[0]["test_accuracy"]
    assert table["Accuracy"].iloc[0] == pytest.approx(accuracy)
    assert figures(page) == 0


def test_a_bundle_is_imported_and_opened(visit, runs, tmp_path):
    run = runs[0]
    file = tmp_path / "bundle.zip"
    pack_runs(ui.store(), [run.id], file, address="k=2&run=ffff")
    wanted = ui.store().snapshot(run.id).trials[0].row
    for record in runs:
        ui.store().delete_run(record.id)
    page = visit("Runs")
    page.file_uploader[0].upload("none.zip", b"PK", "application/zip").run()
    button(page, "Import").click().run()
    assert not page.exception
    assert "none.zip cannot be used: it is damaged" in words(page)
    page.file_uploader[0].upload("b.zip", file.read_bytes(), "application/zip").run()
    button(page, "Import").click().run()
    assert not page.exception
    assert ui.store().snapshot(run.id).trials[0].row == wanted
    assert page.query_params["run"] == run.id
    assert page.query_params["k"] == "2"
