"""A stored sweep: rows of earlier versions, cards, sentences."""

import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import examples
from hypothesis import given
from hypothesis import strategies as st
from toys import ROLES, people, people_csv, train_sweep

from fairdash.audits import DecisionRule, StoredSweep, choices, sweeps
from fairdash.audits.gaps.evaluation import paired_changes
from fairdash.audits.trials.models import trials_of
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.metrics import decision_status
from fairdash.store import open_store
from fairdash.sweep import PARITY, SweepResult, SweepSpec, choose_certified

QUICK = {"n_epochs": 3, "batch_size": 128}
GRID = {"fairness_weight": (0.5, 2.0), "tau": (0.1, 0.6)}
OLDER_HOME = Path(__file__).parents[1] / "store" / "older_home.tar.gz"
SHARE = st.integers(0, 8).map(lambda value: value / 8)


@pytest.fixture
def run_id(store, train_once):
    table = store.add_table(people_csv(), "people.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    store.add_dataset(table, ROLES, "People", subgroups)
    spec = SweepSpec.model_validate(
        {
            "data": {"table": table, "roles": ROLES, "name": "People"},
            "methods": [
                {"method": "unconstrained", "params": QUICK},
                {"method": "road", "params": {**QUICK, **GRID}},
            ],
            "seeds": (0, 1),
            "subgroups": subgroups,
        }
    )
    return train_once(store, lambda spec: submit(store, spec, name="Grid"), spec)


def test_rows_of_an_earlier_version_are_marked_from_their_scores(
    store, run_id, monkeypatch
):
    snapshot = store.snapshot(run_id)
    rows_now = StoredSweep.of(store, snapshot).result.rows
    old = snapshot.table().drop(
        columns=[c for c in rows_now if c.endswith(("_constant", "_selection_rate"))]
    )
    monkeypatch.setattr(type(snapshot), "table", lambda self: old)
    rows_later = StoredSweep.of(store, snapshot).result.rows
    pd.testing.assert_frame_equal(rows_later[rows_now.columns], rows_now)


def test_a_stored_model_that_accepts_nearly_all_is_marked_by_its_share(
    store, run_id, monkeypatch
):
    """Rows of earlier versions say what is accepted, not whether it is nearly all."""
    snapshot = store.snapshot(run_id)
    marked = [c for c in snapshot.table() if c.endswith("_alike")]
    old = snapshot.table().drop(columns=marked)
    old["validation_constant"] = 0.0
    old.loc[:2, "validation_selection_rate"] = 0.99
    old.loc[3:, "validation_selection_rate"] = 0.5
    monkeypatch.setattr(type(snapshot), "table", lambda self: old)
    rows = StoredSweep.of(store, snapshot).result.rows.set_index("key")
    nearly = rows.index.isin(old["key"][:3])
    assert (rows["validation_alike"] == nearly).all()
    assert (rows["validation_constant"] == nearly).all()


def test_rows_trials_and_models_follow_the_decision_rule(store, run_id):
    usual, sweep = (
        sweeps.finished_sweep(store, run_id, DecisionRule.of(text))
        for text in ("half", "top 20")
    )
    row = sweep.result.rows.iloc[0]
    dataset = store.dataset(sweep.run.dataset_id)
    scores = store.artifact(row["key"]).scores()
    _, validation, test = split(dataset, int(row["seed"]))
    decided = scores[test] > np.sort(scores[validation])[-25]  # a fifth of 120 rows
    assert row["test_selection_rate"] == decided.mean()
    right = (decided == dataset.y[test]).mean()
    assert row["test_accuracy"] == pytest.approx(right)
    assert (sweep.result.rows["test_auc"] == usual.result.rows["test_auc"]).all()
    assert sweep.compared(1)[-1].rule == DecisionRule("top", 20)
    assert sweep.ids == usual.ids


def test_quiet_settings_differ_from_the_plain_one_by_chance(store, run_id):
    sweep = sweeps.finished_sweep(store, run_id)
    arguments = sweep.run.dataset_id, sweep.subgroups
    points = choices.front_points(sweep, ("worst_1_di", "accuracy"), 0.1)
    tables = {}
    for place in range(len(points)):
        *plain, model = sweep.compared(place)
        if plain:
            tables[place] = paired_changes(store, model, plain[0], *arguments)
    across = ["accuracy", "worst_1_di"]
    quiet = choices.quiet_changes([*tables.values()], across)
    quiet = dict(zip(tables, quiet, strict=True))
    assert points["quiet"].tolist() == [quiet.get(i, False) for i in points.index]
    assert {True, False} == set(points["quiet"])


def test_copies_of_the_plain_model_are_all_quiet_however_many_there_are():
    changes = np.random.default_rng(5).normal(size=(50, 10, 2, 1))
    ends = np.concatenate([changes, changes - 1.96, changes + 1.96], axis=-1)
    names = ["difference", "low", "high"]

    def quiet(case):
        tables = [pd.DataFrame(model, columns=names) for model in case]
        tables = [table.assign(metric=["accuracy", "gap"]) for table in tables]
        return choices.quiet_changes(tables, ["accuracy", "gap"])

    assert sum(quiet(case).all() for case in ends) >= 45
    assert not quiet(ends[0] + 9.0).any()


def test_cards_say_the_change_and_on_which_rows_the_limit_is_kept(store, run_id):
    sweep = sweeps.finished_sweep(store, run_id)
    means = sweep.result.means
    (plain,) = means[means["method"] == "unconstrained"].to_dict("records")
    for limit in (0.05, 0.15):
        for place, cards in sweep.cards("road", limit).items():
            row = means.iloc[place]
            accuracy, gap, worst, within = cards
            assert accuracy.value == f"{row['test_accuracy']:.1%}"
            points = 100 * (row["test_accuracy"] - plain["test_accuracy"])
            assert float(accuracy.delta.split()[0].replace("−", "-")) == pytest.approx(
                points, abs=0.06
            )
            assert gap.value == f"{100 * row[f'test_{PARITY}']:.1f} pt"
            assert worst.note == f"± {100 * row['test_worst_1_di_sd']:.1f} over seeds"
            able = row["validation_constant"] <= 0.5
            within_limit = able and row[f"validation_{PARITY}"] <= limit
            assert within.value == ("yes" if within_limit else "no")
            limited = f"Within the limit of {100 * limit:g} points on the gap"
            assert within.label == limited
    (cards, *_) = sweep.cards("road", 0.01, metric="worst_1_di").values()
    limited = "Within the limit of 1 point on the largest local gap"
    assert cards[-1].label == limited


def test_a_card_of_what_no_subgroup_estimates_has_no_change(store, run_id):
    sweep = sweeps.finished_sweep(store, run_id)
    means = sweep.result.means.assign(test_worst_1_di=np.nan)
    few = replace(sweep, result=replace(sweep.result, means=means))
    for _, _, worst, _ in few.cards("road", 0.05).values():
        assert (worst.value, worst.note, worst.delta) == ("–", "not estimable", "")


def test_trials_of_an_open_run_are_read_anew(store, run_id):
    done = store.snapshot(run_id, curves=False)
    spec = done.run.spec
    data = done.run.dataset_id
    run = store.add_run(spec, done.trials, "Again", data)
    assert {trial.status for trial in trials_of(store, run)} == {"running"}
    first = done.trials[0]
    store.put_trial(run, first.key, row=first.row, seconds=1.0)
    trials_now = trials_of(store, run)
    assert [trial.status for trial in trials_now].count("finished") == 1
    store.set_status(run, "finished")
    assert trials_of(store, run) == store.snapshot(run, curves=False).trials
    assert trials_of(store, run) is trials_of(store, run)


def made_up(values, methods=("road",)):
    """Return a sweep of one seed with these validation and test figures."""
    names = [
        f"{part}_{metric}"
        for part in ("validation", "test")
        for metric in (PARITY, "worst_1_di", "accuracy", "constant")
    ]
    rows = pd.DataFrame(values, columns=names)
    for part in ("validation", "test"):
        rows[f"{part}_constant"] = (rows[f"{part}_constant"] > 0.8).astype(float)
    rows = rows.assign(
        key=[str(i) for i in range(len(rows))],
        method=[methods[i % len(methods)] for i in range(len(rows))],
        seed=0,
        fairness_weight=np.arange(len(rows)) / 2,
    )
    return SweepResult.of(rows)


figures = st.lists(st.tuples(*[SHARE] * 8), min_size=2, max_size=9)


@examples(60)
@given(figures, SHARE)
def test_a_sweep_opens_within_the_limit_or_nearest_to_it(values, limit):
    sweep = made_up(values)
    rows = sweep.rows[sweep.rows["validation_constant"] == 0]
    gaps = rows[f"validation_{PARITY}"]
    if rows.empty:
        return
    opened = sweep.start(limit)
    if (gaps <= limit).any():
        fair = rows[gaps <= limit]
        assert fair["validation_accuracy"].max() == fair["validation_accuracy"][opened]
    else:
        assert gaps[opened] == gaps.min()


def test_the_table_to_certify_counts_test_rows_of_models_on_the_front(store, run_id):
    sweep = sweeps.finished_sweep(store, run_id)
    limits = {PARITY: 0.5, "worst_1_di": 0.9}
    table = sweep.certification_table(limits)
    rows = sweep.result.rows
    for model, counts in table.groupby("model"):
        place = model
        (row,) = rows[
            (sweep.result.place_of_row == place) & (rows["seed"] == 0)
        ].to_dict("records")
        assert (counts["accuracy"] == row["validation_accuracy"]).all()
        shares = row[f"validation_{PARITY}"] / 0.5, row["ranking_local_gap"] / 0.9
        assert counts["gap"].iloc[0] == pytest.approx(max(shares))
        whole = counts[counts["subgroup"] == ""]
        assert whole["n"].sum() == row["test_n"]
        rates = whole["positives"] / whole["n"]
        assert np.ptp(rates) == pytest.approx(row[f"test_{PARITY}"])
        by = counts[counts["subgroup"] != ""].assign(
            rate=lambda cells: cells["positives"] / cells["n"]
        )
        gaps = by.groupby("subgroup")["rate"].agg(np.ptp)
        assert gaps.max() == pytest.approx(row["test_worst_1_di"])
    choice = choose_certified(sweep, limits={PARITY: 0.9, "worst_1_di": 0.9})
    assert choice.model in set(table["model"])


def test_units_of_a_table_go_into_the_table_to_certify(store):
    twice = people().assign(person=np.arange(600) // 2)
    roles = ROLES.model_copy(update={"unit": "person"})
    sweep = sweeps.finished_sweep(store, train_sweep(store, twice, "Units", roles))
    table = sweep.certification_table({PARITY: 0.9})
    assert len(table)
    assert (table["units"] < table["n"]).all()


def test_a_run_of_an_older_home_folder_opens_with_its_rows_marked(home):
    with tarfile.open(OLDER_HOME) as archive:
        archive.extractall(home, filter="data")
    store = open_store()
    (run,) = store.runs()
    snapshot = store.snapshot(run.id)
    assert "validation_constant" not in snapshot.table()
    result = StoredSweep.of(store, snapshot).result
    assert result.labels == ["Unconstrained", "ROAD λ 2 τ 0.3"]
    dataset = store.dataset(run.dataset_id)
    for key, constant in zip(
        result.rows["key"], result.rows["test_constant"], strict=True
    ):
        test = split(dataset, 0).test
        chosen = store.artifact(key).scores()[test] > 0.5
        (status,) = decision_status(dataset.y[test], chosen.astype(int))["status"]
        assert constant == (status != "")
    store.close()


def test_settings_are_compared_on_the_seeds_that_all_of_them_have(store, run_id):
    snapshot = store.snapshot(run_id)
    before = StoredSweep.of(store, snapshot)
    lost = next(t for t in snapshot.trials if t.seed == 1 and t.method == "road")
    remaining = tuple(t for t in snapshot.trials if t is not lost)
    sweep = StoredSweep.of(store, replace(snapshot, trials=remaining)).result
    assert (sweep.n_seeds, set(sweep.means["n_seeds"])) == (1, {1})
    first = before.result.rows[before.result.rows["seed"] == 0]
    assert sweep.means["test_accuracy"].tolist() == first["test_accuracy"].tolist()
