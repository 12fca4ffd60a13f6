"""Local results: shared seeds, tables that add up, one sentence that holds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from estimated import estimated
from toys import ROLES, people_csv

from fairdash import plots, ui
from fairdash._wording import PEOPLE
from fairdash.audits import Setting, gaps, trials
from fairdash.audits.gaps import local_words
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.metrics import Finding, Speech
from fairdash.scored import ScoredModel, Trained
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)


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
    return trials.known_models(ui.store(), dataset_id)


def setting(label, *seeds):
    trials = [ScoredModel(Trained(f"{label} {n}"), split=n) for n in seeds]
    return Setting("road", label, tuple(trials))


def test_models_are_compared_on_the_seeds_that_all_have(models, dataset_id):
    plain, *_, road = models
    assert (plain.seeds, road.seeds) == ({0, 1, 2}, {0})
    local = gaps.local_by_measure(ui.store(), [plain, road], dataset_id, SUBGROUPS)
    assert local.models["n_seeds"].tolist() == [1, 1]
    assert local.note == "Compared on seed 0."
    assert local.note in local.caption()
    alone = gaps.local_by_measure(
        ui.store(), [plain.on(frozenset({0})), road], dataset_id, SUBGROUPS
    )
    pd.testing.assert_frame_equal(local.estimates, alone.estimates)
    pd.testing.assert_frame_equal(local.models, alone.models)


def test_who_shares_no_seed_is_excluded_and_named():
    shared = trials.on_shared_seeds(
        [setting("A", 3), setting("B", 0, 1), setting("C", 0)]
    )
    assert [model.label for model in shared.models] == ["B", "C"]
    assert shared.seeds == (0,)
    assert shared.note().endswith("Excluded, no seed in common: A.")
    same = trials.on_shared_seeds([setting("A", 0, 1), setting("B", 0, 1)])
    assert (same.note(), same.seeds) == ("", (0, 1))


def test_with_several_seeds_gap_and_rates_are_means_over_the_seeds(dataset_id):
    run = start_training(dataset_id, MethodGrid(method="road", params=QUICK), 3)
    road, _ = trials.settings(ui.store().snapshot(run).trials)
    dataset = ui.store().dataset(dataset_id)
    local = gaps.local_by_measure(ui.store(), [road], dataset_id, SUBGROUPS)
    ranked = local.ranked("origin").set_index("Subgroup")
    labels = SUBGROUPS.label(dataset.frame)
    rates = {}
    worst = []
    for trial in road.trials:
        test_rows = split(dataset, trial.seed).test
        rows = pd.DataFrame(
            {
                "subgroup": labels.iloc[test_rows].to_numpy(),
                "group": dataset.sensitive_features[test_rows],
                "decided": ui.store().artifact(trial.key).scores()[test_rows] > 0.5,
            }
        )
        table = rows.pivot_table("decided", "subgroup", "group", observed=True)
        rates[trial.seed] = table.assign(gap=table.max(axis=1) - table.min(axis=1))
        worst.append(rates[trial.seed]["gap"].max())
    mean = pd.concat(rates.values()).groupby(level=0, observed=True).mean()
    names = [f"P(ŷ = 1) origin: {name}" for name in dataset.group_names]
    for subgroup, row in ranked.iterrows():
        assert row["Gap"] == pytest.approx(mean.loc[subgroup, "gap"])
        assert row[names].tolist() == pytest.approx(
            mean.loc[subgroup, list(dataset.group_names)].tolist()
        )
    first, *_ = local.kpis()
    assert first.value == f"{100 * np.mean(worst):.1f} pt"
    assert first.note.endswith("mean of 3 seeds")
    assert "mean over 3 seeds of the gap in each" in local.caption()


def result_of(cells, chance, *findings, row=None, changes=None):
    """Return a result by hand, of findings inside its subgroups."""
    numbers = {"label": "ROAD", "n_seeds": 1, "constant": 0.0, "n": 100.0}
    models = pd.DataFrame([numbers | (row or {})])
    return gaps.LocalResult(
        "ROAD", pd.concat(cells), models, chance, changes, inside=findings
    )


def inside(place, value, low, sure):
    ends = value, low, value + 0.1
    return Finding("selection_rate", place, "a", "b", *ends, 100, sure)


TINY = estimated("tiny", {"a": 0.5, "b": 0.0}, n={"a": 4, "b": 9})
LARGE = estimated("large", {"a": 0.5, "b": 0.2}, n=900)
SPEECH = Speech("approved", feature="sex")


@pytest.mark.parametrize(
    ("chance", "tiny", "large", "named"),
    [
        (0.3, (0.1, True), (0.1, True), "tiny"),  # the largest, beyond chance
        (0.6, (0.1, True), (0.2, True), "large"),  # the surest
        (0.3, (-0.1, False), (0.1, True), "large"),
        (0.3, (0.1, False), (-0.1, False), "tiny"),
        (0.6, (0.1, True), (-0.1, False), "tiny"),  # both: the pair is sure
    ],
)
def test_the_gap_named_is_the_largest_beyond_chance_else_the_surest(
    chance, tiny, large, named
):
    findings = inside("tiny", 0.5, *tiny), inside("large", 0.3, *large)
    result = result_of([TINY, LARGE], chance, *findings)
    brief = result.brief(SPEECH)
    details = result.details(SPEECH)
    size = 50 if named == "tiny" else 30
    low = (tiny if named == "tiny" else large)[0]
    is_large = named == "large"
    surest = is_large or chance > 0.5  # and not the largest beyond chance
    assert brief == (
        f"{'Surest gap: in' if surest else 'In'} {named}, sex: b is approved {size} "
        "points less often than sex: a (ROAD)."
    )
    assert ("50 points in tiny, could be chance" in details) == is_large
    assert ("of a fair model can reach 60 points" in details) == (surest > is_large)
    assert details.startswith(
        f"In {named}, sex: b is approved {size} points less often than sex: a "
        f"({100 * low:.0f} to {size + 10}). By ROAD, test rows."
    )
    bad = result.brief(SPEECH, favourable=False)
    assert f"sex: a is approved {size} points more often than sex: b" in bad
    hidden = replace(result, estimates=result.estimates.assign(reason="suppressed"))
    assert hidden.brief(SPEECH).startswith("No subgroup is estimable")
    assert "Over all rows" not in hidden.brief(SPEECH)
    clear = Finding("selection_rate", None, "b", "a", -0.2, -0.3, -0.1, sure=True)
    whole = replace(hidden, whole=clear)
    assert whole.brief(SPEECH).endswith(" Over all rows the gap is 20 points.")
    assert "points less often than sex: a (10 to 30)." in whole.details(SPEECH)


def test_where_no_gap_is_sure_the_largest_is_said_to_be_chance():
    findings = inside("tiny", 0.5, 0.1, False), inside("large", 0.3, 0.1, False)
    result = result_of([TINY, LARGE], 0.6, *findings)
    assert result.finding is None
    assert result.brief(SPEECH).startswith("No gap can be told from chance.")
    assert result.details(SPEECH) == (
        "No gap is sure to be beyond chance. The largest is 50 points, in tiny; a fair "
        "model stays below 60 points in 95% of cases (test rows)."
    )
    why = "A fair model can reach 60 points: some groups have fewer than ten rows in a"
    assert result.brief(SPEECH).endswith(f"{why} subgroup.")
    alone = result_of([LARGE], 0.6, findings[1])
    assert alone.brief(SPEECH).endswith("A fair model can reach 60 points.")
    clear = Finding("selection_rate", None, "b", "a", -0.2, -0.3, -0.1, sure=True)
    # A model that decides alike in every subgroup reaches nothing.
    assert local_words._reach(result_of([TINY, LARGE], 0.0)) == ""
    small = local_words._reach(result_of([TINY, LARGE], 0.1))
    assert small == "A fair model can reach 10 points."
    whole = replace(result, whole=clear).brief(SPEECH)
    assert whole.startswith("No gap inside a subgroup is beyond chance. A fair model")
    assert whole.endswith(f"{why} subgroup. Over all rows the gap is 20 points.")
    seeds = result_of([TINY, LARGE], 0.6, *findings, row={"n_seeds": 3})
    assert "The largest average over seeds is 50" in seeds.details(SPEECH)
    sure = replace(result, whole=inside(None, 0.1, 0.02, True))
    assert sure.brief(SPEECH).endswith("subgroup. Over all rows the gap is 10 points.")
    few = replace(result, whole=replace(sure.whole, sure=False))
    assert few.brief(SPEECH).endswith("Over all rows the gap may be 10 points.")
    assert few.details(SPEECH).endswith("(2 to 20), of too few rows to be sure.")


def test_people_of_a_table_of_counts_are_called_people():
    findings = inside("tiny", 0.5, 0.1, False), inside("large", 0.3, 0.1, False)
    rows = result_of([TINY, LARGE], 0.6, *findings)
    people = replace(rows, noun=PEOPLE)
    assert "fewer than ten people in a subgroup" in people.brief(SPEECH)
    assert people.details(SPEECH).endswith("(test people).")
    assert " on 100 test people, " in people.caption()
    assert people.facts("table", SUBGROUPS)[1] == "100 test people"
    everyone = replace(people, on_all_rows=True)
    assert everyone.details(SPEECH).endswith("(all people).")
    assert everyone.facts("table", SUBGROUPS)[1] == "100 people"
    arguments = people.drawing(SimpleNamespace(group_names=("a", "b"), roles=ROLES))
    assert arguments.arguments["noun"] == PEOPLE


def test_a_gap_of_other_groups_in_each_seed_is_beyond_chance_all_the_same():
    unsure = inside("tiny", 0.05, -0.1, False), inside("large", 0.05, -0.1, False)
    seeds = result_of([TINY, LARGE], 0.3, *unsure, row={"n_seeds": 3})
    text = seeds.brief(SPEECH)
    assert "The largest gap, 50 points in tiny, is beyond chance" in text
    assert "not between the same groups in every seed." in text
    assert "No gap" not in text + seeds.details(SPEECH)
    far = replace(unsure[0], high=0.6)
    reached = result_of([TINY, LARGE], 0.3, far, row={"n_seeds": 3})
    assert "every seed" not in reached.brief(SPEECH)
    one_seed = result_of([TINY, LARGE], 0.3, *unsure)
    assert "every seed" not in one_seed.brief(SPEECH)
    within = result_of([TINY, LARGE], 0.6, *unsure, row={"n_seeds": 3})
    assert "No gap can be told from chance." in within.brief(SPEECH)


def test_what_says_nothing_is_said_to_say_nothing():
    finding = inside("large", 0.3, 0.2, True)
    idle = result_of([LARGE], 0.1, finding, row={"constant": 1.0})
    assert idle.brief(SPEECH).startswith("ROAD is not clearly better than guessing")
    row = {"constant": 1.0, "alike": 1.0, "accepted": 0.987}
    decided_alike = result_of([LARGE], 0.1, finding, row=row)
    for text in (decided_alike.brief(SPEECH), decided_alike.details(SPEECH)):
        assert text.startswith("ROAD accepts 99%, nearly everyone")
    unknown = result_of([LARGE], np.nan, replace(finding, sure=False))
    assert "not known" in unknown.brief(SPEECH)
    assert "not known" in unknown.details(SPEECH)


def test_what_a_model_that_does_not_decide_narrows_is_no_gain():
    metrics = {"worst_1": 0.1, "overall": 0.1}
    ends = {f"{name}_{end}": 0.1 for name in metrics for end in ("low", "high")}
    paired = {"difference": -0.2, "low": -0.3, "high": -0.1}
    names = ["worst_1_di", "demographic_parity_difference"]
    changes = pd.DataFrame({"metric": names} | paired)
    for constant, good in ((0.0, True), (1.0, None)):
        row = {"constant": constant, "worst_k": np.nan, **metrics, **ends}
        result = result_of([LARGE], 0.2, row=row, changes=changes)
        ratings = [card.good for card in result.kpis() if card.delta]
        assert ratings == [good, good]


@pytest.mark.parametrize(
    ("n_left_out", "words"),
    [
        (0, "intervals of the change."),
        (1, "Not in the gap over all rows: 1 group with too few rows."),
        (1.5, "Not in the gap over all rows: 2 groups with too few rows."),
    ],
)
def test_what_changed_says_how_many_groups_have_too_few_rows(n_left_out, words):
    names = ["accuracy", "demographic_parity_difference", "worst_1_di"]
    numbers = dict.fromkeys(["reference", "value", "difference", "low", "high"], 0.1)
    changes = pd.DataFrame({"metric": names} | numbers)
    changes["n_left_out"] = [0, n_left_out, 0]
    listing = result_of([LARGE], 0.2, changes=changes)._listed_changes()
    assert listing.note.endswith(words)


def test_of_very_many_subgroups_the_widest_gaps_are_drawn_beside_the_largest():
    sizes = np.where(np.arange(60) == 55, 0.6, 0.1)
    cells = [
        estimated(f"part {i}", {"a": 0.7, "b": 0.6}, n=100 - i // 2, gap=gap)
        for i, gap in enumerate(sizes)
    ]
    row = {"overall": 0.1, "colour_role": "road"}
    result = result_of(cells, 0.2, row=row)
    dataset = SimpleNamespace(
        group_names=("a", "b"),
        roles=ROLES,
    )
    picture = result.drawing(dataset).picture(plots)
    assert picture.headline == "Gaps by subgroup of ROAD"
    assert len(picture.table) == 41
    assert "41 of 60 with most rows or widest gaps" in result.caption()
