"""Counterparts are rows a table can hold, within the radius exactly as shown."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cases import paired
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from fairdash.audits import AuditedModel, AuditRows, worst_counterparts
from fairdash.audits.counterparts import ColumnChange
from fairdash.datasets import Roles, make_dataset
from fairdash.methods import Network
from fairdash.metrics import FairMetric, group_directions, ignore_columns

KINDS = {
    "unconstrained": {"n_epochs": 4, "batch_size": 128},
    "fair_log_loss": {},
    "hardt": {},
    "forest": {"n_estimators": 8, "max_depth": 4},
}
ALL = np.arange(120)


def metric_of(rows, columns=("branch",)):
    names = rows.encoder.feature_names
    return group_directions(rows.train, rows.train_groups, names, columns=columns)


def shown(rows, line):
    """Return a person and its counterpart, one row each, as the table has them."""
    person = rows.frame.iloc[[line.place]].reset_index(drop=True)
    counterpart = person.astype(object)
    for column, _, after in line.changes:
        counterpart[column] = after
    return person, counterpart.astype(person.dtypes)


@pytest.mark.parametrize(
    ("method", "radius"), paired(list(KINDS), [0.0, 2.0], together=1)
)
def test_every_line_is_a_row_of_table_values_within_the_radius(
    model_of, method, radius
):
    model = model_of(method, KINDS[method])
    rows, metric = model.rows, metric_of(model.rows)
    table = worst_counterparts(
        model, rows, metric=metric, fair_radius=radius, places=ALL
    )
    assert len(table) > 60
    for line in table.iloc[::3].itertuples():
        person, counterpart = shown(rows, line)
        assert line.changes
        for change in line.changes:
            assert change.after in rows.dataset.frame[change.column].tolist()
            assert change.before == person[change.column].iloc[0] != change.after
        place = np.array([line.place])
        assert model.probability(person, place)[0] == pytest.approx(line.before)
        assert model.probability(counterpart, place)[0] == pytest.approx(line.after)
        encode = rows.encoder.transform
        distance = metric.distance(encode(person), encode(counterpart))[0]
        assert distance == pytest.approx(line.fair_distance, abs=1e-12)
        assert distance <= radius + 1e-9
    turned = (table["before"] > 0.5) != (table["after"] > 0.5)
    assert (turned == table["decision_changed"]).all()
    numbers = rows.dataset.row_number[rows.where[table["place"]]] + 1
    assert (table["row"] == numbers).all()


@pytest.mark.parametrize("method", ["fair_log_loss", "hardt"])
def test_a_free_column_is_searched_at_least_as_far_as_its_flip(model_of, method):
    model = model_of(method, KINDS[method])
    rows = model.rows
    metric = ignore_columns(["branch"], rows.encoder.feature_names)
    table = worst_counterparts(model, rows, metric=metric, fair_radius=0.0)
    table = table.set_index("place")
    p = model.scorer.positive(*rows.test)
    turned = [
        (model.probability(rows.frame.assign(branch=branch)) > 0.5) != (p > 0.5)
        for branch in ("office", "works")
    ]
    assert len(table) == 120  # everyone has the other branch
    assert (table["fair_distance"] <= 1e-9).all()
    changed = table["decision_changed"].sort_index().to_numpy()
    np.testing.assert_array_equal(changed, np.max(turned, axis=0))


@pytest.fixture(scope="module")
def small():
    """Return people of few values, so that all rows of table values can be tried."""
    rng = np.random.default_rng(3)
    n = 160
    frame = pd.DataFrame(
        {
            "years": rng.integers(0, 9, n),
            "grade": rng.integers(0, 5, n).astype(float),
            "kind": rng.choice(["a", "b", "c"], n),
            "sex": rng.choice(["f", "m"], n),
            "origin": rng.choice(["here", "there"], n),
            "hired": rng.choice(["yes", "no"], n),
        }
    )
    frame.loc[::7, "grade"] = np.nan
    roles = Roles(
        target="hired",
        positive="yes",
        sensitive_feature="origin",
        features=("years", "grade", "kind", "sex"),
    )
    return AuditRows.of(make_dataset(frame, roles, name="small"), 0)


def network_of(rows, seed):
    rng = np.random.default_rng(seed)
    d = len(rows.encoder.feature_names)
    weights = [rng.normal(size=(d, 8)), rng.normal(size=(8, 1))]
    return AuditedModel(
        "k",
        "unconstrained",
        Network([w.astype("f4") for w in weights], [np.zeros(8), np.zeros(1)]),
        rows,
    )


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("radius", [0.0, 3.0])
def test_the_search_finds_nearly_what_trying_every_row_finds(small, seed, radius):
    model = network_of(small, seed)
    metric = ignore_columns(["sex"], small.encoder.feature_names)
    table = worst_counterparts(model, small, metric=metric, fair_radius=radius)
    table = table.set_index("place")
    encode = small.encoder.transform
    frame = small.frame
    values = [sorted(small.dataset.frame[name].dropna().unique()) for name in frame]
    all_people = pd.DataFrame(list(product(*values)), columns=list(frame))
    Z = encode(all_people)
    p = model.probability(all_people)
    before = model.scorer.positive(small.test.X)
    best = []
    exact = []
    for place in range(small.n):
        person_row = frame.iloc[[place]]
        candidates = Z
        q = p
        if person_row["grade"].isna().any():  # who lacks a value may go on without it
            blank = encode(all_people.assign(grade=np.nan))
            candidates = np.vstack([Z, blank])
            q = np.r_[p, model.scorer.positive(blank)]
        difference = metric.distance(encode(person_row), candidates)
        differs = (np.abs(candidates - encode(person_row)) > 1e-6).any(1)
        near = (difference <= radius + 1e-9) & differs
        assert near.any()
        changed = (q[near] > 0.5) != (before[place] > 0.5)
        exact.append(changed.any())
        best.append(table.loc[place, "decision_changed"])
    assert np.mean(best) >= np.mean(exact) - 0.02
    assert not (np.array(best) & ~np.array(exact)).any()


def test_no_counterpart_is_missing_unless_the_person_was(small):
    metric = ignore_columns(["sex"], small.encoder.feature_names)
    changes = []
    for seed in range(4):
        model = network_of(small, seed)
        table = worst_counterparts(model, small, metric=metric, fair_radius=20.0)
        changes += [change for line in table["changes"] for change in line]
    assert not [change for change in changes if pd.isna(change.after)]
    came = [change for change in changes if pd.isna(change.before)]
    assert came  # who lacked a value may have one
    assert str(came[0]).startswith("grade: (missing) → ")


def test_without_a_row_within_the_radius_nobody_is_counted(small):
    model = network_of(small, 0)
    names = small.encoder.feature_names
    odd = np.random.default_rng(0).normal(size=(len(names), 1))
    metric = FairMetric.ignoring(names, odd)
    assert worst_counterparts(model, small, metric=metric, fair_radius=1e-6).empty


def test_a_metric_or_rows_of_another_kind_are_refused(small):
    model = network_of(small, 0)
    d = len(small.encoder.feature_names)
    reduced = ignore_columns(["a"], ["a", *(f"x{i}" for i in range(1, d))])
    with pytest.raises(ValueError, match=r"`metric` is of the \d+ columns"):
        worst_counterparts(model, small, metric=reduced, fair_radius=0.1)
    with pytest.raises(ValueError, match="`fair_radius` must be"):
        worst_counterparts(model, small, metric=reduced, fair_radius=-1)
    metric = ignore_columns(["sex"], small.encoder.feature_names)
    rows = AuditRows.of(small.dataset, 1)
    with pytest.raises(ValueError, match="must be its own"):
        worst_counterparts(model, rows, metric=metric, fair_radius=0.1)
    with pytest.raises(ValueError, match="'kind' is not"):
        worst_counterparts(
            LogisticRegression(), small.frame, metric=metric, fair_radius=0.1
        )


def test_a_model_brought_along_is_searched_over_the_rows_given():
    rng = np.random.default_rng(0)
    race = rng.integers(0, 3, 200)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 60, 200) / 10,
            **{f"race={k}": (race == i).astype(float) for i, k in enumerate("ABC")},
        }
    )
    y = rng.random(200) < expit(X["age"] - 4 + 2 * X["race=A"])
    model = LogisticRegression().fit(X, y)
    metric = ignore_columns(["race"], list(X))
    table = worst_counterparts(model, X, metric=metric, fair_radius=0.0)
    levels = [
        X.assign(**{f"race={k}": float(k == level) for k in "ABC"}) for level in "ABC"
    ]
    p = np.stack([model.predict_proba(level)[:, 1] for level in levels])
    scores = model.predict_proba(X)[:, 1]
    turned = ((p > 0.5) != (scores > 0.5)).any(0)
    assert len(table) == 200
    changed = table.set_index("row")["decision_changed"].sort_index()
    np.testing.assert_array_equal(changed, turned)
    assert {c.column for line in table["changes"] for c in line} == {"race"}
    assert {c.after for line in table["changes"] for c in line} <= set("ABC")
    with pytest.raises(ValueError, match="`metric` is of the columns"):
        worst_counterparts(
            model, X.iloc[:, [1, 0, 2, 3]], metric=metric, fair_radius=0.0
        )


def test_a_change_is_said_with_six_digits_of_a_fraction():
    assert str(ColumnChange("bmi", 27.18961693693791, 12.0)) == "bmi: 27.189617 → 12"
    assert str(ColumnChange("bmi", 85.5, float("nan"))) == "bmi: 85.5 → (missing)"
    assert str(ColumnChange("branch", "office", "works")) == "branch: office → works"
