from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from toys import ROLES, people, people_csv, specification

from fairdash.datasets import Subgroups, encode, split, training_rows
from fairdash.methods import CATALOG, Network, scorer_of
from fairdash.metrics import evaluate
from fairdash.sweep import SweepSpec, expand, planning, run_sweep, score, train_stack
from fairdash.sweep._train import load_dataset


@pytest.fixture
def path(tmp_path):
    (tmp_path / "people.csv").write_bytes(people_csv())
    return tmp_path / "people.csv"


def train(spec, max_models=16, **more):
    dataset = load_dataset(spec.data)
    stacks = planning.plan(expand(spec, dataset.key), max_models=max_models)
    results = [train_stack(stack, dataset, **more) for stack in stacks]
    return dataset, [result for stack in results for result in stack]


def test_a_sweep_is_one_row_per_trial_with_metrics_of_both_parts(path):
    spec = specification(path, seeds=[0, 1])
    table = run_sweep(spec)
    dataset = load_dataset(spec.data)
    assert table["key"].tolist() == [t.key for t in expand(spec, dataset.key)]
    assert table["method"].tolist() == ["unconstrained", "road", "road"] * 2
    assert table["fairness_weight"].dropna().tolist() == [0.5, 2.0] * 2
    for seed, rows in table.groupby("seed"):
        parts = split(dataset, seed)
        assert (rows["validation_n"] == len(parts.validation)).all()
        assert (rows["test_n"] == len(parts.test)).all()
    assert table["test_worst_1_di"].notna().all()
    pd.testing.assert_frame_equal(
        run_sweep(spec).drop(columns="seconds"), table.drop(columns="seconds")
    )


def test_models_are_ranked_by_local_gaps_of_all_rows_but_the_test_rows(path):
    spec = specification(path)
    dataset = load_dataset(spec.data)
    parts = split(load_dataset(spec.data), 0)
    scores = np.random.default_rng(0).random((1, dataset.n_rows), np.float32)
    (ranked,) = score(dataset, 0, scores, spec.subgroups)["ranking_local_gap"]
    rows = pd.DataFrame(
        {
            "subgroup": spec.subgroups.label(dataset.frame),
            "group": dataset.sensitive_features,
            "decided": scores[0] > 0.5,
        }
    ).iloc[[*parts.train, *parts.validation]]
    by_group = rows.groupby(["subgroup", "group"], observed=True)["decided"].mean()
    gaps = by_group.groupby("subgroup", observed=True).agg(np.ptp)
    sizes = rows["subgroup"].value_counts()
    gaps = gaps[sizes[gaps.index] >= spec.subgroups.min_size]
    expected = np.average(gaps**2, weights=sizes[gaps.index]) ** 0.5
    assert ranked == pytest.approx(expected)
    scores[:, parts.test] = 0
    assert score(dataset, 0, scores, spec.subgroups)["ranking_local_gap"][0] == ranked


def test_scores_are_probabilities_of_all_rows_from_the_kept_network(path):
    dataset, results = train(specification(path))
    X = encode(dataset, split(dataset, 0).train).X
    for result in results:
        assert result.scores.shape == (dataset.n_rows,)
        assert result.scores.dtype == np.float32
        logits = Network.from_arrays(result.network).logits(X)
        np.testing.assert_allclose(result.scores, 1 / (1 + np.exp(-logits)), atol=1e-6)


def test_training_rows_count_by_their_sampling_weights(tmp_path):
    path = tmp_path / "people.csv"
    people().assign(weight=lambda p: p["age"] % 3).to_csv(path)
    road = {"fairness_weight": [0.5, 2.0], "n_epochs": 2, "batch_size": 128}
    methods = [{"method": "logistic"}, {"method": "road", "params": road}]
    data = {"path": str(path), "roles": replace(ROLES, sample_weight="weight")}
    dataset, results = train(specification(path, methods=methods, data=data))
    assert len(results) == 3
    rows = split(dataset, 0).train
    X = encode(dataset, rows).X
    for result in results:
        model = CATALOG[result.trial.method].estimator(result.trial.params, 0)
        model.fit(
            X[rows],
            dataset.y[rows],
            sensitive_features=dataset.sensitive_features[rows],
            sample_weight=dataset.frame["weight"][rows],
        )
        np.testing.assert_allclose(result.scores, model.predict_proba(X)[:, 1], 1e-5)


def test_missing_numbers_stay_missing_for_the_models_that_take_them(tmp_path):
    path = tmp_path / "people.csv"
    frame = people()
    results = {}
    frame["skill"] = frame["skill"].mask(frame["skill"] > 0.5)
    frame.to_csv(path, index=False)
    boosted = {"method": "reweighing", "params": {"estimator": "gradient_boosting"}}
    spec = specification(
        path, methods=[{"method": "logistic"}, {"method": "gradient_boosting"}, boosted]
    )
    for missing in ("keep", "impute"):
        roles = ROLES.model_copy(update={"missing": missing})
        data = spec.data.model_copy(update={"roles": roles})
        dataset, trained = train(spec.model_copy(update={"data": data}))
        results[missing] = {result.trial.method: result for result in trained}
    train_rows = split(dataset, 0).train
    encoded = encode(dataset, train_rows)
    for method, stored in results["keep"].items():
        filled = results["impute"][method]
        assert stored.trial.key != filled.trial.key
        assert np.array_equal(stored.scores, filled.scores) is (method == "logistic")
        again = scorer_of(stored.network).positive(encoded.X, dataset.group)
        np.testing.assert_allclose(again, stored.scores, atol=1e-6)
    X = encoded.X.copy()
    X[frame["skill"].isna(), encoded.feature_names.index("skill")] = np.nan
    model = HistGradientBoostingClassifier(random_state=0)
    model.fit(X[train_rows], dataset.y[train_rows])
    stored = results["keep"]["gradient_boosting"]
    np.testing.assert_allclose(stored.scores, model.predict_proba(X)[:, 1], atol=1e-6)


def test_however_a_sweep_is_cut_in_stacks_the_models_have_the_same_bits(path):
    params = {"fairness_weight": [0.5, 2, 5], "tau": [0.1, 0.6], "n_epochs": 20}
    grid = {"method": "road", "params": params | {"batch_size": 128}}
    _, together = train(specification(path, methods=[grid]))
    _, cut = train(specification(path, methods=[grid]), max_models=4)
    results = {result.trial.key: result for result in cut}
    assert len(results) == 6
    for trained in together:
        alone = results[trained.trial.key]
        assert trained.scores.tobytes() == alone.scores.tobytes()
        assert trained.ratio.tobytes() == alone.ratio.tobytes()
        assert trained.history.equals(alone.history)
        for name, array in trained.network.items():
            assert array.tobytes() == alone.network[name].tobytes()


def test_scores_are_measured_on_rows_training_never_saw(path):
    dataset, results = train(specification(path))
    subgroups = Subgroups(columns=("branch",), min_size=10)
    scores = np.stack([result.scores for result in results])
    table = score(dataset, 0, scores, subgroups)
    test = split(dataset, 0).test
    labels = dataset.frame["branch"].to_numpy()[test]
    expected = evaluate(
        dataset.y[test],
        scores[:, test],
        sensitive_features=dataset.sensitive_features[test],
        subgroups=labels,
        min_size=10,
    )
    assert table["test_worst_1_di"].tolist() == expected["worst_1_di"].tolist()
    assert table["test_accuracy"].tolist() == expected["accuracy"].tolist()


def test_events_tell_the_curves_and_the_weights(path):
    events = []
    _, results = train(specification(path), report=events.append)
    last = {event["key"]: event for event in events}
    assert last.keys() == {result.trial.key for result in results}
    for result in results:
        event = last[result.trial.key]
        assert event["epoch"] == event["n_epochs"] == 4
        curves = event["curves"]
        assert curves["epoch"][0] == 1
        assert curves["epoch"][-1] == 4
        assert {"loss", "validation_loss"} <= curves.keys()
        assert len({len(values) for values in curves.values()}) == 1
        at_epoch = result.history.set_index("epoch").loc[4]
        assert curves["validation_loss"][-1] == pytest.approx(
            at_epoch["validation_loss"]
        )
        adversarial = result.trial.method != "unconstrained"
        assert ("adversary_loss" in curves) == adversarial


def test_a_stack_stops_within_an_epoch(path):
    spec = specification(path)
    dataset = load_dataset(spec.data)
    for stack in planning.plan(expand(spec, dataset.key)):
        asked = []

        def stopped(asked=asked):
            asked.append(1)
            return len(asked) == 2

        options = {"stopped": stopped}
        assert train_stack(stack, dataset, **options) is None
        assert len(asked) == 2


@pytest.mark.parametrize("method", ["noisy_dro", "noisy_ideal"])
def test_a_cancel_reaches_a_method_for_noisy_groups_while_it_trains(method, path):
    long = {"n_rounds": 200} if method == "noisy_ideal" else {"max_iter": 3000}
    spec = specification(path, methods=[{"method": method, "params": long}])
    dataset = load_dataset(spec.data)
    calls = []
    (stack,) = planning.plan(expand(spec, dataset.key))

    def stopped():
        calls.append(1)
        return len(calls) == 3

    options = {"stopped": stopped}
    assert train_stack(stack, dataset, **options) is None
    assert len(calls) == 3


def test_a_missing_file_and_an_uploaded_table_are_explained(path):
    with pytest.raises(ValueError, match="There is no file"):
        run_sweep(specification(path.with_name("nobody.csv")))
    spec = specification(path)
    uploaded = spec.data.model_copy(update={"path": None, "table": "0f"})
    with pytest.raises(ValueError, match="uploaded to the store"):
        run_sweep(spec.model_copy(update={"data": uploaded}))


def test_a_subsample_trains_and_all_other_rows_are_measured(path):
    spec = specification(path, seeds=[0, 1], train_rows=100)
    assert SweepSpec.from_yaml(spec.to_yaml()) == spec
    table = run_sweep(spec)
    dataset, results = train(spec, train_rows=100)
    parts = split(dataset, 0)
    assert (table["test_n"] == len(parts.test)).all()
    assert (table["validation_n"] == len(parts.validation)).all()
    road = next(trained for trained in results if trained.ratio is not None)
    assert road.scores.shape == (dataset.n_rows,)
    assert len(road.ratio) == 100
    groups = dataset.sensitive_features[training_rows(dataset, road.trial.seed, 100)]
    for name in dataset.group_names:
        assert road.ratio[groups == name].mean() == pytest.approx(1, abs=1e-5)


def test_large_data_are_scored_part_by_part_with_the_same_scores(path, monkeypatch):
    methods = [{"method": "logistic"}, {"method": "hardt"}]
    spec = specification(path, methods=methods)
    _, whole = train(spec)
    monkeypatch.setattr("fairdash.datasets._encode.PART_ROWS", 170)
    _, parts = train(spec)
    for whole_result, part_result in zip(whole, parts, strict=True):
        np.testing.assert_allclose(whole_result.scores, part_result.scores, rtol=1e-5)
