import json
from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from cases import sampled
from toys import ROLES, people, people_csv
from typer.testing import CliRunner

import fairdash
from fairdash.audits import gaps, portable, trials
from fairdash.audits.trials.rows import rows_of
from fairdash.brought import OnnxModel, can_be_onnx
from fairdash.cli import app
from fairdash.datasets import Subgroups, read_table, split
from fairdash.methods import CATALOG
from fairdash.scored import ScoredModel, Trained

KINDS = {
    "unconstrained": {"n_epochs": 2},
    "fair_log_loss": {},
    "hardt": {},
    "noisy_ideal": {"n_rounds": 3},
    "forest": {"n_estimators": 3},
    "rule_list": {"tolerance": 0.3, "n_samples": 3, "max_prefixes": 100},
}


@pytest.mark.parametrize("method", sampled(KINDS, 2))
def test_a_model_taken_away_scores_the_uploaded_file_as_its_trial_did(
    store, dataset, model_of, method, tmp_path
):
    model = model_of(method, KINDS[method])
    path = tmp_path / "model.zip"
    path.write_bytes(portable.as_portable(model).to_bytes("# For people"))
    raw = read_table(people_csv(), name="people.csv").iloc[dataset.row_number]
    proba = fairdash.load(path).predict_proba(raw)
    stored_scores = store.artifact(model.key).scores()
    np.testing.assert_allclose(proba[:, 1], stored_scores, atol=1e-6)
    np.testing.assert_allclose(proba.sum(1), 1)
    assert len(repr(fairdash.load(path))) < 700
    whole = portable.as_portable(model)
    np.testing.assert_array_equal(proba, whole.predict_proba(raw))
    data = store.datasets()[0].id
    decided = rows_of(store, data, None, Subgroups()).predictions(
        ScoredModel(Trained(model.key))
    )
    if CATALOG[method].mixture:
        assert (decided != (proba[:, 1] > 0.5)).any()
    else:
        np.testing.assert_array_equal(decided, proba[:, 1] > 0.5)
    np.testing.assert_array_equal(whole.predict(raw), decided)
    some = raw.sample(50, random_state=0)
    np.testing.assert_array_equal(
        fairdash.load(path).predict(some), pd.Series(decided, raw.index)[some.index]
    )
    path.write_bytes(replace(whole, threshold=0.3).to_bytes())
    np.testing.assert_array_equal(fairdash.load(path).predict(raw), proba[:, 1] > 0.3)


@pytest.mark.parametrize("method", ["unconstrained", "logistic"])
def test_an_onnx_file_scores_rows_as_the_model_did(store, dataset, model_of, method):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert can_be_onnx(method)
    model = portable.as_portable(model_of(method, KINDS.get(method, {})))
    content = model.to_onnx()
    # new rows too: missing, unseen, and far outside of what was trained on
    rows = dataset.frame.sample(200, random_state=0)[[*dataset.roles.features]]
    rows.iloc[::7, 0] = np.nan
    rows.iloc[::5, 1] = 1e30
    rows.iloc[::3, 2] = "elsewhere"
    rows.iloc[::11, 2] = None
    wanted = model.predict_proba(rows)
    probabilities = OnnxModel(content).predict_proba(rows)
    np.testing.assert_allclose(probabilities, wanted, atol=1e-6)
    session = onnxruntime.InferenceSession(content)
    feed = {name: rows[[name]].to_numpy(float) for name in ("age", "skill")}
    text = rows[["branch"]].fillna("").to_numpy(object)
    (direct,) = session.run(None, {**feed, "branch": text})
    np.testing.assert_allclose(direct, wanted, atol=1e-6)


@pytest.mark.parametrize(
    "method", sampled(["hardt", "forest", "reductions", "rule_list"], 2)
)
def test_a_model_that_looks_at_groups_or_rows_is_no_onnx_file(model_of, method):
    assert not can_be_onnx(method)
    with pytest.raises(ValueError, match=r"fairdash\.load"):
        portable.as_portable(model_of(method, {})).to_onnx()


def test_new_rows_are_prepared_and_read_as_the_table_was(store, train):
    recode = {"kind": "recode", "column": "branch", "changes": {"works": "plant"}}
    fields = ROLES.model_dump(exclude_defaults=True)
    roles = type(ROLES)(**fields, preparation=(recode,), types={"skill": "category"})
    record = store.datasets()[0]
    store.add_dataset(record.table_sha256, roles, "Recoded")
    dataset = store.dataset(store.datasets()[0].id)
    assert dataset.frame["branch"].isin(["plant"]).any()
    run = train({"logistic": {}})
    model = portable.exported(store, run)
    raw = read_table(people_csv(), name="people.csv")
    (trial,) = store.snapshot(run).trials
    stored_scores = store.artifact(trial.key).scores()
    np.testing.assert_allclose(
        model.score(raw.iloc[dataset.row_number]), stored_scores, 1e-6
    )
    np.testing.assert_allclose(model.score(dataset.frame), stored_scores, 1e-6)


def test_predictions_of_counts_say_how_many_people_a_row_stands_for(store, train):
    cells = people().groupby(["hired", "origin", "branch"]).size()
    counts = cells.rename("n").reset_index()
    table = store.add_table(counts.to_csv(index=False).encode(), "counts.csv")
    roles = ROLES.model_copy(
        update={"features": ("branch",), "subgroup_columns": (), "count": "n"}
    )
    store.add_dataset(table, roles, "Counts")
    data = store.datasets()[0].id
    run = train({"logistic": {}})
    predicted = portable.predictions(store, run)
    assert predicted.groupby("row")["people"].sum().tolist() == counts["n"].tolist()
    test = predicted[predicted["part"] == "test"]
    right = np.average(test["outcome"] == test["decision"], weights=test["people"])
    (trial,) = store.snapshot(run).trials
    assert right == pytest.approx(trial.row["test_accuracy"])
    (model,) = trials.known_models(store, data, run)
    local = gaps.local_by_measure(store, [model], data, Subgroups())
    assert local.row["n"] == test["people"].sum()


def changed(path, end=b"", text="", **facts):
    with ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    card = text or json.dumps(json.loads(files["model.json"]) | facts)
    weights = files["model.safetensors"]
    with ZipFile(path, "w") as archive:
        archive.writestr("model.json", card)
        archive.writestr("model.safetensors", weights[: len(weights) - len(end)] + end)


def test_what_is_no_such_file_or_was_changed_is_refused(model_of, tmp_path):
    path = tmp_path / "model.zip"
    path.write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match="is no model of fairdash"):
        fairdash.load(path)
    content = portable.as_portable(model_of("logistic", {})).to_bytes()
    path.write_bytes(content)
    changed(path, format=2, fairdash="9.0")
    with pytest.raises(ValueError, match=r"written by fairdash 9\.0"):
        fairdash.load(path)
    path.write_bytes(content)
    changed(path, end=b"abcd")
    with pytest.raises(ValueError, match=r"is not what model\.json describes"):
        fairdash.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": "[" * 50_000}, "nested too deeply"),
        ({"text": '{"format": ' + "9" * 5000 + "}"}, "Not valid JSON"),
        ({"text": "{\n  oops"}, "Not valid JSON, line 2"),
        ({"text": "[]"}, "is no model of fairdash, or is damaged"),
        ({"roles": {"target": 10**400}}, "positive: "),
        ({"groups": 10**400}, "is no model of fairdash, or is damaged"),
        ({"thresholds": []}, "thresholds of its own"),
    ],
)
def test_a_changed_card_is_refused_in_words_of_no_library(
    model_of, tmp_path, change, message
):
    path = tmp_path / "model.zip"
    path.write_bytes(portable.as_portable(model_of("logistic", {})).to_bytes())
    changed(path, **change)
    with pytest.raises(ValueError, match=message) as error:
        fairdash.load(path)
    assert len(str(error.value).replace(str(path), "")) < 400
    assert "http" not in str(error.value)


def test_the_shell_exports_a_model_and_scores_a_file(store, train, tmp_path):
    run = train({"unconstrained": {"n_epochs": 2}, "logistic": {}}, seeds=(0, 1))
    out = tmp_path / "model.zip"
    table = tmp_path / "people.csv"
    table.write_bytes(people_csv())

    def call(*arguments):
        return CliRunner().invoke(app, list(map(str, arguments)))

    words = call(
        "model", "export", run, "--model", "Logistic", "--seed", 1, "--out", out
    )
    assert words.exit_code == 0, words.output
    assert "Logistic, seed 1" in words.output
    with ZipFile(out) as archive:  # for people
        card = archive.read("README.md").decode()
    assert card.startswith("---\nlibrary_name: fairdash")
    rows = tmp_path / "rows.parquet"
    words = call(
        "model", "export", run, "--model", "Logistic", "--seed", 1, "--out", rows
    )
    assert words.exit_code == 0, words.output
    rows = pd.read_parquet(rows)
    dataset = store.dataset(store.run(run).dataset_id)
    (trial,) = (
        t for t in store.snapshot(run).trials if (t.method, t.seed) == ("logistic", 1)
    )
    np.testing.assert_array_equal(
        rows["probability"], store.artifact(trial.key).scores()
    )
    for part, row_numbers in split(dataset, 1)._asdict().items():
        assert (rows.index[rows["part"] == part] == np.sort(row_numbers)).all()
    right = (rows["decision"] == rows["outcome"])[rows["part"] == "test"].mean()
    assert right == pytest.approx(trial.row["test_accuracy"])
    words = call("model", "predict", out, table, "--out", tmp_path / "scored.csv")
    assert words.exit_code == 0, words.output
    scored = pd.read_csv(tmp_path / "scored.csv")["score"]
    wanted = fairdash.load(out).predict_proba(read_table(table))[:, 1]
    np.testing.assert_allclose(scored, wanted, atol=1e-12)
    onnx = tmp_path / "model.onnx"
    words = call(
        "model", "export", run, "--model", "Logistic", "--seed", 1, "--out", onnx
    )
    assert words.exit_code == 0, words.output
    np.testing.assert_allclose(
        fairdash.load(onnx).predict_proba(read_table(table))[:, 1], wanted, atol=1e-6
    )
    assert portable.exported(store, run).facts["method"] == "logistic"
    for wrong in (("--model", "ROAD"), ("--seed", 7)):
        refused = call("model", "export", run, *wrong, "--out", out)
        assert refused.exit_code == 2
        assert "Logistic" in refused.output
