"""Any measure on Local fairness: of trained models as of stored scores, of columns."""

import re
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from toys import ROLES, people, people_csv

import fairdash
from fairdash import ui
from fairdash.audits import (
    base_rate_ratios,
    base_rates,
    beside_trained,
    calibration_of,
    every_measure,
    every_model,
    known_models,
    local_by_measure,
    own_models,
    readable_measures,
)
from fairdash.datasets import Roles, ScoreColumn, Subgroups, make_dataset, split
from fairdash.metrics import (
    MEASURES,
    SCORE_MEASURES,
    gap_ends,
    local_measure,
    measure_by_group,
    newcombe_interval,
)
from fairdash.plots import plot_ratios
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

_PAIR = ("group", "other")
QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)
DECILE = ScoreColumn(column="decile", kind="score", threshold=5)


@pytest.fixture
def dataset_id(inline):
    """Applicants with the deciles of a model that is harder on one group."""
    frame = people(900)
    seen = frame["skill"] - (frame["origin"] == "there")
    frame["decile"] = pd.qcut(seen, 10, labels=False) + 1
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    roles = ROLES.model_copy(update={"scores": (DECILE,)})
    return ui.store().add_dataset(table, roles, "People", SUBGROUPS)


@pytest.fixture
def models(dataset_id):
    start_training(dataset_id, MethodGrid(method="logistic", params={}), 2)
    return known_models(ui.store(), dataset_id)


@pytest.mark.parametrize("measure", ["selection_rate", "true_positive_rate"])
@pytest.mark.parametrize(
    ("four", "apart", "reference"),
    [
        (False, 0, None),
        (False, 2, None),
        (False, 2, "there"),
        (True, 1.2, None),
        (True, 1.2, "here old"),
    ],
)
def test_over_seeds_the_overall_gap_is_sure_where_its_signed_mean_excludes_0(
    inline, four, apart, reference, measure
):
    frame = people(1200)
    frame["skill"] -= apart * (frame["origin"] == "there")
    if four:
        old = frame["age"] >= 40
        frame["skill"] += apart * ((frame["origin"] == "there") - 1.0 * old) / 2
        frame["origin"] += np.where(old, " old", " young")
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    dataset_id = ui.store().add_dataset(table, ROLES, "People", SUBGROUPS)
    start_training(dataset_id, MethodGrid(method="logistic", params={}), 3)
    dataset = ui.store().dataset(dataset_id)
    model = known_models(ui.store(), dataset_id)[-1]
    counts = []
    for trial in model.trials:
        where = split(dataset, trial.seed).test
        if measure == "true_positive_rate":
            where = where[dataset.y[where] == 1]
        decisions = ui.store().artifact(trial.key).scores()[where] > 0.5
        groups = pd.Series(decisions).groupby(dataset.sensitive_features[where])
        counts.append(groups.agg(["sum", "size"]))
    rates = [one["sum"] / one["size"] for one in counts]
    mean = pd.concat(rates, axis=1).mean(axis=1)
    pairs = len(mean) - 1 if reference else len(mean) * (len(mean) - 1) / 2
    base = reference or mean.idxmax()
    far = (mean - mean[base]).abs().idxmax()
    ends = [
        newcombe_interval(*one.loc[far], *one.loc[base], confidence=1 - 0.05 / pairs)
        for one in counts
    ]
    found = local_by_measure(
        ui.store(), [model], dataset_id, SUBGROUPS, measure, reference
    )
    low, high = np.mean(ends, axis=0)
    sure = low > 0 or high < 0
    assert found.overall_sure == sure
    quiet = replace(found, chance=1.0)  # as if no subgroup stood out
    said = quiet.verdict("hired = yes")
    start = re.compile("Over all rows|Overall,")
    assert bool(start.search(said)) == sure
    loud = replace(found, chance=0.0).verdict("hired = yes")
    assert said.split("cases")[1].partition(".")[2] == loud.partition(").")[2]
    if sure:
        from_base = (one - (one[base] if reference else one.min()) for one in rates)
        gap = np.mean([one.abs().max() for one in from_base])
        told = start.split(said)[1]
        assert f"{round(100 * gap)} points" in told
        if abs(mean[far] - mean[base]) != pytest.approx(gap):  # others in other seeds
            assert "groups are" in told
            return
        who, whom = (re.search(rf"\b{name}\b", told).start() for name in (far, base))
        if reference:
            assert who < whom
        more = "more" if mean[far] > mean[base] else "less"
        if whom < who:
            more = {"more": "less", "less": "more"}[more]
        assert f" points {more} " in told


def decided(dataset, where):
    return (dataset.frame["decile"].iloc[where] >= 5).to_numpy().astype(int)


def test_scores_beside_a_model_change_none_of_its_numbers(models, dataset_id):
    alone = local_by_measure(ui.store(), models, dataset_id, SUBGROUPS)
    both = [*own_models(ui.store(), dataset_id), *models]
    beside = local_by_measure(ui.store(), both, dataset_id, SUBGROUPS)
    pd.testing.assert_frame_equal(
        beside.own.reset_index(drop=True), alone.own.reset_index(drop=True)
    )
    pd.testing.assert_series_equal(beside.row, alone.row, check_names=False)
    assert beside.chance == alone.chance


@pytest.mark.parametrize("measure", MEASURES)
def test_tables_are_those_of_the_stored_scores(models, dataset_id, measure):
    dataset = ui.store().dataset(dataset_id)
    model = models[-1]
    found = local_by_measure(ui.store(), [model], dataset_id, SUBGROUPS, measure)
    tables = []
    for trial in model.trials:
        where = split(dataset, trial.seed).test
        scores = ui.store().artifact(trial.key).scores()[where]
        tables.append(
            local_measure(
                measure,
                dataset.y[where],
                scores if measure in SCORE_MEASURES else (scores > 0.5).astype(int),
                sensitive_features=dataset.sensitive_features[where],
                subgroups=dataset.frame["branch"].iloc[where],
                min_size=20,
            )
        )
    expected = pd.concat(tables).groupby("subgroup")["gap"].mean()
    own = found.own.set_index("subgroup")["gap"]
    assert own.to_dict() == pytest.approx(expected.to_dict())
    worst = np.mean([table["gap"].max() for table in tables])
    assert found.kpis(1)[0].value == f"{worst:.3f}"
    assert found.n_seeds == len(tables)
    found.verdict(dataset.roles.outcome())


def test_a_score_column_is_audited_on_all_rows_or_beside_a_model(models, dataset_id):
    dataset = ui.store().dataset(dataset_id)
    (own,) = own_models(ui.store(), dataset_id)
    assert own.label == "decile ≥ 5"
    alone = local_by_measure(
        ui.store(), [own], dataset_id, SUBGROUPS, "false_positive_rate"
    )
    everywhere = np.arange(dataset.n_rows)
    expected = local_measure(
        "false_positive_rate",
        dataset.y,
        decided(dataset, everywhere),
        sensitive_features=dataset.sensitive_features,
        subgroups=dataset.frame["branch"],
        min_size=20,
    )
    assert alone.own["gap"].tolist() == pytest.approx(expected["gap"].tolist())
    assert "900 rows" in alone.facts("People", SUBGROUPS)
    words = alone.verdict("hired = yes")
    worst = expected.loc[expected["gap"].idxmax()]
    assert words.startswith(
        f"In {worst['subgroup']}, by decile ≥ 5, among rows without “hired = yes”, "
        f"there is predicted “hired = yes” {100 * worst['gap']:.0f} points less often "
        "than here ("
    )
    (beside,) = beside_trained([own, models[0]])[:1]
    assert beside.seeds == models[0].seeds
    both = local_by_measure(
        ui.store(), [models[0], own], dataset_id, SUBGROUPS, "false_positive_rate"
    )
    gaps = []
    for seed in (0, 1):
        where = split(dataset, seed).test
        gaps.append(
            local_measure(
                "false_positive_rate",
                dataset.y[where],
                decided(dataset, where),
                sensitive_features=dataset.sensitive_features[where],
                subgroups=dataset.frame["branch"].iloc[where],
                min_size=20,
            )["gap"]
        )
    assert both.label == "decile ≥ 5"
    assert both.own["gap"].tolist() == pytest.approx(np.mean(gaps, axis=0).tolist())


def test_every_measure_is_signed_and_auc_is_of_the_score_itself(dataset_id):
    dataset = ui.store().dataset(dataset_id)
    (own_model,) = own_models(ui.store(), dataset_id)
    table = every_measure(ui.store(), own_model, dataset_id).set_index("measure")
    groups, y = dataset.sensitive_features, dataset.y
    picked = decided(dataset, np.arange(900))
    for name in ("here", "there"):
        table[name] = table["values"].str[("here", "there").index(name)]
        inside = groups == name
        rates = picked[inside & (y == 1)].mean()
        assert table.loc["True positive rate", name] == pytest.approx(rates)
        auc = roc_auc_score(y[inside], dataset.frame["decile"][inside])
        assert table.loc["AUC", name] == pytest.approx(auc)
    gap = table.loc["Selection rate"]
    assert gap["gap"] == pytest.approx(gap["there"] - gap["here"])
    assert gap["gap"] < 0
    assert gap["ratio"] == pytest.approx(gap["there"] / gap["here"])
    assert gap["four_fifths"] == "surely below"
    assert gap["ratio_low"] < gap["ratio"] < gap["ratio_high"] < 0.8
    assert set(table.drop(index="Selection rate")["four_fifths"]) == {""}
    for row in table.drop(index="Calibration").to_dict("records"):
        own, other = (row[row[who].removeprefix("origin: ")] for who in _PAIR)
        assert row["ratio"] == pytest.approx(own / other)
        assert row["gap"] == pytest.approx(own - other)
    spared = every_measure(ui.store(), own_model, dataset_id, favourable=False)
    fifths = spared.set_index("measure").loc["Selection rate"]
    assert fifths["group"] == "origin: here"  # more of it is worse, and 1 - rate less
    rates = [1 - table.loc["Selection rate", name] for name in ("here", "there")]
    low = rates[0] / rates[1]
    assert (fifths["four_fifths"] == "not below") == (low >= 0.8)
    names = ["ratio", "ratio_low", "ratio_high"]
    shown = readable_measures(table.reset_index(), ["here", "there"], "origin", "ratio")
    assert "Gap" not in shown
    # of the pair as the columns stand: the first over the second
    turned = 1 / gap[[names[0], names[2], names[1]]].to_numpy(float)
    assert shown[["Ratio", "Low", "High"]].iloc[0].tolist() == turned.tolist()
    apart = readable_measures(table.reset_index(), ["here", "there"], "origin")
    columns = apart["origin: here"] - apart["origin: there"]
    assert apart["origin: here − origin: there"].tolist() == pytest.approx(
        columns.tolist()
    )
    assert (apart["Low"] <= apart["origin: here − origin: there"]).all()
    assert (apart["origin: here − origin: there"] <= apart["High"]).all()
    assert set(table["group"]) == {"origin: here", "origin: there"}, (
        "as the best off change"
    )
    assert "origin: there is predicted “hired = yes”" in gap["sentence"]
    found = every_model(ui.store(), [own_model], dataset_id, "auc")
    (beside,) = found.to_dict("records")
    assert beside.pop("model") == own_model.label
    assert (
        beside == table.drop(columns=["symbol", "here", "there"]).loc["AUC"].to_dict()
    )
    turned = every_measure(ui.store(), own_model, dataset_id, favourable=False)
    turned = turned.set_index("measure").loc["Selection rate"]
    assert turned["gap"] == pytest.approx(-gap["gap"])
    # isotonic scores are calibrated over all rows
    n = pd.Series(groups).value_counts()
    whole = sum(n[name] * table.loc["Calibration", name] for name in n.index)
    assert whole == pytest.approx(0, abs=1e-9)
    curve = calibration_of(ui.store(), own_model, dataset_id)
    assert curve["bin"].unique().tolist() == [str(k) for k in range(1, 11)]
    assert curve["n"].sum() == 900


def test_a_score_is_no_part_of_what_models_are_trained_on(dataset_id):
    store = ui.store()
    record = store.dataset_record(dataset_id)
    other = record.roles.model_copy(
        update={"scores": (DECILE.model_copy(update={"threshold": 8.0}),)}
    )
    assert store.add_dataset(record.table_sha256, other, "People") == dataset_id
    (own,) = own_models(store, dataset_id)
    assert own.label == "decile ≥ 8"
    table = ui.store().add_table(people_csv(), "others.csv")
    with pytest.raises(ValueError, match="decile"):
        store.add_dataset(table, other, "People")


def test_sampling_weights_are_used_by_every_measure_and_train_nothing(dataset_id):
    store = ui.store()
    dataset = store.dataset(dataset_id)
    frame = dataset.frame.assign(stands_for=np.linspace(0.5, 4, 900).round(3))
    table = store.add_table(frame.to_csv(index=False).encode(), "weighted.csv")
    roles = dataset.roles.model_copy(update={"sample_weight": "stands_for"})
    weighted = store.add_dataset(table, roles, "Weighted", SUBGROUPS)
    (own,) = own_models(store, weighted)
    found = local_by_measure(store, [own], weighted, SUBGROUPS)
    picked = frame["decile"] >= 5
    for (branch, origin), rows in frame.groupby(["branch", "origin"]):
        rate = np.average(picked[rows.index], weights=rows["stands_for"])
        assert found.cells[branch][origin][1] == pytest.approx(rate)
    every = every_measure(store, own, weighted).set_index("measure")
    by_group = fairdash.audit(
        dataset.y,
        picked.astype(int),
        scores="decile",
        sensitive_features="origin",
        sample_weight="stands_for",
        frame=frame,
    ).table
    for name, key in (("Precision", "precision"), ("Brier score", "brier")):
        for place, origin in enumerate(("here", "there")):
            value = every.loc[name, "values"][place]
            assert value == pytest.approx(by_group.loc[key, origin])
    assert "stands_for" not in roles.features
    with pytest.raises(ValueError, match="'skill' is the sampling weight"):
        Roles.model_validate(roles.model_dump() | {"sample_weight": "skill"})
    bad = frame.assign(stands_for=frame["stands_for"].where(frame.index != 7, -1.0))
    with pytest.raises(ValueError, match=r"first row 8 with -1\.0"):
        make_dataset(bad, roles, name="bad")


@pytest.mark.parametrize("measure", ["selection_rate", "false_negative_rate"])
def test_ratios_are_means_over_seeds_with_all_rows_first(models, dataset_id, measure):
    dataset = ui.store().dataset(dataset_id)
    found = local_by_measure(
        ui.store(), [models[-1]], dataset_id, SUBGROUPS, measure
    ).ratios
    assert found["subgroup"].tolist() == ["All rows", "office", "works"]
    tables = []
    for trial in models[-1].trials:
        where = split(dataset, trial.seed).test
        decided = ui.store().artifact(trial.key).scores()[where] > 0.5
        frame = dataset.frame.iloc[where].assign(d=decided, y=dataset.y[where])
        if measure == "false_negative_rate":
            frame = frame[frame["y"] == 1].assign(d=lambda one: ~one["d"])
        rates = [frame.groupby("origin")["d"].mean()]
        rates += [
            one.groupby("origin")["d"].mean() for _, one in frame.groupby("branch")
        ]
        tables.append([rate.min() / rate.max() for rate in rates])
    np.testing.assert_allclose(found["ratio"], np.mean(tables, axis=0))
    assert found["estimable"].all()
    assert (found["reason"] == "").all()
    assert (found["ratio_low"] <= found["ratio"]).all()
    assert (found["ratio"] <= found["ratio_high"]).all()
    picture = plot_ratios(found, label="M", measure=measure, colour_role="ours")
    below = int((found["ratio"][1:] < 0.8).sum())
    assert picture.headline.startswith(f"Below four fifths in {below} of 2 subgroups")
    (line,) = picture.figure.layout.shapes
    assert line.x0 == line.x1 == 0.8
    notes = [note.text for note in picture.figure.layout.annotations]
    assert "four-fifths rule" in notes


def test_sampling_weights_count_in_base_rates_and_calibration(inline):
    frame = people(900)
    rng = np.random.default_rng(1)
    frame["w"] = rng.integers(1, 5, len(frame))
    frame["p"] = rng.random(len(frame)).round(3)
    score = ScoreColumn(column="p", kind="probability")
    roles = ROLES.model_copy(update={"sample_weight": "w", "scores": (score,)})
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    dataset_id = ui.store().add_dataset(table, roles, "People", SUBGROUPS)
    dataset = ui.store().dataset(dataset_id)
    rates = base_rates(dataset, SUBGROUPS)
    ratios = base_rate_ratios(dataset, SUBGROUPS).set_index("subgroup")["ratio"]
    # as if every row were there as often as it weighs
    again = dataset.frame.loc[dataset.frame.index.repeat(dataset.frame["w"])]
    y = again["hired"] == "yes"
    by_group = y.groupby(again["origin"]).mean()
    assert rates.rate == pytest.approx(y.mean())
    assert rates.gap == pytest.approx(by_group["here"] - by_group["there"])
    named = rates.groups.set_index("group")
    assert named["rate"].to_dict() == pytest.approx(by_group.to_dict())
    cells = rates.cells.set_index(["subgroup", "group"])["rate"]
    expected = y.groupby([again["branch"], again["origin"]]).mean()
    assert cells.to_dict() == pytest.approx(expected.to_dict())
    by_branch = expected.unstack()  # noqa: PD010
    alike = (by_branch.min(axis=1) / by_branch.max(axis=1)).to_dict()
    whole = {"All rows": by_group.min() / by_group.max()}
    assert ratios.to_dict() == pytest.approx(alike | whole)
    gaps = (expected.xs("here", level=1) - expected.xs("there", level=1)).abs()
    assert rates.local.set_index("subgroup")["local_di"].to_dict() == pytest.approx(
        gaps.to_dict()
    )
    n_there = named.loc["there", "n"]
    assert n_there == (dataset.frame["origin"] == "there").sum()  # numbers stay of rows
    alone = measure_by_group(
        "selection_rate",
        None,
        dataset.y,
        sensitive_features=dataset.groups,
        sample_weight=dataset.frame["w"],
    ).set_index("group")
    ends = ["ci_low", "ci_high"]
    own = named.loc["there", ends].tolist()
    assert own == pytest.approx(alone.loc["there", ends].tolist())
    (model,) = own_models(ui.store(), dataset_id)
    curve = calibration_of(ui.store(), model, dataset_id).set_index(["group", "bin"])
    inside = (again["p"] > 0.3) & (again["p"] < 0.4) & (again["origin"] == "there")
    row = curve.loc[("there", "0.3–0.4")]
    assert row["rate"] == pytest.approx(y[inside].mean())
    assert row["mean_score"] == pytest.approx(again["p"][inside].mean())


@pytest.mark.parametrize("reference", [None, "here"])
@pytest.mark.parametrize("measure", ["selection_rate", "true_positive_rate"])
@pytest.mark.parametrize(
    ("shares", "held"),
    [
        ((0.5, 0.4, 0.1), "hold for all pairs of groups in all subgroups"),
        ((0.5, 0.5, 0.0), "verdict's interval holds for all 2 subgroups at once"),
    ],
)
def test_the_pair_and_the_subgroup_named_have_an_interval_for_all(
    inline, measure, reference, shares, held
):
    frame = people(1200)
    rng = np.random.default_rng(1)
    frame["origin"] = rng.choice(["here", "there", "beyond"], 1200, p=shares)
    lower = frame["origin"].map({"here": 1.0, "there": 0.6, "beyond": 0.4})
    frame["p"] = (rng.random(1200) + 2 * (frame["hired"] == "yes")) / 3 * lower
    score = ScoreColumn(column="p", kind="probability")
    roles = ROLES.model_copy(update={"scores": (score,)})
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = ui.store().add_dataset(table, roles, "People", SUBGROUPS)
    (own,) = own_models(ui.store(), data)
    if measure == "true_positive_rate":
        frame = frame[frame["hired"] == "yes"]
    asked = SUBGROUPS, measure, reference
    found = local_by_measure(ui.store(), [own], data, *asked)
    groups = sorted(frame["origin"].unique())
    said = found.verdict("hired = yes", feature="origin")
    assert held in found.caption()
    unsure = replace(found, named=None)
    assert held not in unsure.caption()
    quiet = replace(found, chance=1.0)  # the largest gap is no finding, a sure one is
    assert held in quiet.caption()
    told = quiet.verdict("hired = yes", feature="origin")
    place, lower, higher, *_ = quiet.surest
    sure = {"subgroup": place, "confidence": 0.975}
    assert found.named.ends(higher, lower, **sure)[0] > 0
    assert told.startswith(f"In {quiet.surest.place}, ")
    assert "The largest gap, " in told
    assert "No gap in a subgroup" in replace(unsure, chance=1.0).verdict("x")
    worst = found.own.nlargest(1, "gap").iloc[0]["subgroup"]
    pairs = 3 if reference is None and len(groups) == 3 else len(groups) - 1
    for rows, places in ((frame[frame["branch"] == worst], 2), (frame, 1)):
        counts = (rows["p"] > 0.5).groupby(rows["origin"]).agg(["sum", "size"])
        rate = counts["sum"] / counts["size"]
        most = reference or rate.idxmax()
        least = rate.drop(most).idxmin()
        sure = 1 - 0.05 / (pairs * places)
        low, high = newcombe_interval(
            *counts.loc[most], *counts.loc[least], confidence=sure
        )
        told = re.escape(gap_ends(measure, 1, float(low), float(high)))
        assert re.search(rf"{least}.*\({told}[;)]", said), (told, said)
    if reference is None:
        every = every_model(ui.store(), [own], data, measure).iloc[0]
        assert (-every["ci_high"], -every["ci_low"]) == pytest.approx((low, high))


@pytest.mark.parametrize("measure", ["selection_rate", "brier"])
def test_ratios_to_a_reference_are_of_the_lowest_other_group(inline, measure):
    frame = people(900)
    rng = np.random.default_rng(1)
    frame["origin"] = rng.choice(["here", "there", "beyond"], 900)
    frame["p"] = rng.random(900) * np.where(frame["origin"] == "there", 0.7, 1)
    score = ScoreColumn(column="p", kind="probability")
    roles = ROLES.model_copy(update={"scores": (score,)})
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = ui.store().add_dataset(table, roles, "People", SUBGROUPS)
    (own,) = own_models(ui.store(), data)
    values = (
        (frame["p"] > 0.5)
        if measure == "selection_rate"
        else ((frame["p"] - (frame["hired"] == "yes")) ** 2)
    )
    keys = {"index": frame["branch"], "columns": frame["origin"]}
    rate = pd.crosstab(**keys, values=values, aggfunc="mean")

    def ratios(model, reference=None):
        asked = SUBGROUPS, measure, reference
        return local_by_measure(ui.store(), [model], data, *asked).ratios

    for reference in ("there", "here"):
        found = ratios(own, reference)
        found = found.set_index("subgroup")
        ratio = rate.drop(columns=reference).min(axis=1) / rate[reference]
        inside = found.loc[["office", "works"]]
        np.testing.assert_allclose(inside["ratio"], ratio[["office", "works"]])
        assert (found["ratio_low"] < found["ratio"]).all()
        assert (found["ratio"] < found["ratio_high"]).all()
        (axis,) = {
            plot_ratios(
                found.reset_index(), label="M", measure=measure, colour_role="ours",
                reference=reference,
            ).figure.layout.xaxis.range
        }  # fmt: skip
        assert axis[1] > found["ratio_high"].max()
    if measure == "selection_rate":
        free = ratios(own)
        to_there = ratios(own, "there")
        assert (to_there["ratio"] > 1).any()
        assert (free["ratio"] <= 1).all()


def test_of_several_groups_each_row_says_what_its_gap_is_of():
    told = {"gap": [-0.2, nan], "ci_low": [-0.3, nan], "ci_high": [-0.1, nan]}
    table = pd.DataFrame(
        {"measure": ["Accuracy", "AUC"], "values": [(0.5, 0.7, 0.6)] * 2, **told}
    ).assign(group="a", other="b")
    shown = readable_measures(table, ["a", "b", "c"], "sex")
    assert shown["Gap of"].tolist() == ["a − b", "–"]
    assert shown["Gap"].equals(table["gap"])
    ratios = readable_measures(table.assign(ratio=0.8), ["a", "b", "c"], "sex", "ratio")
    assert "Gap of" not in ratios
