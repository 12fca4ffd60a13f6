"""Stored models on another table, from the store to the sentence."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from by_hand import local_measure, newcombe_interval
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ks_2samp, t
from toys import ROLES, people

from fairdash._counts import RowCounts
from fairdash.analysis.dealing import Sample
from fairdash.analysis.shifts import column_shifts
from fairdash.audits import DecisionRule, drift, portable, trials
from fairdash.audits.drifts.columns import column_drift, column_models
from fairdash.audits.drifts.study import gap_changes, measured_on
from fairdash.audits.drifts.tables import DriftTable
from fairdash.datasets import Roles, Subgroups, join_tables, split
from fairdash.jobs import submit
from fairdash.metrics import catalog, measure_gaps
from fairdash.sweep import MethodGrid, SweepSpec

BRANCH = Subgroups(columns=("branch",), min_size=20)
SUBGROUPS = ("young", "middle", "old")


@pytest.fixture
def models(store, dataset, train):
    train({"logistic": {}, "forest": {"max_depth": 3}})
    return trials.known_models(store, store.datasets()[0].id)


@pytest.fixture
def compare(store, models):
    """Return a function that holds the stored models to another table."""

    def go(frame, **more):
        options = {"main": models[0], "subgroups": BRANCH, "other": ("new", frame)}
        options |= {"models": models} | more
        return drift(store, dataset_id=store.datasets()[0].id, **options)

    return go


def drifted(n=800, seed=9):
    """Applicants of whom those from there are less skilled in the works."""
    frame = people(n, seed)
    worse = (frame["origin"] == "there") & (frame["branch"] == "works")
    return frame.assign(skill=frame["skill"] - 2.0 * worse)


def test_points_are_of_the_rows_of_each_table_with_the_encoding_of_training(
    store, dataset, models, compare
):
    frame = drifted()
    points = compare(frame).points
    assert points["table"].tolist() == ["People, test rows"] * 2 + ["new"] * 2
    decided = portable.exported(store, store.runs()[0].id, models[0].label).predict(
        frame
    )
    point = points.iloc[2]
    assert point["accuracy"] == pytest.approx(
        (decided == (frame["hired"] == "yes")).mean()
    )
    rates = pd.Series(decided).groupby(frame["origin"]).mean()
    assert point["gap"] == pytest.approx(np.ptp(rates))
    test = split(dataset, 0).test
    for place, model in enumerate(models):
        stored = store.artifact(model.trials[0].key).scores()[test] > 0.5
        right = (stored == dataset.y[test]).mean()
        assert points.loc[place, "accuracy"] == pytest.approx(right)
    rule = DecisionRule("top", 20)
    few = [model.decided_by(rule) for model in models]
    chosen = compare(frame, main=few[0], models=few[:1])
    stored = store.artifact(models[0].trials[0].key).scores()
    cut = np.sort(stored[split(dataset, 0).validation])[-25]  # a fifth of 120 rows
    assert chosen.points["selection_rate"].iloc[0] == (stored[test] > cut).mean()
    assert "the top 20% of scores" in chosen.answer().facts[-1]
    # rows of the reference are scored alike whatever the other table is
    half = compare(frame[frame["age"] > 40]).points
    pd.testing.assert_frame_equal(points.iloc[:2], half.iloc[:2])


def test_the_verdict_names_the_largest_clear_change_with_its_interval(compare):
    result = compare(drifted())
    inside = result.changes.iloc[1:]
    beyond = inside[(inside["ci_low"] > 0) | (inside["ci_high"] < 0)]
    row = beyond.loc[beyond["change"].abs().idxmax()]
    verb = "widens" if abs(row["gap_after"]) > abs(row["gap_before"]) else "narrows"
    verb = "moves" if row["gap_after"] * row["gap_before"] < 0 else verb
    size = round(100 * abs(row["change"]))
    text = result.brief()
    ends = sorted(abs(row[end]) for end in ("ci_low", "ci_high"))
    sure = "{:.0f} to {:.0f}".format(*(100 * end for end in ends))
    by = f"{verb} by {size} points ({sure}) on"
    assert text.startswith(f"In {row['subgroup']}, the gap {by}")
    low, high = (
        f"{100 * row[end]:+.1f}".replace("-", "−") for end in ("ci_low", "ci_high")
    )
    assert f"({low} to {high} pt)" in result.details()
    assert f"in {len(beyond)} of 2 subgroups" in result.headline()
    none = inside.assign(ci_low=-1.0, ci_high=1.0)
    whole = result.changes.iloc[:1].assign(ci_low=-0.1, ci_high=0.1)
    quiet = replace(result, changes=pd.concat([whole, none]))
    assert quiet.brief().startswith("No gap changes by more than chance would show.")
    assert quiet.headline() == "The gap changes clearly in none of 2 subgroups"


def test_without_an_outcome_rates_and_shifts_remain(compare):
    result = compare(drifted().drop(columns="hired"))
    assert "accuracy is not known" in result.details()
    assert (result.kpis()[0].value, result.kpis()[0].delta) == ("–", "")
    assert result.points["accuracy"].isna().tolist() == [False, False, True, True]
    with pytest.raises(ValueError, match="needs the outcome, column 'hired'"):
        compare(drifted().drop(columns="hired"), measure="true_positive_rate")
    p = [1e-9, 0.0714, *np.ones(len(result.shifts) - 2)]
    shifts = replace(result, shifts=result.shifts.assign(p_adjusted=p)).shift_answer()
    assert shifts.table.frame["Adjusted p"].tolist()[:2] == ["<0.001", "0.071"]
    assert shifts.table.title == "1 of 3 columns shifted beyond chance"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("accepts none", "accepts none on new"),
        ("no better than chance", "is not clearly better than guessing on new"),
    ],
)
def test_a_model_that_does_not_decide_on_a_table_is_marked_and_said(
    compare, rule, words
):
    """On rows all alike in their features it decides alike, at random if shuffled."""
    frame = people(800, seed=9)
    if rule == "no better than chance":
        order = np.random.default_rng(0).permutation(len(frame))
        frame[["skill", "age"]] = frame[["skill", "age"]].iloc[order].to_numpy()
    else:
        frame["skill"] = -50.0
    result = compare(frame)
    assert result.points["status"].tolist() == ["", "", rule, rule]
    assert result.details().startswith(f"{result.label} {words}, so its gaps say")
    assert result.headline() == "It does not decide: gaps say nothing"
    assert result.brief() == f"{result.label} {words}, so its gaps say nothing."
    cards = {kpi.label: kpi.good for kpi in result.kpis()}
    assert cards["Selection rate gap"] is None


@pytest.mark.parametrize("measure", ["true_positive_rate", "brier", "error_cost 4:1"])
def test_gaps_of_any_measure_are_compared(store, dataset, compare, measure):
    frame = drifted()
    result = compare(frame, measure=measure)
    model = portable.exported(store, store.runs()[0].id, result.label)
    test = dataset.frame.iloc[split(dataset, 0).test]
    signed = []
    inside = []
    for rows in (test, frame):
        scores = model.score(rows)
        predicted = (
            scores if measure in catalog.SCORE_MEASURES else (scores > 0.5).astype(int)
        )
        y = (rows["hired"] == "yes").astype(int)
        about = {"sensitive_features": rows["origin"]}
        gap = measure_gaps(measure, y, predicted, reference=result.low, **about).iloc[0]
        signed += gap[["difference", "ci_low", "ci_high"]].tolist()
        table = local_measure(
            measure, y, predicted, subgroups=rows["branch"], min_size=20, **about
        ).set_index("subgroup")
        inside.append(table[f"value_{result.high}"] - table[f"value_{result.low}"])
    ends = ["gap_before", "before_low", "before_high", "gap_after", "after_low"]
    whole = result.changes.loc[0, [*ends, "after_high"]].to_numpy(float)
    np.testing.assert_allclose(whole, signed)
    changes = result.changes.iloc[1:].set_index("subgroup")
    changes = changes[changes["estimable"]]
    assert len(changes)
    moved = (inside[1] - inside[0]).loc[changes.index]
    np.testing.assert_allclose(changes["change"], moved)
    assert (
        catalog.INTERVAL_KINDS[measure] in result.answer().figure.arguments["caption"]
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns=["skill", "age"]), "columns 'age', 'skill', which"),
        (lambda f: f.drop(columns="branch"), "no column 'branch'"),
        (lambda f: f.assign(skill="high"), "'skill' of new holds text"),
        (lambda f: f.assign(hired="1"), "value '1', which the training table lacks"),
        (lambda f: f.assign(origin="moon"), "No row of new can be used: 800 rows: in"),
        (lambda f: f[f["origin"] == "here"], "new has rows of one group only"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_what_to_change(
    compare, change, message
):
    with pytest.raises(ValueError, match=message):
        compare(change(drifted()))


def test_rows_that_are_not_used_are_counted_by_reason(compare):
    frame = drifted()
    frame.loc[:9, "origin"] = "moon"
    frame.loc[5:19, "hired"] = None
    result = compare(frame)
    assert result.tables[1].n == 780
    counted = "new: 15 rows: outcome missing (hired). new: 5 rows: in no group of the "
    counted += "training table (origin moon)"
    assert result.answer().caption == counted


def test_another_table_has_the_weights_and_units_of_the_roles(store, dataset, train):
    """A row of weight k is k rows, of which one person's count as one in intervals."""
    widths = {}
    frame = people().assign(stands=np.arange(600) % 3 + 1, person=np.arange(600))
    digest = store.add_table(frame.to_csv(index=False).encode(), "stands.csv")
    for unit in ("person", None):
        roles = ROLES.model_copy(update={"sample_weight": "stands", "unit": unit})
        data = store.add_dataset(digest, roles, f"Visits {unit}")
        source = {"table": digest, "roles": roles, "name": f"Visits {unit}"}
        spec = SweepSpec(
            data=source, methods=(MethodGrid(method="logistic"),), seeds=(0,)
        )
        (model,) = trials.known_models_of(store, [submit(store, spec, name="Visits")])
        once = drifted(400).assign(person=np.arange(400), stands=np.arange(400) % 5)
        new = pd.concat([once] * 4, ignore_index=True)
        options = {"main": model, "subgroups": BRANCH}
        result = drift(store, [model], data, other=("new", new), **options)
        width = result.changes["after_high"] - result.changes["after_low"]
        widths[unit] = width.mean()
    assert 1.7 < widths["person"] / widths[None] < 2.5
    decided = portable.exported(store, store.runs()[0].id, result.label).predict(new)
    again = new.assign(decided=decided).iloc[np.repeat(np.arange(1600), new["stands"])]
    right = again["decided"] == (again["hired"] == "yes")
    assert result.points.iloc[1]["accuracy"] == pytest.approx(right.mean())
    works = again[again["branch"] == "works"].groupby("origin")["decided"].mean()
    inside = result.changes.set_index("subgroup")["gap_after"].abs()
    assert inside["works"] == pytest.approx(np.ptp(works))
    with pytest.raises(ValueError, match="no column 'stands', which the models or"):
        drift(store, [model], data, other=("new", drifted()), **options)


def test_a_table_of_counts_drifts_as_its_people_do(store):
    pairs = []
    sizes = []
    for seed, places in ((0, people), (9, drifted)):
        frame = places(300, seed).assign(age=lambda rows: rows["age"] // 10)
        times = np.random.default_rng(seed).integers(1, 5, 300)
        if places is drifted:
            frame.loc[:4, "origin"] = "moon"
        pairs.append((frame.assign(n=times), frame.iloc[np.arange(300).repeat(times)]))
        sizes.append(f"{times[frame['origin'] != 'moon'].sum():,}")
    strangers = times[:5].sum()
    score = {"column": "age", "kind": "score", "threshold": 0}
    about = {"features": (), "scores": (score,)}
    about |= {"target": "skill", "positive": {"sign": ">=", "value": 0}}
    answers = []
    shifts = []
    for (training, new), count in zip(
        zip(*pairs, strict=True), ("n", None), strict=True
    ):
        roles = Roles.model_validate({**vars(ROLES), **about, "count": count})
        digest = store.add_table(training.to_csv(index=False).encode(), "people.csv")
        data = store.add_dataset(digest, roles, f"Counts {count}")
        (model,) = column_models(store, data)
        answers.append(
            column_drift(
                store,
                model,
                data,
                other=("new", new),
                measure="mean_error",
                subgroups=BRANCH,
            )
        )
        samples = tuple(
            Sample(RowCounts.of("n", part["n"]) if count else None)
            for part in (training, new)
        )
        columns = ("skill", "age", "branch", "origin")
        shifts.append(
            column_shifts(training, new, training, columns=columns, samples=samples)
        )
    pd.testing.assert_frame_equal(answers[0].data, answers[1].data)
    pd.testing.assert_frame_equal(*shifts)
    assert answers[0].facts[1] == f"new: {sizes[1]} people"
    assert answers[1].facts[1] == f"new: {sizes[1]} rows"
    assert f"{strangers} people: in no group" in answers[0].caption
    assert f"{strangers} rows: in no group" in answers[1].caption


def test_new_rows_without_the_groups_are_joined_as_the_table_was(store):
    rng = np.random.default_rng(2)
    origins = pd.DataFrame({"id": np.arange(500), "origin": people(500)["origin"]})
    table_record = store.add_table(origins.to_csv(index=False).encode(), "origins.csv")
    frames = [
        frame(400, seed).drop(columns="origin").assign(id=rng.integers(0, 600, 400))
        for seed, frame in ((0, people), (9, drifted))
    ]
    rows, new = frames
    joined = join_tables(rows, origins, ["id"], name="origins.csv", table=table_record)
    score = {"column": "age", "kind": "score", "threshold": 0}
    about = {"features": (), "scores": (score,), "target": "skill"}
    about |= {"positive": {"sign": ">=", "value": 0}}
    roles = Roles.model_validate({**vars(ROLES), **about})
    digest = store.add_frame(joined, "joined.parquet")
    data = store.add_dataset(digest, roles, "Joined")
    (model,) = column_models(store, data)
    arguments = {"measure": "mean_error", "subgroups": BRANCH}
    answer = column_drift(store, model, data, other=("May", new), **arguments)
    by_hand = new.merge(origins, on="id", how="left")
    drifts = column_drift(store, model, data, other=("May", by_hand), **arguments)
    pd.testing.assert_frame_equal(answer.data, drifts.data)
    n = (new["id"] >= 500).sum()
    assert f"May: Joined with origins.csv by id: {n} of 400 rows have" in answer.caption
    assert f"{n} rows: sensitive feature missing (origin)" in answer.caption
    lone = new.drop(columns="id")
    with pytest.raises(ValueError, match=r"no column 'origin'.*Add 'id', so that"):
        column_drift(store, model, data, other=("May", lone), **arguments)
    store.delete_table(table_record)
    with pytest.raises(
        ValueError, match=r"from origins.csv, joined by id, and that tab"
    ):
        column_drift(store, model, data, other=("May", new), **arguments)


def test_predicted_numbers_change_by_group_with_intervals_for_all_at_once(store):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"sex": ["f", "m"] * 450, "y": rng.normal(9, 2, 900)})
    frame["half"] = np.arange(900) // 450
    frame["predicted"] = frame["y"] + rng.normal(size=900)
    later = frame.assign(predicted=frame["predicted"] + 1.5 * (frame["sex"] == "f"))
    later.loc[:9, "y"] = None
    score = {"column": "predicted", "kind": "score", "threshold": 9}
    about = {"target": "y", "positive": {"sign": ">=", "value": 9}, "features": ()}
    roles = Roles(**about, sensitive_feature="sex", scores=(score,))
    digest = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = store.add_dataset(digest, roles, "People")
    (model,) = column_models(store, data)
    halves = Subgroups(columns=("half",), min_size=20)
    arguments = {
        "other": ("later", later),
        "measure": "mean_error",
        "subgroups": halves,
    }
    answer = column_drift(store, model, data, **arguments)
    assert answer.verdict.startswith("Mean error rises by 1.")
    assert answer.verdict.endswith("for sex: f.")
    assert answer.caption == "later: 10 rows: outcome missing (y)"
    changes = answer.data.iloc[:6].set_index(["measure", "group"])
    clear = [(measure, "f") for measure in catalog.NUMBER_MEASURES]
    assert list(changes[changes["clear"]].index) == clear
    gaps = answer.data.iloc[6:].set_index("subgroup")
    assert gaps.index.tolist() == ["All rows", "half 0", "half 1"]
    women = [part[part["sex"] == "f"].dropna() for part in (frame, later)]
    errors = [part["predicted"] - part["y"] for part in women]
    row = changes.loc["mean_error", "f"]
    assert row["change"] == pytest.approx(errors[1].mean() - errors[0].mean())
    widths = [t.ppf(1 - 0.025 / 18, len(e) - 1) * e.sem() for e in errors]
    # Student's, but for the little that these numbers are skewed
    reach = row["ci_high"] - row["change"]
    assert reach == pytest.approx(np.hypot(*widths), rel=0.02)
    inside = [
        (part["predicted"] - part["y"])[part["half"] == 1].groupby(part["sex"]).mean()
        for part in (frame, later)
    ]
    assert abs(gaps.loc["half 1", "change"]) == pytest.approx(
        abs(np.diff(inside[1])[0] - np.diff(inside[0])[0])
    )
    arguments["other"] = "later", later.drop(columns="y")
    with pytest.raises(ValueError, match="Mean error needs the outcome, column 'y'"):
        column_drift(store, model, data, **arguments)
    arguments["measure"] = "mean_prediction"
    rates = column_drift(store, model, data, **arguments).data
    assert rates["measure"].unique().tolist() == ["mean_prediction"]


def test_classes_and_rankings_change_by_group(store):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"sex": ["f", "m"] * 300, "y": rng.choice([*"abc"], 600)})
    frame["said"] = np.where(rng.random(600) < 0.6, frame["y"], "b")
    frame["rank"] = rng.normal(size=600) + (frame["sex"] == "m")
    moved = (frame["sex"] == "f") & (rng.random(600) < 0.5)
    later = frame.assign(said=frame["said"].where(~moved, "a")).iloc[:300]
    fields = {"column": "said", "kind": "decision", "positive": ("a",)}
    scores = fields, {"column": "rank", "kind": "score", "threshold": 0}
    about = {"target": "y", "positive": ("a",), "features": (), "scores": scores}
    digest = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = store.add_dataset(digest, Roles(**about, sensitive_feature="sex"), "People")
    fields, rank = column_models(store, data)
    arguments = {"other": ("later", later), "subgroups": Subgroups()}
    answer = column_drift(store, fields, data, measure="selection_rate", **arguments)
    assert answer.verdict.startswith("Selection rate rises by ")
    first_rows = answer.data.iloc[:2].set_index("group")
    counts = [(t["said"] == "a").groupby(t["sex"]).sum() for t in (frame, later)]
    change = counts[1] / 150 - counts[0] / 300
    np.testing.assert_allclose(first_rows["change"], change[first_rows.index])
    level = 1 - 0.05 / (3 * 3 * 4 * 2)  # kinds of rows, classes, measures, groups
    wilson = binomtest(counts[0]["f"], 300).proportion_ci(level, method="wilson")
    assert first_rows.loc["f", "before_low"] == pytest.approx(wilson.low)
    attention = column_drift(store, rank, data, measure="exposure", **arguments)
    place = np.ceil(frame["rank"].rank(ascending=False) / 2)  # two rows share one
    discount = 1 / np.log2(1 + place)
    expected = (discount / discount.mean()).groupby(frame["sex"]).mean()
    before = attention.data.iloc[:2].set_index("group")["gap_before"]
    np.testing.assert_allclose(before, expected[before.index])
    top = column_drift(store, rank, data, measure="top_share", **arguments)
    first_rows = top.data.iloc[2:4].set_index("group")  # after the rows of exposure
    first = [t["rank"].rank(ascending=False) <= len(t) / 10 for t in (frame, later)]
    shares = [part.groupby(frame["sex"]).mean() for part in first]
    np.testing.assert_allclose(first_rows["gap_before"], shares[0][first_rows.index])
    np.testing.assert_allclose(first_rows["gap_after"], shares[1][first_rows.index])
    level = 1 - 0.05 / (3 * 2 * 2)  # kinds of rows, measures, groups
    n_first = int(first[0][frame["sex"] == "f"].sum())
    wilson = binomtest(n_first, 300).proportion_ci(level, method="wilson")
    assert first_rows.loc["f", "before_low"] == pytest.approx(wilson.low)
    assert top.verdict.startswith("Share in the top 10%")


def table(rng, n, groups=("a", "b")):
    codes = rng.choice(3, n)
    codes[rng.random(n) < 0.1] = -1
    subgroups = pd.Categorical.from_codes(codes, list(SUBGROUPS), ordered=True)
    who = pd.Categorical(rng.choice(list(groups), n), categories=list(groups))
    return DriftTable("t", pd.DataFrame(index=range(n)), None, who, subgroups)


def measured(tables, decided):
    pairs = zip(tables, decided, strict=True)
    return [
        measured_on(rows, decisions, "selection_rate", 60) for rows, decisions in pairs
    ]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(150, 900), st.integers(150, 900))
def test_changes_are_differences_of_gaps_with_square_and_add_intervals(seed, n, m):
    rng = np.random.default_rng(seed)
    tables = table(rng, n), table(rng, m)
    decided = [
        (rng.random(rows.n) < 0.3 + 0.3 * (rows.groups == "b")).astype(np.int8)
        for rows in tables
    ]
    changes = gap_changes(tables, measured(tables, decided), ("a", "b")).iloc[1:]
    level = 1 - 0.05 / max(changes["estimable"].sum(), 1)
    for row in changes[changes["estimable"]].to_dict("records"):
        gaps = []
        lows = []
        highs = []
        for rows, decisions in zip(tables, decided, strict=True):
            inside = rows.subgroups == row["subgroup"]
            high, low = (decisions[inside & (rows.groups == group)] for group in "ba")
            counts = high.sum(), len(high), low.sum(), len(low)
            ends = newcombe_interval(*counts, confidence=level)
            gaps.append(high.mean() - low.mean())
            lows.append(float(ends[0]))
            highs.append(float(ends[1]))
        change = gaps[1] - gaps[0]
        assert row["change"] == pytest.approx(change)
        down = np.hypot(gaps[1] - lows[1], highs[0] - gaps[0])
        up = np.hypot(highs[1] - gaps[1], gaps[0] - lows[0])
        assert row["ci_low"] == pytest.approx(change - down)
        assert row["ci_high"] == pytest.approx(change + up)


def frames(rng, n, m):
    numbers = rng.normal(size=n)
    letters = rng.choice(["p", "q", None], n)
    before = pd.DataFrame(
        {"x": numbers, "k": letters, "same": rng.choice(["u", "v"], n)}
    )
    numbers = rng.normal(0.5, 1, size=m)
    letters = rng.choice(["p", "q", "new"], m)
    after = pd.DataFrame(
        {"x": numbers, "k": letters, "same": rng.choice(["u", "v"], m)}
    )
    return before, after


def test_shifts_are_the_largest_differences_of_distributions():
    before, after = frames(np.random.default_rng(1), 500, 700)
    shifts = column_shifts(before, after, before, columns=("x", "k", "same"))
    p = np.sort(shifts["p_value"])
    holm = np.minimum(np.maximum.accumulate(p * np.array([3, 2, 1])), 1)
    np.testing.assert_allclose(np.sort(shifts["p_adjusted"]), holm)
    shifts = shifts.set_index("column")
    at = np.sort(np.concatenate([before["x"], after["x"]]))
    distance = [abs((before["x"] <= v).mean() - (after["x"] <= v).mean()) for v in at]
    assert shifts.loc["x", "shift"] == pytest.approx(max(distance))
    p_value = ks_2samp(before["x"], after["x"], method="asymp").pvalue
    assert shifts.loc["x", "p_value"] == pytest.approx(p_value)
    shares = [f["k"].fillna("?").value_counts(normalize=True) for f in (before, after)]
    difference = shares[1].subtract(shares[0], fill_value=0)
    assert shifts.loc["k", "shift"] == pytest.approx(difference[difference > 0].sum())
    assert shifts.loc["k", "unseen"] == pytest.approx((after["k"] == "new").mean())
    missing = before["k"].isna().mean()
    assert shifts.loc["k", "missing"] == pytest.approx(-missing)
    means = [f"{frame['x'].mean():.4g}".replace("-", "−") for frame in (before, after)]
    assert shifts.loc["x", "change"] == f"mean {means[0]} → {means[1]}"
    out = (after["x"] > before["x"].max()) | (after["x"] < before["x"].min())
    assert shifts.loc["x", "unseen"] == pytest.approx(out.mean())
