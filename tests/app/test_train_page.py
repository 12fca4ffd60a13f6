import pytest
from cases import sampled
from reading import button, figures, numbers, widget, words
from streamlit.testing.v1 import AppTest
from toys import ROLES, Question, people_csv

from fairdash import ui
from fairdash.jobs.engine import take
from fairdash.methods import CATALOG, scorers
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}


@pytest.fixture
def run_id(trained):
    """A finished run of ROAD with the baseline beside it."""
    return trained("road", 2, **QUICK)


def test_first_visit_without_a_table_offers_one(visit):
    page = visit("Train")
    assert not page.exception
    assert "No table to train on yet" in words(page)
    button(page, "Open the sample").click().run()
    assert "No model yet" in words(page)


def test_the_form_offers_every_parameter_of_the_catalog(visit, dataset_id):
    page = visit("Train", data=dataset_id)
    assert "No model yet" in words(page)
    kinds = ["slider", "number_input", "selectbox", "text_input", "button_group"]
    for method, entry in CATALOG.items():
        page.selectbox(key="selection form method").set_value(method).run()
        assert not page.exception, method
        labels = {first.label for kind in kinds for first in page.get(kind)}
        usual = {param.name: param.default for param in entry.params}
        offered = {param.title for param in entry.params if param.counts(usual)}
        assert offered <= labels
    page.selectbox(key="selection form method").set_value("reductions").run()
    assert "Ridge penalty (α)" in [first.label for first in page.slider]
    widget(page, "selectbox", "Base model").set_value("gradient_boosting").run()
    assert "Ridge penalty (α)" not in [first.label for first in page.slider]


@pytest.mark.parametrize(
    "method", sampled(["road", "fair_log_loss", "hardt", "noisy_dro", "sensei"], 2)
)
def test_methods_of_every_family_train_from_the_page_and_are_shown(
    visit, dataset_id, method
):
    few = {**QUICK, "n_iterations": 10, "max_iter": 30}
    names = {param.name for param in CATALOG[method].params}
    params = {name: value for name, value in few.items() if name in names}
    run = start_training(dataset_id, MethodGrid(method=method, params=params), 1)
    snapshot = ui.store().snapshot(run)
    assert [trial.reason for trial in snapshot.trials if trial.reason] == []
    page = visit("Train", run=run)
    assert not page.exception
    accuracy = snapshot.table().set_index("method")["test_accuracy"]
    assert page.metric[0].value == f"{accuracy[method]:.1%}"
    script, text = (code.value for code in page.code)
    written = [grid.method for grid in SweepSpec.from_yaml(text).methods]
    assert method in written
    compile(script, "script", "exec")


def test_training_shows_what_changed_against_the_plain_model(visit, dataset_id):
    page = visit("Train", data=dataset_id, opened="training")
    for field in page.number_input:
        if field.label in ("Epochs", "Batch size"):
            field.set_value(
                QUICK["n_epochs" if field.label == "Epochs" else "batch_size"]
            )
    button(page, "Train 3 seeds").click().run()
    assert not page.exception
    (run,) = ui.store().runs()
    assert [entry["method"] for entry in run.summary] == ["road", "unconstrained"]
    road = run.summary[0]
    assert numbers(page)["Accuracy"] == f"{road['test_accuracy']:.1%}"
    assert (
        numbers(page)["Largest local gap"] == f"{100 * road['test_worst_1_di']:.1f} pt"
    )
    assert page.metric[0].delta.endswith("pt")
    page.query_params["opened"] = "training"
    page.run()
    assert figures(page) == 2  # loss, what changed


def test_a_rule_list_is_written_with_what_its_rules_do(visit, dataset_id):
    params = {"tolerance": 0.2, "n_samples": 3, "max_prefixes": 100}
    run = start_training(dataset_id, MethodGrid(method="rule_list", params=params), 1)
    page = visit("Train", run=run, opened=["rules"])
    assert not page.exception
    assert "The rules" in words(page)
    (table,) = [element.value for element in page.dataframe if "Rule" in element.value]
    assert table["Rule"].iloc[0].startswith("if ")
    assert table["Rule"].iloc[-1] == "else"
    assert table["Rows"].sum() == 120
    assert table[["origin: here", "origin: there"]].sum().tolist() == pytest.approx(
        [1, 1]
    )
    model = ui.store().snapshot(run).table().set_index("method").loc["rule_list"]
    right = (table["Right"].fillna(0) * table["Rows"]).sum() / 120
    assert right == pytest.approx(model["test_accuracy"])
    assert "Rule" not in str([d.value for d in visit("Train", run=run).dataframe])


def test_a_result_stands_beside_those_of_earlier_runs(visit, run_id, dataset_id):
    page = visit("Train", run=run_id)
    before = widget(page, "multiselect", "Models").value
    page.selectbox(key="selection form method").set_value("broad").run()
    widget(page, "number_input", "Seeds").set_value(1).run()
    for label, value in (("Epochs", 4), ("Batch size", 128)):
        widget(page, "number_input", label).set_value(value)
    button(page, "Train").click().run()
    assert not page.exception
    after = widget(page, "multiselect", "Models").value
    assert after[:2] == before
    assert len(after) == 3
    assert after[-1].startswith("BROAD")
    assert page.query_params["run"] != run_id
    everywhere = visit("Local fairness", **page.query_params)
    assert widget(everywhere, "multiselect", "Models").value == after


def test_an_impossible_setting_is_explained_and_starts_nothing(
    visit, dataset_id, monkeypatch
):
    def refuse(*arguments, **options):
        raise ValueError("`tau` must be a finite number > 0, got 0.")

    monkeypatch.setattr(ui, "start_training", refuse)
    page = visit("Train", data=dataset_id)
    button(page, "Train 3 seeds").click().run()
    assert not page.exception
    assert r"\`tau\` must be" in page.error[0].value


def test_a_failed_or_cancelled_run_says_why_and_what_was_kept(
    visit, run_id, dataset_id
):
    store = ui.store()
    spec = store.run(run_id).spec
    trials = store.snapshot(run_id).trials
    broken = store.add_run(spec, trials, "Broken", dataset_id)
    store.set_status(broken, "failed", error="Training diverged: lower the rate.")
    page = visit("Train", run=broken)
    assert not page.exception
    assert page.error[0].proto.title == "Broken failed"
    assert "Training diverged" in page.error[0].value
    stopped = store.add_run(spec, trials, "Stopped", dataset_id)
    store.ask_cancel(stopped)
    store.set_status(stopped, "cancelled")
    page = visit("Train", run=stopped)
    assert not page.exception
    assert page.info[0].proto.title.startswith("Cancelled after")
    assert "finished and kept" in page.info[0].value


def test_a_run_in_progress_shows_its_curves_and_can_be_cancelled(
    visit, run_id, dataset_id, monkeypatch
):
    store = ui.store()
    trial = store.snapshot(run_id).trials[0]
    going = store.add_run(store.run(run_id).spec, [trial], "Going", dataset_id)
    monkeypatch.setattr("fairdash.ui.widgets.runs.wake", lambda store: None)
    monkeypatch.setattr("fairdash.jobs._work.wake", lambda store: None)
    store.set_status(going, "running")
    page = visit("Train", run=going)
    assert not page.exception
    assert "safe to close this page" in words(page)
    button(page, "Cancel").click().run()
    assert store.run(going).cancel_asked is not None
    assert button(page, "Cancelling").disabled


def test_every_page_of_a_run_says_that_its_engine_is_starting(
    visit, dataset_id, inline
):
    with take(inline / "engine.lock"):  # as long as it has not said that it is ready
        going = start_training(dataset_id, MethodGrid(method="road"), 1)
        texts = {name: visit(name, run=going) for name in ("Train", "Home", "Runs")}
    assert not any(page.exception for page in texts.values())
    assert "**Engine starting**" in words(texts["Train"])
    assert "Engine starting" in words(texts["Home"])
    (note,) = texts["Runs"].dataframe[0].value["Note"]
    assert note == "Engine starting"


def test_a_page_waits_for_a_database_that_restarts(inline, postgres, postgres_control):
    def script():
        import streamlit as st

        from fairdash import ui

        ui.follow(st.session_state["run"], st.session_state["draw"])

    control = postgres_control[0]
    store = ui.store()
    data = store.add_dataset(store.add_table(people_csv(), "p.csv"), ROLES, "People")
    page = AppTest.from_function(script)
    page.session_state["run"] = store.add_run({}, [Question("a")], "R", data)
    page.session_state["draw"] = lambda snapshot: control("stop") or store.runs()
    page.run()
    control("start")
    assert not page.exception
    assert "Waits for Postgres" in words(page)
    store.close()


def test_a_base_model_of_which_scores_alone_are_kept_opens_on_every_page(
    visit, dataset_id, monkeypatch, page_names, thorough
):
    for module in ("bases", "hardt"):
        name = f"fairdash.methods.classical.{module}.as_scorer"
        monkeypatch.setattr(name, scorers.Unkept)
    params = {"estimator": "gradient_boosting"}
    run = start_training(dataset_id, MethodGrid(method="hardt", params=params), 1)
    (trial,) = [t for t in ui.store().snapshot(run).trials if t.method == "hardt"]
    assert trial.params["estimator"] == "gradient_boosting"
    assert ui.store().artifact(trial.key).network() == {}
    models = {model.label for model in ui.known_models(dataset_id, run)}
    assert models == {"Unconstrained", "Hardt (Gradient boosting) ε 0"}
    for name in page_names if thorough else page_names[1::3]:
        page = visit(name, run=run)
        assert not page.exception, name
