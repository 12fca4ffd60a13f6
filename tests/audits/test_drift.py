"""Stored models on other tables, from the store to the sentence."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp
from toys import ROLES, people

from fairdash._wording import percent
from fairdash.audits import (
    drift,
    drift_over_seeds,
    exported,
    known_models,
    local_by_measure,
)
from fairdash.audits.drifts import study
from fairdash.audits.drifts.points import gap_column
from fairdash.audits.drifts.tables import drift_tables
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.metrics import (
    INTERVAL_KINDS,
    MEASURES,
    SCORE_MEASURES,
    local_measure,
    measure_gaps,
    newcombe_interval,
)
from fairdash.sweep import MethodGrid, SweepSpec

BRANCH = Subgroups(columns=("branch",), min_size=20)
DI = "selection_rate_gap"
MEANS = ("accuracy", "selection_rate", DI)


@pytest.fixture
def models(store, dataset, train):
    train({"logistic": {}, "forest": {"max_depth": 3}})
    return known_models(store, store.datasets()[0].id)


@pytest.fixture
def compare(store, models):
    """Return a function that holds the stored models to another table."""

    def go(frame=None, **more):
        other = None if frame is None else ("new", frame)
        asked = {"main": models[0], "subgroups": BRANCH, "other": other} | more
        return drift(store, models, store.datasets()[0].id, **asked)

    return go


def drifted(n=800, seed=9):
    """Applicants of whom those from there are less skilled in the works."""
    frame = people(n, seed)
    worse = (frame["origin"] == "there") & (frame["branch"] == "works")
    return frame.assign(skill=frame["skill"] - 2.0 * worse)


def test_numbers_of_a_new_table_are_those_of_its_rows(store, compare):
    frame = drifted()
    found = compare(frame)
    model = exported(store, store.runs()[0].id, found.label)
    decided = model.predict(frame)
    y = (frame["hired"] == "yes").to_numpy()
    own = found.points[found.points["main"]].set_index("table").loc["new"]
    assert own["accuracy"] == pytest.approx((decided == y).mean())
    rates = pd.Series(decided).groupby(frame["origin"]).mean()
    assert own[DI] == pytest.approx(rates["here"] - rates["there"])
    by_cell = pd.Series(decided).groupby([frame["branch"], frame["origin"]]).mean()
    gaps = by_cell.xs("here", level=1) - by_cell.xs("there", level=1)
    changes = found.changes.set_index("subgroup")
    sign = 1 if found.high == "here" else -1
    for branch in ("office", "works"):
        assert changes.loc[branch, "gap_after"] == pytest.approx(sign * gaps[branch])
    assert len(found.points) == 4
    assert found.points["table"].unique().tolist() == ["People, test rows", "new"]


def test_the_reference_is_the_test_rows_scored_as_they_were_stored(
    store, dataset, compare, models
):
    found = compare(drifted())
    test = split(dataset, 0).test
    assert found.reference.n == len(test)
    for model in models:
        kept = store.artifact(model.trials[0].key).scores()[test] > 0.5
        row = found.points.set_index(["table", "label"]).loc[
            (found.reference.name, model.label)
        ]
        assert row["accuracy"] == pytest.approx((kept == dataset.y[test]).mean())


def test_the_encoding_stays_that_of_the_training_rows(compare):
    frame = drifted()
    one = compare(frame).points
    half = compare(frame[frame["age"] > 40]).points
    whole = compare(frame).points
    pd.testing.assert_frame_equal(one, whole)
    # rows of the reference are scored alike whatever the other table is
    reference = one["table"] == "People, test rows"
    pd.testing.assert_frame_equal(one[reference], half[reference])


def test_the_verdict_names_the_largest_clear_change_with_its_interval(compare):
    found = compare(drifted())
    beyond = found.changes[
        (found.changes["ci_low"] > 0) | (found.changes["ci_high"] < 0)
    ]
    first = beyond.loc[beyond["change"].abs().idxmax()]
    said = found.verdict()
    assert said.startswith(f"In {first['subgroup']} on new, by {found.label}")
    by, low, high = re.search(
        r"the gap \w+ by (\d+) points? \((\d+) to (\d+)\)", said
    ).groups()
    ends = sorted(abs(first[["ci_low", "ci_high"]]))
    assert int(by) == round(100 * abs(first["change"]))
    assert [int(low), int(high)] == [round(100 * end) for end in ends]
    wider = abs(first["gap_after"]) > abs(first["gap_before"])
    same_side = first["gap_after"] * first["gap_before"] > 0
    how = "moves" if not same_side else "widens" if wider else "narrows"
    assert f"the gap {how} by" in said


@pytest.mark.parametrize("seed", range(6))
def test_without_drift_the_verdict_claims_no_change_that_an_interval_denies(
    compare, seed
):
    found = compare(people(500, seed=50 + seed))
    said = found.verdict()
    intervals = pd.concat([found.changes, found.whole])
    clear = (intervals["ci_low"] > 0) | (intervals["ci_high"] < 0)
    assert ("no gap between" in said) == (not clear.any())
    counts = []
    for place in (1, 0):
        name = found.tables[place].name
        row = found.points[found.points["main"] & (found.points["table"] == name)]
        counts += [round((row["accuracy"] * row["n"]).item()), row["n"].item()]
    low, high = newcombe_interval(*counts)
    assert ("does not change clearly" in said) == (low <= 0 <= high)


@pytest.mark.parametrize(
    ("old", "new", "low", "high", "words"),
    [
        (0.10, 0.30, 0.1, 0.3, "it was 10 points: the gap widens by 20 points (10 to"),
        (0.30, 0.10, -0.3, -0.1, "30 points: the gap narrows by 20 points (10 to 30)"),
        (0.10, -0.15, -0.4, -0.1, "10 points less often: the gap moves by 25 points"),
        (-0.10, -0.30, -0.3, -0.1, "10 points: the gap widens by 20 points (10 to 30)"),
        (-0.10, 0.20, 0.1, 0.4, "10 points more often: the gap moves by 30 points (10"),
    ],
)
def test_changes_are_worded_by_where_the_gap_went(compare, old, new, low, high, words):
    found = compare(drifted())
    row = {"gap_before": old, "gap_after": new, "change": new - old, "ci_low": low}
    changes = found.changes.assign(ci_low=-1.0, ci_high=1.0)
    changes.loc[0, [*row, "ci_high"]] = [*row.values(), high]
    said = replace(found, changes=changes).verdict()
    assert words in said
    less = "less" if new > 0 else "more"
    points = round(100 * abs(new))
    assert f"{points} points {less} often than {found.named[1]}" in said


def test_without_an_outcome_rates_and_shifts_remain(compare):
    found = compare(drifted().drop(columns="hired"))
    assert not found.has_outcome
    assert "accuracy is not known" in found.verdict()
    assert next(kpi.label for kpi in found.kpis()) == "Selection rate"
    with pytest.raises(ValueError, match="needs the outcome, column 'hired'"):
        compare(drifted().drop(columns="hired"), measure="true_positive_rate")
    p = [1e-9, 0.0714, *np.ones(len(found.shifts) - 2)]
    shifts = replace(found, shifts=found.shifts.assign(p_adjusted=p)).shift_answer()
    assert shifts.table.frame["Adjusted p"].tolist()[:2] == ["<0.001", "0.071"]


def test_an_end_near_0_is_not_rounded_to_the_other_side(compare):
    found = compare(drifted(), measure="error_cost 1:1")
    whole = found.whole.assign(ci_low=-0.00042, ci_high=0.0974, change=0.0484)
    changes = found.changes.assign(ci_low=-1.0, ci_high=1.0)
    said = replace(found, whole=whole, changes=changes).verdict()
    assert "over all rows +0.048 (−0.0004 to 0.0974)" in said


def test_a_verdict_without_estimable_subgroups_says_so(compare):
    crossed = Subgroups(columns=("branch", "age"), min_size=5_000)
    found = compare(people(500, seed=50), subgroups=crossed)
    if "no gap between" in found.verdict():
        assert "no subgroup is estimable on both" in found.verdict()
    assert found.gap_headline() == "No subgroup is estimable on both tables"
    assert not found.gaps_comparable
    assert found.gap_caption() == (
        f"Of {len(found.changes)} subgroups {len(found.changes)} too small: choose "
        "wider ones, or a smaller size."
    )


@pytest.mark.parametrize(
    "rule", ["accepts none", "accepts all", "not told from chance"]
)
def test_a_model_that_does_not_decide_on_a_table_is_marked_and_said(compare, rule):
    """On rows all alike in their features it decides alike, at random if shuffled."""
    frame = people(800, seed=9)
    if rule == "not told from chance":
        order = np.random.default_rng(0).permutation(len(frame))
        shuffled = frame[["skill", "age"]].iloc[order].to_numpy()
        frame[["skill", "age"]] = shuffled
    else:
        frame["skill"] = 50.0 if rule == "accepts all" else -50.0
    found = compare(frame)
    points = found.points.set_index(["table", "label"])
    assert (points.loc["new", "status"] == rule).all()
    assert (points.loc["People, test rows", "status"] == "").all()
    assert not points.loc["new", "front"].any()
    assert points.loc["People, test rows", "front"].any()
    words = {"accepts none": "accepts no one", "accepts all": "accepts everyone"}
    said = words.get(rule, "decides no better than chance") + " on new"
    assert found.verdict().startswith(f"{found.label} {said}: gaps between groups say")
    assert found.gap_headline() == f"It {said}"
    nowhere = replace(found, points=found.points.assign(status=rule))
    assert nowhere.idle == said.replace("new", "People, test rows and new")
    assert not found.gaps_comparable
    cards = {kpi.label: kpi.good for kpi in found.kpis()}
    assert cards["Selection rate gap"] is None
    assert found.table_of_tables()["Decides"].tolist() == ["yes", said[:-7]]


def test_a_model_that_decides_nowhere_is_on_no_front(store, train):
    """It would be the fairest of its method on validation rows, and so its end."""
    train({"neighbours": {"n_neighbors": [40, 100_000]}})
    models = known_models(store, store.datasets()[0].id)
    found = drift(
        store,
        models,
        store.datasets()[0].id,
        main=models[0],
        subgroups=BRANCH,
        other=("new", drifted()),
    ).points
    idle = found["status"].isin(["accepts none", "accepts all"])
    assert idle.tolist() == [False, True, False, True]
    assert found["front"].tolist() == [True, False, True, False]


def test_parts_of_the_table_are_its_test_rows_by_value(dataset, compare):
    found = compare(parts="branch", subgroups=Subgroups(columns=("age",), min_size=10))
    test = dataset.frame.iloc[split(dataset, 0).test]
    counted = {t.name.removeprefix("branch "): t.n for t in found.tables}
    assert counted == test["branch"].value_counts().to_dict()
    assert set(found.shifts["column"]) == {"age", "skill"}


def test_values_outside_a_filter_are_rows_that_nobody_trained_on(store, train):
    frame = people(600).assign(year=np.repeat([2020, 2021, 2022], 200))
    digest = store.add_table(frame.to_csv(index=False).encode(), "years.csv")
    roles = ROLES.model_copy(update={"keep": {"year": ("2020",)}})
    data = store.add_dataset(digest, roles, "Years")
    train({"logistic": {}})
    models = known_models(store, data)
    found = drift(store, models, data, main=models[0], subgroups=BRANCH, parts="year")
    test = split(store.dataset(data), 0).test
    counted = [(t.name, t.n) for t in found.tables]
    assert counted == [
        ("Years, test rows", len(test)),
        ("year 2021", 200),
        ("year 2022", 200),
    ]
    named = drift(
        store,
        models,
        data,
        main=models[0],
        subgroups=BRANCH,
        parts="year",
        against="year 2021",
    )
    assert named.table.name == "year 2021"


def test_another_table_is_weighted_by_the_column_of_the_roles(store, train):
    frame = people().assign(stands=np.arange(600) % 3 + 1)
    digest = store.add_table(frame.to_csv(index=False).encode(), "stands.csv")
    roles = ROLES.model_copy(update={"sample_weight": "stands"})
    data = store.add_dataset(digest, roles, "Weighted")
    train({"logistic": {}})
    models = known_models(store, data)
    asked = {"main": models[0], "subgroups": BRANCH}
    new = drifted().assign(stands=np.arange(800) % 5)
    found = drift(store, models, data, other=("new", new), **asked)
    model = exported(store, store.runs()[0].id, found.label)
    new["decided"], new["y"] = model.predict(new), new["hired"] == "yes"
    again = new.iloc[np.repeat(np.arange(800), new["stands"])]
    own = found.points[found.points["table"] == "new"].iloc[0]
    assert own["accuracy"] == pytest.approx((again["decided"] == again["y"]).mean())
    works = again[again["branch"] == "works"].groupby("origin")["decided"].mean()
    inside = found.changes.set_index("subgroup")["gap_after"].abs()
    assert inside["works"] == pytest.approx(np.ptp(works))
    assert found.kpis()[0].value == percent(own["accuracy"])
    with pytest.raises(ValueError, match="no column 'stands', which the models or"):
        drift(store, models, data, other=("new", drifted()), **asked)
    new.loc[7, "stands"] = -1
    with pytest.raises(ValueError, match=r"'stands' cannot be .* row 8 with -1"):
        drift(store, models, data, other=("new", new), **asked)


def test_rows_of_one_person_count_as_one_in_every_interval(store, dataset, train):
    """Each row four times: intervals are about those of the rows once."""
    once = people(600).assign(person=np.arange(600))
    many = pd.concat([once] * 4, ignore_index=True)
    widths = {}
    for unit in ("person", None):
        digest = store.add_table(many.to_csv(index=False).encode(), "visits.csv")
        roles = ROLES.model_copy(update={"unit": unit})
        data = store.add_dataset(digest, roles, f"Visits {unit}")
        spec = SweepSpec(
            data={"table": digest, "roles": roles, "name": f"Visits {unit}"},
            methods=(MethodGrid(method="logistic"),),
            seeds=(0,),
        )
        run = submit(store, spec, name="Visits")
        (model,) = known_models(store, data, run)
        local = local_by_measure(store, [model], data, BRANCH)
        new = drifted(400).assign(person=np.arange(400))
        other = "new", pd.concat([new] * 4, ignore_index=True)
        found = drift(store, [model], data, main=model, subgroups=BRANCH, other=other)
        changes = found.changes
        widths[unit] = [
            (local.own["ci_high"] - local.own["ci_low"]).mean(),
            (changes["ci_high"] - changes["ci_low"]).mean(),
        ]
    ratio = np.array(widths["person"]) / np.array(widths[None])
    assert (ratio > 1.6).all()
    assert (ratio < 2.5).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns=["skill", "age"]), "columns 'age', 'skill', which"),
        (lambda f: f.drop(columns="origin"), "no column 'origin'"),
        (lambda f: f.assign(skill="high"), "'skill' of new holds text"),
        (lambda f: f.assign(hired="1"), "value '1', which the training table has not"),
        (lambda f: f.assign(origin="moon"), "No row of new can be used: 800 rows in"),
    ],
)
def test_a_table_that_cannot_be_used_is_told_by_its_columns(compare, change, message):
    with pytest.raises(ValueError, match=message):
        compare(change(drifted()))


def test_rows_that_cannot_be_compared_are_counted(compare):
    frame = drifted()
    frame.loc[:9, "hired"] = None
    frame.loc[5:24, "origin"] = "moon"
    found = compare(frame)
    assert found.table.n == 775
    assert found.table.excluded == (
        "20 rows in no known group",
        "5 rows without outcome",
    )


def test_bins_mean_the_same_in_every_table(dataset, compare):
    frame = drifted()
    frame["age"] = frame["age"] + 15
    ages = Subgroups(columns=("age",), min_size=1)
    found = compare(frame, subgroups=ages)
    first, other = (table.subgroups for table in found.tables)
    assert list(first.categories) == list(other.categories)
    rows = np.asarray(other == "25–34")
    assert frame["age"][rows].between(25, 34).all()
    rows = np.asarray(first == "25–34")
    assert found.reference.frame["age"][rows].between(25, 34).all()


def test_one_table_alone_is_refused_with_the_way_out(compare, dataset, store, models):
    with pytest.raises(ValueError, match="upload another one, or choose a column"):
        compare()
    with pytest.raises(ValueError, match="has no column 'planet'"):
        compare(drifted(), parts="planet")
    model = exported(store, store.runs()[0].id)
    texts = drifted().assign(town=[f"t{i % 40}" for i in range(800)])
    with pytest.raises(ValueError, match="parts need one of at most 12"):
        drift_tables(dataset, 0, model, BRANCH, other=("new", texts), parts="town")


def test_means_over_seeds_are_those_of_every_seed_by_itself(store, dataset, train):
    train({"logistic": {}, "forest": {"max_depth": 3}}, seeds=(0, 1, 2))
    train({"neighbours": {}})  # on one of the seeds: not compared
    data = store.datasets()[0].id
    models = sorted(known_models(store, data), key=lambda model: -len(model.seeds))
    asked = {"main": models[0], "subgroups": BRANCH, "other": ("new", drifted())}
    found = drift_over_seeds(store, models, data, **asked)
    alone = [drift(store, models, data, seed=s, **asked).points for s in (0, 1, 2)]
    rows = pd.concat(alone, keys=(0, 1, 2), names=["seed"]).reset_index("seed")
    rows = rows.set_index(["label", "table", "seed"])[["accuracy", DI]].sort_index()
    assert (found["n_seeds"] == 3).all()
    assert found["label"].nunique() == len(models) - 1 == 2
    assert not found.duplicated(["label", "table"]).any()
    for _, row in found.iterrows():
        mine = rows.loc[row["label"], row["table"]]
        first = rows.loc[row["label"], found["table"].iloc[0]]
        for name in ("accuracy", DI):
            ends = ttest_1samp(mine[name], 0).confidence_interval()
            told = row[[name, f"{name}_low", f"{name}_high"]].astype(float)
            assert np.allclose(told, [mine[name].mean(), ends.low, ends.high])
            if row["table"] == "new":
                apart = mine[name] - first[name]
                ends = ttest_1samp(apart, 0).confidence_interval()
                told = row[[f"{name}_change_low", f"{name}_change_high"]]
                assert np.allclose(told.astype(float), [ends.low, ends.high])
    one = drift_over_seeds(store, models, data, **asked | {"main": models[1]})
    assert np.allclose(one["accuracy"].sort_values(), found["accuracy"].sort_values())


@pytest.mark.parametrize(
    "measure", [*(m for m in MEASURES if m != "selection_rate"), "error_cost 4:1"]
)
def test_gaps_of_any_measure_are_compared(store, dataset, compare, measure):
    frame = drifted()
    found = compare(frame, measure=measure)
    model = exported(store, store.runs()[0].id, found.label)
    test = dataset.frame.iloc[split(dataset, 0).test]
    signed, inside = [], []
    for rows in (test, frame):
        scores = model.score(rows)
        given = scores if measure in SCORE_MEASURES else (scores > 0.5).astype(int)
        y = (rows["hired"] == "yes").astype(int)
        one = {"sensitive_features": rows["origin"]}
        gap = measure_gaps(measure, y, given, reference=found.low, **one).iloc[0]
        signed.append(gap[["difference", "ci_low", "ci_high"]].to_numpy(float))
        table = local_measure(
            measure, y, given, subgroups=rows["branch"], min_size=20, **one
        ).set_index("subgroup")
        inside.append(table[f"value_{found.high}"] - table[f"value_{found.low}"])
    whole = found.whole.iloc[0]
    np.testing.assert_allclose(
        whole[["gap_before", "before_low", "before_high"]].to_numpy(float), signed[0]
    )
    np.testing.assert_allclose(
        whole[["gap_after", "after_low", "after_high"]].to_numpy(float), signed[1]
    )
    changes = found.changes.set_index("subgroup")
    changes = changes[changes["estimable"]]
    assert len(changes)
    np.testing.assert_allclose(changes["gap_after"], inside[1].loc[changes.index])
    np.testing.assert_allclose(
        changes["change"], (inside[1] - inside[0]).loc[changes.index]
    )
    column = gap_column(measure)
    own = found.points[found.points["main"]].set_index("table").loc["new"]
    assert own[column] == pytest.approx(abs(signed[1][0]))
    assert own[f"{column}_low"] <= own[column] <= own[f"{column}_high"]
    assert f"95% {INTERVAL_KINDS[measure]}. Right" in found.gap_caption()
    assert "nan" not in found.verdict()
    with pytest.raises(ValueError, match="the outcome, column 'hired', in every table"):
        compare(frame.drop(columns="hired"), measure=measure)


def test_bins_of_parts_are_those_of_the_whole_table_on_every_seed(
    store, dataset, models
):
    model = exported(store, store.runs()[0].id)
    bins = Subgroups(columns=("skill",)).label(dataset.frame)
    for seed in range(3):
        tables = drift_tables(dataset, seed, model, BRANCH, parts="skill")
        rows = bins.iloc[split(dataset, seed).test].value_counts(sort=False)
        rows = rows[rows > 0]
        assert [table.name for table in tables] == rows.index.tolist()
        assert [table.n for table in tables] == rows.tolist()


def test_a_part_that_a_seed_lacks_is_averaged_over_none(store, models, monkeypatch):
    ends = {f"{one}{end}": 0.0 for one in MEANS for end in ("", "_low", "_high")}
    row = {"label": "Forest", "status": "", "front": True, **ends}

    def held(*asked):
        seed = asked[6]
        names = ["2019", "2020", "2021"][seed:]
        points = pd.DataFrame([{**row, "table": name} for name in names])
        points[["accuracy", DI]] = 0.5 + 0.1 * seed
        return SimpleNamespace(points=points)

    monkeypatch.setattr(study, "_hold", held)
    main = SimpleNamespace(seeds=(0, 1))
    asked = {"main": main, "subgroups": BRANCH, "parts": "year"}
    found = drift_over_seeds(store, models, "", **asked)
    assert found["table"].tolist() == ["2020", "2021"]
    assert (found["n_seeds"] == 2).all()
    assert found["accuracy"].tolist() == pytest.approx([0.55, 0.55])
    assert found["accuracy_change_low"].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="No part of the table has test rows on every"):
        drift_over_seeds(
            store, models, "", **asked | {"main": SimpleNamespace(seeds=(0, 3))}
        )
