"""The summary for linked pictures: each number is that of the Python call."""

import zlib
from itertools import pairwise

import numpy as np
import pytest
from hostile_texts import marked_texts
from toys import ROLES, people, train_sweep

from fairdash.audits import linked, linked_form, sweeps
from fairdash.audits.gaps import local_by_measure
from fairdash.audits.trials import settings as together
from fairdash.datasets import split, training_rows
from fairdash.metrics import evaluate, local_di
from fairdash.store import open_store
from fairdash.sweep import PARITY

WORST = "worst_1_di"


def summarised(store, frame, roles=ROLES, subgroups=("branch",)):
    run = train_sweep(store, frame, "Linked", roles, subgroups)
    sweep = sweeps.finished_sweep(store, run)
    return sweep, linked.summary(sweep)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A sweep and its summary, which tests only read."""
    store = open_store(tmp_path_factory.mktemp("linked") / "home")
    yield summarised(store, people(700), subgroups=("branch", "age"))
    store.close()


def part_of(sweep, trial, part):
    """Return outcomes, scores and groups on rows of a trial's split."""
    dataset = sweep.store.dataset(sweep.run.dataset_id)
    rows = getattr(split(dataset, trial.seed), part)
    scores = sweep.store.artifact(trial.key).scores()[rows]
    about = {
        "sensitive_features": dataset.sensitive_features[rows],
        "subgroups": sweep.subgroups.model_copy(update={"min_size": 1})
        .label(dataset.frame)
        .iloc[rows],
        "min_size": sweep.subgroups.min_size,
    }
    return dataset.y[rows], scores, about


def test_metrics_and_local_gaps_are_means_over_seeds_of_the_python_calls(made):
    sweep, summary = made
    assert summary["seeds"] == [0, 1]
    for place, setting in enumerate(summary["settings"]):
        tables = []
        frames = []
        for trial in sweep.trials_at(place):
            y, scores, about = part_of(sweep, trial, "test")
            tables.append(evaluate(y, scores, **about).iloc[0])
            gaps = local_di((scores > 0.5).astype(int), **about)
            frames.append(gaps.set_index("subgroup"))
        for name in ("accuracy", PARITY, WORST):
            by_seed = [table[name] for table in tables]
            assert setting["seeds"][name] == pytest.approx(by_seed, abs=1e-6)
            assert setting["metrics"][name] == pytest.approx(np.mean(by_seed), abs=1e-6)
        low, high = setting["intervals"]["accuracy"]
        ends = [np.mean([t[f"accuracy_{e}"] for t in tables]) for e in ("low", "high")]
        assert (low, high) == pytest.approx(tuple(ends), abs=1e-6)
        for name, gap in zip(summary["subgroups"], setting["local"], strict=True):
            of_seeds = [table["local_di"].get(name, np.nan) for table in frames]
            finite = [value for value in of_seeds if np.isfinite(value)]
            assert (gap is None) == (2 * len(finite) < len(of_seeds))
            if gap is not None:
                assert gap[0] == pytest.approx(np.mean(finite), abs=1e-6)


def test_pictures_open_on_the_largest_local_gap(made):
    assert linked.first_measure(made[0]) == WORST


def test_intervals_are_those_of_local_fairness(made):
    sweep, summary = made
    for place, setting in enumerate(summary["settings"]):
        (model,) = together(sweep.trials_at(place))
        arguments = sweep.run.dataset_id, sweep.subgroups
        local = local_by_measure(sweep.store, [model], *arguments)
        gaps = local.model_gaps.set_index("subgroup").loc[summary["subgroups"]]
        for gap, (_, row) in zip(setting["local"], gaps.iterrows(), strict=True):
            if gap is not None:
                ends = row[["gap", "ci_low", "ci_high"]].astype(float)
                assert gap == pytest.approx(ends.tolist(), abs=1e-6)
        ends = [local.row["worst_1_low"], local.row["worst_1_high"]]
        assert setting["intervals"][WORST] == pytest.approx(ends, abs=1e-6)
        assert setting["chance"] == pytest.approx(local.chance, abs=1e-6)


def test_weights_are_those_that_training_left(made):
    sweep, summary = made
    store = sweep.store
    groups = list(summary["groups"])
    dataset = store.dataset(sweep.run.dataset_id)
    labels = sweep.subgroups.model_copy(update={"min_size": 1}).label(dataset.frame)
    seen = 0
    for place, setting in enumerate(summary["settings"]):
        if summary["methods"][setting["method"]]["key"] != "road":
            assert setting["weights"] is None
            assert setting["metrics"]["effective"] is None
            continue
        densities = []
        inside = {}
        effective = []
        for trial in sweep.trials_at(place):
            ratio = store.artifact(trial.key).ratio().astype(float)
            rows = training_rows(dataset, trial.seed, None)
            group = dataset.sensitive_features[rows]
            place_of = np.asarray(labels.iloc[rows].astype(object))
            effective.append(ratio.sum() ** 2 / (ratio**2).sum() / len(ratio))
            densities.append(
                [
                    np.array(
                        [
                            np.mean((ratio[group == g] >= a) & (ratio[group == g] < b))
                            for a, b in pairwise(linked.BINS)
                        ]
                    )
                    for g in groups
                ]
            )
            for name in summary["subgroups"]:
                for g in groups:
                    cell = ratio[(group == g) & (place_of == name)]
                    inside.setdefault((name, g), []).append(cell)
        assert setting["metrics"]["effective"] == pytest.approx(
            np.mean(effective), abs=1e-6
        )
        weights = setting["weights"]
        mean = np.mean(densities, axis=0)
        first = weights["first_bin"]
        n = len(weights["density"][0])
        assert np.allclose(weights["density"], mean[:, first : first + n], atol=1e-4)
        assert mean[:, :first].sum() == mean[:, first + n :].sum() == 0
        assert np.allclose(np.sum(weights["density"], axis=1), 1, atol=0.01)
        for i, name in enumerate(summary["subgroups"]):
            for k, g in enumerate(groups):
                cells = inside[name, g]
                cell_weights = weights["inside"][i][k]
                if min(map(len, cells)) < 20:
                    assert cell_weights is None  # so few that quantiles would show rows
                    continue
                wanted = np.mean(
                    [np.quantile(c, linked.QUANTILES) for c in cells], axis=0
                )
                assert cell_weights == pytest.approx(wanted, rel=6e-3)
                seen += 1
    assert seen > 10


def test_a_subgroup_without_an_estimable_gap_takes_no_place(store):
    frame = people(700)
    frame.loc[frame.index[:30], "branch"] = "kiosk"  # six test rows
    _, summary = summarised(store, frame)
    assert summary["subgroups"] == ["office", "works"]
    assert summary["n_subgroups"] == 3


def test_where_no_gap_is_estimable_subgroups_stand_without_one(store):
    frame = people(600).assign(branch=[f"branch {k % 60}" for k in range(600)])
    sweep, summary = summarised(store, frame)
    assert len(summary["subgroups"]) == linked_form.MOST_SUBGROUPS
    assert all(set(setting["local"]) == {None} for setting in summary["settings"])
    assert linked.first_measure(sweep) == PARITY


def test_a_setting_whose_gaps_say_nothing_says_why(store):
    sweep, summary = summarised(store, people(600))
    for place, setting in enumerate(summary["settings"]):
        judged = sweep.result.deciding(place)
        tried = sweep.result.deciding(place, "test")
        first = judged if judged.idle else tried
        assert bool(setting["idle"]) == first.idle
        assert (setting["idle"] == "alike") == first.alike
        assert setting["alike"].startswith(first.mark())


def test_hostile_names_come_through_as_they_are(store):
    skill, _, branch, group, *values = marked_texts()
    frame = people(600)
    frame["branch"] = frame["branch"].map({"office": values[0], "works": values[1]})
    frame["origin"] = frame["origin"].map({"here": values[2], "there": values[3]})
    frame = frame.rename(columns={"skill": skill, "branch": branch, "origin": group})
    roles = ROLES.model_copy(
        update={
            "sensitive_feature": group,
            "features": ("age", skill, branch),
            "subgroup_columns": ("age", branch),
        }
    )
    sweep, summary = summarised(store, frame, roles, (branch,))
    dataset = store.dataset(sweep.run.dataset_id)
    assert list(summary["groups"]) == list(dataset.group_names)
    assert set(summary["groups"]) == {values[2], values[3]}
    assert linked.unpacked(linked.packed(sweep))["subgroups"] == summary["subgroups"]
    assert len(summary["subgroups"]) == 2


def refuse(*_):
    raise AssertionError("it was measured anew")


def test_a_summary_is_measured_once_kept_with_the_run_and_deleted_with_it(
    store, monkeypatch
):
    sweep, stored = summarised(store, people(600))
    monkeypatch.setattr(linked, "_measured", refuse)
    assert linked.summary(sweep) == stored
    assert linked.unpacked(linked.packed(sweep)) == stored
    (folder,) = store.files.listed("summaries")
    (folder / "summary").write_bytes(zlib.compress(b"[]"))
    monkeypatch.undo()
    assert linked.summary(sweep) == stored  # what was changed on the disk is made anew
    store.delete_run(sweep.run.id)
    assert store.files.listed("summaries") == {}


def generated(n_settings, n_subgroups, n_groups):
    """Return a form as large as it can be: no number is missing, none repeats."""
    rng = np.random.default_rng(0)

    def shares(*shape, digits=6):
        return rng.random(shape).round(digits).tolist()

    def setting():
        n_bins = len(linked.BINS) - 1
        quantiles = rng.lognormal(size=(n_subgroups, n_groups, 5)).round(3).tolist()
        return {
            "intervals": {PARITY: shares(2), WORST: shares(2)},
            "effective": shares(1)[0],
            "chance": shares(1)[0],
            "quiet": {PARITY: False, WORST: True},
            "local": shares(n_subgroups, 3),
            "against": rng.integers(0, n_groups, n_subgroups).tolist(),
            "rates": shares(n_subgroups, n_groups),
            "weights": {
                "first_bin": 0,
                "density": shares(n_groups, n_bins, digits=4),
                "all": quantiles[0],
                "inside": quantiles,
            },
        }

    return {
        "version": linked_form.VERSION,
        "subgroups": [f"subgroup number {k}" for k in range(n_subgroups)],
        "n_subgroups": n_subgroups,
        "n_test": 6_000,
        "settings": [setting() for _ in range(n_settings)],
    }


def test_two_hundred_settings_of_twelve_subgroups_and_three_groups_are_small():
    form = linked_form.Form.model_validate(generated(200, 12, 3))
    assert all(setting.fits(12, 3) for setting in form.settings)
    assert len(zlib.compress(form.model_dump_json().encode(), 9)) < 400_000
