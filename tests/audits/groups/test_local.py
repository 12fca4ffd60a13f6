"""Local results: shared seeds, tables that add up, one sentence that holds."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from estimated import estimated
from hypothesis import given
from hypothesis import strategies as st
from toys import ROLES, people_csv

from fairdash import plots, ui
from fairdash.audits import (
    LocalResult,
    Setting,
    known_models,
    local_by_measure,
    metrics_by_setting,
    model_in_question,
    on_shared_seeds,
    opened_on,
    outcome,
    settings,
    side_by_side,
)
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)
UNCLEAR = {"label": "ROAD", "constant": 0.0, "overall": 0.1}
UNCLEAR |= {"overall_low": 0.0, "overall_high": 0.2}
shares = st.floats(0, 1).map(lambda share: round(share, 3))


@pytest.fixture
def dataset_id(inline):
    table = ui.store().add_table(people_csv(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People", SUBGROUPS)


@pytest.fixture
def models(dataset_id):
    """The baseline trained with three seeds, then ROAD swept with one."""
    start_training(dataset_id, MethodGrid(method="unconstrained", params=QUICK), 3)
    grid = {"method": "road", "params": {**QUICK, "fairness_weight": [1.0, 3.0]}}
    table = ui.store().dataset_record(dataset_id).table_sha256
    spec = {"data": {"table": table, "roles": ROLES, "name": "People"}}
    submit(ui.store(), SweepSpec.model_validate({**spec, "methods": [grid]}))
    return known_models(ui.store(), dataset_id)


def setting(label, *seeds):
    trials = [SimpleNamespace(seed=seed, key=f"{label} {seed}") for seed in seeds]
    return Setting("road", label, tuple(trials))


def test_several_models_that_lack_seeds_are_named_together():
    one, two = setting("ROAD", 0), setting("Zhang", 0)
    found = on_shared_seeds([setting("Logistic", 0, 1), one, two])
    assert found.note() == "Compared on seed 0: ROAD and Zhang have no others."


def test_models_are_compared_on_the_seeds_that_all_have(models, dataset_id):
    plain, *_, road = models
    assert (plain.seeds, road.seeds) == ({0, 1, 2}, {0})
    found = local_by_measure(ui.store(), [plain, road], dataset_id, SUBGROUPS)
    assert found.models["n_seeds"].tolist() == [1, 1]
    assert found.note == f"Compared on seed 0: {road.label} has no others."
    assert found.note in found.caption()
    alone = local_by_measure(
        ui.store(), [plain.on(frozenset({0})), road], dataset_id, SUBGROUPS
    )
    pd.testing.assert_frame_equal(found.estimates, alone.estimates)
    pd.testing.assert_frame_equal(found.models, alone.models)


def test_runs_are_compared_on_shared_seeds(models, dataset_id):
    (last,) = (m for run in ui.store().runs() if (m := opened_on(ui.store(), run.id)))
    found = side_by_side(ui.store(), [run.id for run in ui.store().runs()])
    assert found.table["n_seeds"].tolist() == [1] * len(found.table)
    where = split(ui.store().dataset(dataset_id), 0).test
    y = ui.store().dataset(dataset_id).y[where]
    for model, (_, row) in zip(found.settings, found.table.iterrows(), strict=True):
        (key,) = [trial.key for trial in model.trials if trial.seed == 0]
        decided = ui.store().artifact(key).scores()[where] > 0.5
        assert row["label"] == model.label
        assert row["accuracy"] == pytest.approx(np.mean(decided == y))
    assert "one seed" in found.caption()
    assert f"Compared on seed 0: {last.label} has no others." in found.caption()


def test_a_run_that_is_no_sweep_opens_on_its_method_and_not_the_plain_model(dataset_id):
    run = start_training(dataset_id, MethodGrid(method="road", params=QUICK), 1)
    found = known_models(ui.store(), dataset_id, run)
    assert [model.method for model in found] == ["unconstrained", "road"]
    assert found[model_in_question(ui.store(), found, run)].method == "road"
    assert model_in_question(ui.store(), found, None) == 0


def test_models_trained_on_fewer_rows_are_models_of_their_own(dataset_id):
    grid = MethodGrid(method="unconstrained", params=QUICK)
    start_training(dataset_id, grid, 2)
    start_training(dataset_id, grid, 1, train_rows=200)
    full, fewer = sorted(
        known_models(ui.store(), dataset_id), key=lambda model: len(model.label)
    )
    assert [full.label, fewer.label] == [
        "Unconstrained",
        "Unconstrained, 200 training rows",
    ]
    assert [t.seed for t in full.trials] == [0, 1]
    assert [t.seed for t in fewer.trials] == [0]
    assert full.id != fewer.id


def test_models_of_an_earlier_version_are_not_averaged_with_those_of_now(
    dataset_id, monkeypatch
):
    grid = MethodGrid(method="unconstrained", params=QUICK)
    with monkeypatch.context() as earlier:
        earlier.setattr("fairdash.sweep._plan.RESULTS_VERSION", 2)
        start_training(dataset_id, grid, 1)
    start_training(dataset_id, grid, 2)
    labels = {m.label: m for m in known_models(ui.store(), dataset_id)}
    before = labels.pop("Unconstrained, earlier version")
    assert (before.seeds, labels["Unconstrained"].seeds) == ({0}, {0, 1})


def test_settings_of_one_label_are_never_averaged(dataset_id):
    lengths = {"n_epochs": (2, 12), "batch_size": 128}
    run = start_training(
        dataset_id, MethodGrid(method="unconstrained", params=lengths), 1
    )
    found = outcome(ui.store(), ui.store().snapshot(run))
    assert found.models["n_seeds"].tolist() == [1, 1]
    same = [replace(model, label="Same") for model in found.settings]
    table = metrics_by_setting(ui.store(), same, dataset_id, SUBGROUPS)
    assert table["auc"].tolist() == found.models["auc"].tolist()
    assert table["auc"].nunique() == 2


def test_who_shares_no_seed_is_excluded_and_named():
    found = on_shared_seeds([setting("A", 3), setting("B", 0, 1), setting("C", 0)])
    assert [model.label for model in found.models] == ["B", "C"]
    assert found.seeds == (0,)
    assert found.note().endswith("Excluded, no seed in common: A.")
    same = on_shared_seeds([setting("A", 0, 1), setting("B", 0, 1)])
    assert (same.note(), same.seeds) == ("", (0, 1))


def test_with_several_seeds_gap_and_rates_are_means_over_the_seeds(dataset_id):
    run = start_training(dataset_id, MethodGrid(method="road", params=QUICK), 3)
    road, _ = settings(ui.store().snapshot(run).trials)
    dataset = ui.store().dataset(dataset_id)
    found = local_by_measure(ui.store(), [road], dataset_id, SUBGROUPS)
    ranked = found.ranked("origin").set_index("Subgroup")
    here = {name: cells["here"][0] for name, cells in found.cells.items()}
    assert ranked["Rows by group"].str.split(" / ").str[0].to_dict() == {
        name: f"{n:,}" for name, n in here.items()
    }
    assert found.below() == "Rows by group: here / there."
    labels = SUBGROUPS.label(dataset.frame)
    rates, worst = {}, []
    for trial in road.trials:
        where = split(dataset, trial.seed).test
        rows = pd.DataFrame(
            {
                "subgroup": labels.iloc[where].to_numpy(),
                "group": dataset.sensitive_features[where],
                "decided": ui.store().artifact(trial.key).scores()[where] > 0.5,
            }
        )
        table = rows.pivot_table("decided", "subgroup", "group", observed=True)
        rates[trial.seed] = table.assign(gap=table.max(axis=1) - table.min(axis=1))
        worst.append(rates[trial.seed]["gap"].max())
    mean = pd.concat(rates.values()).groupby(level=0, observed=True).mean()
    names = [f"P(ŷ = 1) origin: {name}" for name in dataset.group_names]
    for subgroup, row in ranked.iterrows():
        assert row["Local DI"] == pytest.approx(mean.loc[subgroup, "gap"])
        assert row[names].tolist() == pytest.approx(
            mean.loc[subgroup, list(dataset.group_names)].tolist()
        )
        apart = np.ptp(row[names].astype(float))
        assert row["Gap of mean rates"] == pytest.approx(apart)
    first, *_ = found.kpis(1)
    assert first.value == f"{np.mean(worst):.3f}"
    assert first.note.endswith("mean of each seed's largest")
    assert "mean over 3 seeds of the gap in each" in found.caption()


@st.composite
def results(draw):
    """Tables of one model over one or three seeds, of two or three groups."""
    groups = ["a", "b", "c"][: draw(st.integers(2, 3))]
    tables = []
    for name in ("north", "south", "west")[: draw(st.integers(1, 3))]:
        rates = {group: draw(shares) for group in groups}
        gap = max(rates.values()) - min(rates.values())
        low, high = max(0.0, gap - 0.1), min(1.0, gap + 0.1)
        reason = draw(st.sampled_from(["", "9 rows"]))
        tables.append(estimated(name, rates, low=low, high=high, reason=reason))
    constant = draw(st.sampled_from([0.0, 0.0, 0.0, 1.0]))
    model = {"label": "ROAD", "n_seeds": draw(st.sampled_from([1, 3]))}
    whole = draw(shares)
    ends = {"overall_low": whole - 0.1, "overall_high": whole + 0.1}
    table = pd.DataFrame([model | {"overall": whole, "constant": constant} | ends])
    found = LocalResult("ROAD", pd.concat(tables), table, draw(shares), None)
    return replace(found, overall_sure=draw(st.booleans()))


@given(results())
def test_the_verdict_says_who_is_worse_off_by_how_much_and_how_surely(case):
    found = case
    words = found.verdict("approved = yes")
    known = found.gaps[found.gaps["estimable"]]
    if found.row["constant"]:
        assert "decides alike" in words
        return
    if known.empty:
        assert words.startswith("No subgroup is estimable")
        return
    assert "test rows" in words
    assert ("mean of 3 seeds" in words) == (found.n_seeds == 3)
    largest = known["gap"].max()
    points = [float(n) for n in re.findall(r"(\d+(?:\.\d)?) points?\b", words)]
    if largest <= found.chance:
        assert words.startswith("No gap in a subgroup exceeds what chance alone shows")
        assert points[0] == pytest.approx(100 * largest, abs=0.51)
        assert points[1] == pytest.approx(100 * found.chance, abs=0.51)
        tenths = [100 * largest, 100 * found.chance]
        if points[0] == points[1]:  # then a decimal tells them apart, if one can
            assert points[:2] == pytest.approx(tenths, abs=0.051)
        whole = 100 * found.row["overall"]
        sure = whole > 10 and (found.n_seeds == 1 or found.overall_sure)
        assert len(points) == 2 + sure
        if sure:
            assert "Over all rows groups are" in words
            assert points[2] == pytest.approx(whole, abs=0.51)
        return
    said = re.fullmatch(
        r"In (\w+), by ROAD, (\w) is predicted “approved = yes” (\d+) points? less "
        r"often than (\w) \(([\d.]+) to ([\d.]+); .*\)\.",
        words,
    )
    subgroup, lower, amount, higher, low, high = said.groups()
    row = known.set_index("subgroup").loc[subgroup]
    assert row["gap"] == largest
    values = {group: value for group, (_, value) in found.cells[subgroup].items()}
    assert values[lower] == min(values.values())
    assert values[higher] == max(values.values())
    assert int(amount) == pytest.approx(100 * largest, abs=0.51)
    assert float(low) == pytest.approx(100 * row["ci_low"], abs=0.51)
    assert float(high) == pytest.approx(100 * row["ci_high"], abs=0.51)


@pytest.mark.parametrize(
    "low, few, named", [(0.1, False, True), (-0.1, False, False), (0.1, True, False)]
)
def test_a_sure_gap_is_named_though_the_largest_is_within_chance(low, few, named):
    n = 200
    cells = [
        estimated("tiny", {"a": 0.0, "b": 0.5}, n={"a": 4, "b": 9}, high=0.9),
        estimated("large", {"a": 0.5, "b": 0.2}, n={"a": 5 * n, "b": n}, high=0.9),
    ]
    ends = {"tiny": (-0.01, 0.9), "large": (low, 0.4)}
    pair = SimpleNamespace(
        ends=lambda one, other, subgroup, confidence=0.95: ends[subgroup],
        too_few=lambda one, other, subgroup: few or subgroup == "tiny",
    )
    table = pd.DataFrame([UNCLEAR | {"n_seeds": 1}])
    found = LocalResult("ROAD", pd.concat(cells), table, 0.6, None, named=pair)
    words = found.verdict("approved = yes")
    assert ("No gap in a subgroup exceeds" in words) != named
    if named:
        assert words == (
            "In large, by ROAD, b is predicted “approved = yes” 30 points less often "
            "than a (10 to 40; test rows). The largest gap, 50 points, is not above "
            "the 60 points that a fair model stays below in 95% of cases."
        )
    loud = replace(found, chance=0.4).verdict("approved = yes")
    assert loud.startswith("In large, " if named else "In tiny, ")
    above = "The largest gap, 50 points in tiny, is above the 40 points"
    assert (above in loud) == named


def test_a_gap_is_not_held_to_chance_where_that_is_not_known():
    cells = estimated("north", {"a": 0.5, "b": 0.8}, gap=0.3, low=0.2, high=0.4)
    table = pd.DataFrame([UNCLEAR | {"n_seeds": 1}])
    found = LocalResult("ROAD", cells, table, np.nan, None)
    words = found.verdict("approved = yes")
    assert words.startswith("In north groups are 30 points apart by ROAD; what chance")
    assert "not known there (test rows)" in words


def test_seeds_that_disagree_on_who_is_ahead_are_not_given_a_direction():
    cells = estimated("north", {"a": 0.5, "b": 0.52}, gap=0.3, low=0.2, high=0.4)
    table = pd.DataFrame([UNCLEAR | {"n_seeds": 2}])
    found = LocalResult("ROAD", cells, table, 0.1, None)
    words = found.verdict("approved = yes")
    assert "30 points apart" in words
    assert "seeds disagree on who is ahead" in words


def test_what_a_model_that_does_not_decide_narrows_is_no_gain():
    metrics = {"worst_1": 0.1, "overall": 0.1, "n": 100}
    ends = {f"{name}_{end}": 0.1 for name in metrics for end in ("low", "high")}
    paired = {"difference": -0.2, "low": -0.3, "high": -0.1}
    names = ["worst_1_di", "demographic_parity_difference"]
    changes = pd.DataFrame({"metric": names} | paired)
    cells = estimated("north", {"a": 0.1, "b": 0.2})
    for constant, good in ((0.0, True), (1.0, None)):
        row = {"label": "ROAD", "n_seeds": 1, "constant": constant, **metrics, **ends}
        models = pd.DataFrame([row])
        result = LocalResult("ROAD", cells, models, 0.2, changes)
        shown = [card.good for card in result.kpis(1) if card.delta]
        assert shown
        assert set(shown) == {good}


def test_of_very_many_subgroups_the_widest_gaps_are_drawn_beside_the_largest():
    def of(label, widest):
        return [
            estimated(
                f"part {i}",
                {"a": 0.7, "b": 0.6},
                n=100 - i // 2,
                gap=gap,
                low=gap - 0.05,
                high=gap + 0.05,
                model=label,
            )
            for i, gap in enumerate(np.where(np.arange(60) == widest, 0.6, 0.1))
        ]

    numbers = {"n": 900.0, "n_seeds": 1, "constant": 0.0, "colour_role": "road"}
    models = pd.DataFrame({"label": ["Plain", "Own"]}).assign(**numbers, overall=0.1)
    cells = pd.concat([*of("Plain", 50), *of("Own", 55)], ignore_index=True)
    found = LocalResult("Own", cells, models, chance=0.2, changes=None)
    dataset = SimpleNamespace(
        group_names=("a", "b"), roles=SimpleNamespace(sensitive_feature="s")
    )
    picture = found.drawing(dataset).picture(plots)
    assert picture.headline == "The gap is largest in part 55: 0.60"
    assert "Plain is worst for part 50" in picture.alt
    assert len(picture.table) == 2 * 42
    widest = "the 40 largest of 60 and those with the widest gaps on 900 test rows"
    assert widest in found.caption()
    few = cells[cells["subgroup"].isin([f"part {i}" for i in range(40)])]
    assert " of " not in replace(found, estimates=few).caption().split(" on ")[0]
