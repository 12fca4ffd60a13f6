import pytest
from reading import button, words
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(dataset_id):
    """A finished run on the applicants."""
    return start_training(
        dataset_id, MethodGrid(method="unconstrained", params=QUICK), 1
    )


def address(page):
    """Return the address as plain strings."""
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in page.query_params.items()
    }


def links(page):
    """Return the label of every entry of the menu and the address it leads to."""
    protos = [link.proto for link in page.sidebar.get("page_link")]
    return {proto.label: proto.query_string for proto in protos}


def test_a_run_brings_its_data_set_into_the_address(visit, run_id, dataset_id):
    page = visit("Train", run=run_id)
    assert address(page) == {"run": run_id, "data": dataset_id}


def test_another_data_set_drops_the_run(visit, run_id):
    table = ui.store().add_table(people_csv(seed=1), "others.csv")
    other = ui.store().add_dataset(table, ROLES, "Others")
    page = visit("Train", run=run_id, data=other)
    assert not page.exception
    assert address(page) == {"data": other}
    assert "No model yet" in words(page)


def test_the_menu_has_the_pages_that_exist_and_keeps_the_address(visit, run_id):
    page = visit("Train", run=run_id)
    entries = links(page)
    assert list(entries)[:3] == ["Home", "Data", "Train"]
    assert "Drift" in entries
    assert all(f"run={run_id}" in query for query in entries.values())


def test_a_deleted_run_is_explained_and_left(visit, run_id):
    ui.store().delete_run(run_id)
    page = visit("Train", run=run_id)
    assert not page.exception
    assert page.error[0].proto.title == f"The run {run_id} was not found"
    button(page, "Show what is here").click().run()
    assert not page.exception
    assert not page.error
    assert "run" not in address(page)


def test_the_picker_changes_the_address(visit, dataset_id):
    page = visit("Data")
    page.selectbox[0].set_value(dataset_id).run()
    assert not page.exception
    assert address(page) == {"data": dataset_id}
    page.selectbox[0].set_value("").run()
    assert address(page) == {}
    assert len(page.file_uploader) == 1


def test_of_two_runs_with_one_name_the_one_in_the_address_stays(visit, run_id):
    store = ui.store()
    run, trials = store.run(run_id), store.snapshot(run_id).trials
    again = store.add_run(run.spec, trials, run.name, run.dataset_id)
    store.set_status(again, "finished")
    for opened in (run_id, again):
        page = visit("Local fairness", run=opened)
        picker = page.selectbox[0]
        assert len(set(picker.options)) == 2
        tail = run.name[-12:]  # a long name is cut in the middle
        assert all(option.endswith(tail) for option in picker.options)
        page.run()  # sends every widget's value back, as a click does
        assert not page.exception
        assert address(page)["run"] == opened
