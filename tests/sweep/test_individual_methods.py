"""SenSeI, SenSR and CLP through a sweep: names of columns reach them as text."""

import numpy as np
import pandas as pd
import pytest
from toys import ROLES, people, specification

from fairdash.methods import SenSeI
from fairdash.metrics import comparable_directions
from fairdash.sweep import expand, load_dataset, planning, run_sweep, train_stack

QUICK = {"n_epochs": 2, "batch_size": 128}


def test_they_train_in_a_sweep_with_columns_named_in_text(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    free = {**QUICK, "metric": "columns", "columns": "branch, age"}
    methods = [
        {"method": "sensei", "params": {**free, "fairness_weight": [0.0, 5.0]}},
        {"method": "sensr", "params": {**QUICK, "fair_radius": [0.0, 0.1]}},
        {"method": "clp", "params": {**QUICK, "metric": "both", "columns": "branch"}},
    ]
    rows = run_sweep(specification(path, methods=methods))
    assert rows["method"].tolist() == [*("sensei", "sensei", "sensr", "sensr", "clp")]
    assert np.isfinite(rows["test_balanced_accuracy"]).all()
    assert rows["columns"].iloc[0] == "branch, age"


def embeddings(n_pairs=150, d=8, seed=0):
    """Return texts as numbers, each twice: with a name of either group in it."""
    rng = np.random.default_rng(seed)
    name = np.linalg.qr(rng.normal(size=(d, 1)))[0][:, 0]
    text = rng.normal(size=(n_pairs, d))
    numbers = np.vstack([text - 2 * name, text + 2 * name])
    frame = pd.DataFrame(numbers, columns=[f"e{i}" for i in range(d)])
    good = text[:, 0] + rng.logistic(scale=0.3, size=n_pairs) > 0
    y = np.concatenate([good, good & (rng.random(n_pairs) < 0.7)])
    return frame.assign(
        pair=np.tile(np.arange(n_pairs), 2),
        origin=np.repeat(["here", "there"], n_pairs),
        hired=np.where(y, "yes", "no"),
    )


def comparable_spec(path, **params):
    frame = embeddings()
    frame.to_csv(path, index=False)
    features = tuple(name for name in frame if name.startswith("e"))
    roles = ROLES.model_copy(update={"features": features, "subgroup_columns": ()})
    settings = {"n_epochs": 20, "batch_size": 64, "metric": "comparable", **params}
    return specification(
        path,
        methods=[{"method": "sensei", "params": settings}],
        data={"path": str(path), "roles": roles, "name": "Texts"},
        subgroups={"columns": []},
    )


def test_a_column_of_pairs_makes_their_members_alike(tmp_path):
    spec = comparable_spec(
        tmp_path / "texts.csv",
        comparable="pair",
        n_directions=1,
        fairness_weight=[0.0, 20.0],
    )
    dataset = load_dataset(spec.data)
    (stack,) = planning.plan(expand(spec, dataset.key))
    free, fair = (r.scores for r in train_stack(stack, dataset))
    first, second = free.reshape(2, -1)
    distance = np.abs(first - second).mean()
    first, second = fair.reshape(2, -1)
    assert np.abs(first - second).mean() < distance / 2


def test_a_column_that_is_not_there_is_named(tmp_path):
    spec = comparable_spec(tmp_path / "texts.csv", comparable="twin")
    with pytest.raises(ValueError, match="`comparable` is 'twin', which is no column"):
        run_sweep(spec)


def test_in_python_the_rows_are_given():
    frame = embeddings()
    X = frame.filter(regex="^e")
    y = frame["hired"] == "yes"
    groups = {"sensitive_features": frame["origin"]}
    few = {"metric": "comparable", "n_epochs": 1, "random_state": 0}
    with pytest.raises(ValueError, match="give `comparable_rows` in Python"):
        SenSeI(**few).fit(X, y, **groups)
    model = SenSeI(comparable_rows=frame["pair"], n_directions=1, **few)
    metric = model.fit(X, y, **groups).fair_metric_
    np.testing.assert_allclose(
        metric.sigma,
        comparable_directions(X, frame["pair"], list(X), n_directions=1).sigma,
        atol=1e-5,
    )
