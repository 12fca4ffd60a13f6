"""The frame of every page: address, menu, what stops it; names that are markup."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from reading import button, widget, words
from toys import ROLES, people_csv

from fairdash import ui
from fairdash.methods import CATALOG
from fairdash.store import User
from fairdash.ui.widgets import frame

SECRETS = {"auth": {"client_id": "fairdash"}}
QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    """A finished run on the applicants."""
    return trained("unconstrained", **QUICK)


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


def test_the_address_takes_data_from_the_run_and_drops_a_run_of_other_data(
    visit, run_id, dataset_id
):
    page = visit("Train", run=run_id)
    assert address(page) == {"run": run_id, "data": dataset_id}
    entries = links(page)
    assert list(entries)[:3] == ["Home", "Data", "Train"]
    assert all(f"run={run_id}" in query for query in entries.values())
    table = ui.store().add_table(people_csv(seed=1), "others.csv")
    other_data = ui.store().add_dataset(table, ROLES, "Others")
    page = visit("Train", run=run_id, data=other_data)
    assert not page.exception
    assert address(page) == {"data": other_data}
    assert "No model yet" in words(page)


def test_a_deleted_run_is_explained_and_left(visit, run_id):
    ui.store().delete_run(run_id)
    page = visit("Train", run=run_id)
    assert not page.exception
    assert page.error[0].proto.title == f"The run {run_id} was not found"
    button(page, "Show what is here").click().run()
    assert not page.exception
    assert not page.error
    assert "run" not in address(page)


def test_of_two_runs_with_one_name_the_one_in_the_address_stays(visit, run_id):
    store = ui.store()
    run = store.run(run_id)
    trials = store.snapshot(run_id).trials
    again = store.add_run(run.spec, trials, run.name, run.dataset_id)
    store.set_status(again, "finished")
    for opened in (run_id, again):
        page = visit("Local fairness", run=opened)
        picker = page.selectbox[0]
        assert len(set(picker.options)) == 2
        page.run()  # sends every widget's value back, as a click does
        assert not page.exception
        assert address(page)["run"] == opened


def test_a_page_shows_nothing_before_the_login(visit, inline, monkeypatch, page_names):
    monkeypatch.setenv("FAIRDASH_LOGIN", "1")
    for name in page_names:
        page = visit(name)
        assert [title.value for title in page.title] == ["Log in"]
        assert [button.label for button in page.button] == ["Log in"]
        assert not page.dataframe
        assert not page.selectbox
        assert not page.sidebar.get("page_link")


def test_a_run_deleted_while_its_page_draws_is_said(visit, run_id, monkeypatch):
    store = ui.store()
    snapshot = store.snapshot

    def late(*arguments, **options):
        if run_id in {run.id for run in store.runs()}:
            store.delete_run(run_id)
        return snapshot(*arguments, **options)

    monkeypatch.setattr(store, "snapshot", late)
    page = visit("Train", run=run_id)
    assert not page.exception
    titles = [error.proto.title for error in page.error]
    assert titles == [f"The run {run_id} was not found"]


def test_what_nobody_foresaw_has_a_number_on_the_page_and_in_the_log(
    visit, monkeypatch, caplog
):
    def fail(*_):
        raise RuntimeError("the file /home/somebody/secret.csv is away")

    monkeypatch.setattr(frame.selection, "menu_address", fail)
    page = visit("Home")
    (document,) = page.exception
    assert "secret" not in f"{document.message}{document.stack_trace}"
    (number,) = re.findall(r"incident (\w{6})", document.message)
    log = caplog.text
    assert f"incident {number}" in log
    assert "secret.csv" in log
    assert "Traceback" in log


def test_a_page_trains_by_weights_and_says_so(visit, dataset_id, monkeypatch):
    store = ui.store()
    record = store.dataset_record(dataset_id)
    roles = {"sample_weight": "weight", "features": ("age",)}
    frame = store.table(record.table_sha256).assign(weight=2)
    table = store.add_table(frame.to_csv(index=False).encode(), "weighted.csv")
    weighted = record.roles.model_copy(update=roles)
    other_data = store.add_dataset(table, weighted, "Weighted", record.subgroups)
    page = visit("Train", data=other_data)
    assert "Training and figures weigh rows by weight." in words(page)
    widget(page, "number_input", "Seeds").set_value(1).run()
    page.selectbox(key="selection form method").set_value("logistic").run()
    button(page, "Train").click().run()
    assert not page.exception
    assert [run.status for run in store.runs()] == ["finished"]
    unable = replace(CATALOG["logistic"], no_weights="it counts every row once")
    monkeypatch.setitem(CATALOG, "logistic", unable)
    button(page, "Train").click().run()
    assert "it counts every row once" in page.error[0].value


def test_a_user_sees_no_run_of_another_even_by_its_address(
    visit, inline, finished_sweep
):
    claims = {
        mail: {"is_logged_in": True, "sub": mail, "email": mail}
        for mail in ("ann@example.org", "bob@example.org")
    }
    ann = User.of(claims["ann@example.org"])
    run = finished_sweep("hiring", ann.home(inline))
    for mail, user in claims.items():
        page = visit("Sweep", run=run)
        assert page.title[0].value != "Log in"  # there is no login yet
        page.secrets, page.user = {"auth": {"client_id": "fairdash"}}, user
        page.query_params["run"] = run
        page.run()
        assert not page.exception
        assert page.sidebar.button[0].label == "Log out"
        titles = [error.proto.title for error in page.error]
        missing = [f"The run {run} was not found"]
        assert titles == ([] if mail.startswith("ann") else missing)


def test_a_link_of_an_earlier_version_says_what_replaces_it(visit):
    links = [("Home", "shared", "bundle"), ("Runs", "snapshot", "report")]
    for name, parameter, replacement in links:
        page = visit(name, **{parameter: "x" * 22})
        assert not page.exception
        assert page.error[0].proto.title == "This link opens nothing any more"
        assert replacement in page.error[0].value


def test_equal_names_of_the_same_minute_are_numbered_by_age():
    records = [
        SimpleNamespace(id=key, name="Loans", created=created)
        for key, created in (("c", 62.0), ("a", 60.0), ("b", 61.0))
    ]
    alone = SimpleNamespace(id="d", name="Loans", created=600.0)
    names = frame._distinct([*records, alone])
    assert [names[key][-8:] for key in "abc"] == [" · no. 1", " · no. 2", " · no. 3"]
    assert "no." not in names["d"]
    assert len(set(names.values())) == 4
