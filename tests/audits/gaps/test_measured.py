"""Any measure on Local fairness: of trained models as of stored scores, of columns."""

import numpy as np
import pandas as pd
import pytest
from by_hand import local_measure, newcombe_interval
from sklearn.metrics import roc_auc_score
from toys import ROLES, people

from fairdash import ui
from fairdash.audits import gaps, trials
from fairdash.audits.gaps.local_words import PAIR_WORDS
from fairdash.datasets import ScoreColumn, Subgroups, split
from fairdash.metrics import Speech, measure_by_group
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
    return trials.known_models(ui.store(), dataset_id)


def decided(dataset, where):
    return (dataset.frame["decile"].iloc[where] >= 5).to_numpy().astype(int)


def recalibrated_by_fold(scores, y):
    """Return isotonic probabilities of each tenth of the rows, of the other nine."""
    fold = np.random.default_rng(0).permutation(len(y)) % 10
    levels, place = np.unique(scores, return_inverse=True)
    probabilities = np.empty(len(y))
    for held_out in range(10):
        rest = fold != held_out
        n = np.bincount(place[rest], minlength=len(levels))
        rates = np.bincount(place[rest], y[rest], len(levels)) / n
        # by min-max of means over runs of levels, not by pooling of violators
        sums = np.cumsum([0, *(rates * n)])
        counts = np.cumsum([0, *n])
        fitted = [
            max(
                min(
                    (sums[end] - sums[start]) / (counts[end] - counts[start])
                    for end in range(level + 1, len(levels) + 1)
                )
                for start in range(level + 1)
            )
            for level in range(len(levels))
        ]
        probabilities[~rest] = np.array(fitted)[place[~rest]]
    return probabilities


def test_scores_beside_a_model_change_none_of_its_numbers(models, dataset_id):
    alone = gaps.local_by_measure(ui.store(), models, dataset_id, SUBGROUPS)
    all_models = [*trials.own_models(ui.store(), dataset_id), *models]
    together = gaps.local_by_measure(ui.store(), all_models, dataset_id, SUBGROUPS)
    pd.testing.assert_frame_equal(
        together.model_gaps.reset_index(drop=True),
        alone.model_gaps.reset_index(drop=True),
    )
    pd.testing.assert_series_equal(together.row, alone.row, check_names=False)
    assert together.chance == alone.chance


def test_a_score_column_is_audited_on_all_rows_or_beside_a_model(models, dataset_id):
    dataset = ui.store().dataset(dataset_id)
    (created,) = trials.own_models(ui.store(), dataset_id)
    assert created.label == "decile ≥ 5"
    alone = gaps.local_by_measure(
        ui.store(), [created], dataset_id, SUBGROUPS, "false_positive_rate"
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
    assert alone.model_gaps["gap"].tolist() == pytest.approx(expected["gap"].tolist())
    assert "900 rows" in alone.facts("People", SUBGROUPS)
    words = alone.details(Speech.of("hired = yes", ""), favourable=True)
    worst = expected.loc[expected["gap"].idxmax()]
    assert words.startswith(
        f"In {worst['subgroup']}, among rows without “hired = yes”, "
        f"there is predicted “hired = yes” {100 * worst['gap']:.0f} points less often "
        "than here ("
    )
    assert "). By decile ≥ 5, all rows. " in words


@pytest.fixture
def own_model(dataset_id):
    """The model of the user's own scores."""
    (model,) = trials.own_models(ui.store(), dataset_id)
    return model


@pytest.fixture
def measured(own_model, dataset_id):
    """Every measure of it, with the value of each group in a column."""
    table = gaps.every_measure(ui.store(), own_model, dataset_id).set_index("measure")
    for place, name in enumerate(("here", "there")):
        table[name] = table["values"].str[place]
    return table


def test_every_measure_has_the_rate_of_each_group_and_auc_is_of_the_score_itself(
    measured, dataset_id
):
    dataset = ui.store().dataset(dataset_id)
    groups = dataset.sensitive_features
    y = dataset.y
    picked = decided(dataset, np.arange(900))
    for name in ("here", "there"):
        inside = groups == name
        rate = picked[inside & (y == 1)].mean()
        assert measured.loc["True positive rate", name] == pytest.approx(rate)
        auc = roc_auc_score(y[inside], dataset.frame["decile"][inside])
        assert measured.loc["AUC", name] == pytest.approx(auc)


def test_every_gap_is_signed_and_has_its_ratio(measured):
    for row in measured.drop(index="Calibration").to_dict("records"):
        own_rate, other_rate = (row[row[who].removeprefix("origin: ")] for who in _PAIR)
        assert row["ratio"] == pytest.approx(own_rate / other_rate)
        assert row["gap"] == pytest.approx(own_rate - other_rate)
    gap = measured.loc["Selection rate"]
    assert gap["gap"] == pytest.approx(gap["there"] - gap["here"])
    assert gap["gap"] < 0
    assert "origin: there is predicted “hired = yes”" in gap["sentence"]
    readable = gaps.readable_measures(
        measured.reset_index(), ["here", "there"], "origin"
    )
    assert readable["Gap of"].iloc[0] == "origin: there − origin: here"
    assert readable["Gap"].tolist() == measured["gap"].tolist()


def test_four_fifths_are_of_the_selection_rate_alone(measured):
    gap = measured.loc["Selection rate"]
    assert gap["four_fifths"] == "surely below"
    assert gap["ratio_low"] < gap["ratio"] < gap["ratio_high"] < 0.8
    assert set(measured.drop(index="Selection rate")["four_fifths"]) == {""}


def test_four_fifths_of_an_outcome_that_harms_are_of_those_spared(
    measured, own_model, dataset_id
):
    spared = gaps.every_measure(ui.store(), own_model, dataset_id, favourable=False)
    fifths = spared.set_index("measure").loc["Selection rate"]
    assert fifths["group"] == "origin: here"  # more of it is worse, and 1 - rate less
    rates = [1 - measured.loc["Selection rate", name] for name in ("here", "there")]
    assert (fifths["four_fifths"] == "not below") == (rates[0] / rates[1] >= 0.8)


def test_calibration_is_of_the_score_recalibrated_by_fold(
    measured, own_model, dataset_id
):
    dataset = ui.store().dataset(dataset_id)
    groups = dataset.sensitive_features
    y = dataset.y
    assert "isotonic" in measured.loc["Calibration", "symbol"]
    excess = recalibrated_by_fold(dataset.frame["decile"].to_numpy(), y) - y
    for name in ("here", "there"):
        estimate = measured.loc["Calibration", name]
        assert estimate == pytest.approx(excess[groups == name].mean(), abs=1e-12)
    curve = gaps.calibration_of(ui.store(), own_model, dataset_id)
    assert curve["bin"].unique().tolist() == [str(k) for k in range(1, 11)]
    assert curve["n"].sum() == 900


def test_ratios_are_means_over_seeds_with_all_rows_first(models, dataset_id):
    measure = "false_negative_rate"
    dataset = ui.store().dataset(dataset_id)
    local = gaps.local_by_measure(
        ui.store(), [models[-1]], dataset_id, SUBGROUPS, measure
    ).ratios
    assert local["subgroup"].tolist() == ["All rows", "office", "works"]
    tables = []
    for trial in models[-1].trials:
        test_rows = split(dataset, trial.seed).test
        decided = ui.store().artifact(trial.key).scores()[test_rows] > 0.5
        frame = dataset.frame.iloc[test_rows].assign(d=decided, y=dataset.y[test_rows])
        frame = frame[frame["y"] == 1].assign(d=lambda rows: ~rows["d"])
        rates = [frame.groupby("origin")["d"].mean()]
        rates += [
            part.groupby("origin")["d"].mean() for _, part in frame.groupby("branch")
        ]
        tables.append([rate.min() / rate.max() for rate in rates])
    np.testing.assert_allclose(local["ratio"], np.mean(tables, axis=0))
    assert local["estimable"].all()
    assert (local["reason"] == "").all()
    assert (local["ratio_low"] <= local["ratio"]).all()
    assert (local["ratio"] <= local["ratio_high"]).all()


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
    rates = gaps.base_rates(dataset, SUBGROUPS)
    # as if every row were there as often as it weighs
    again = dataset.frame.loc[dataset.frame.index.repeat(dataset.frame["w"])]
    y = again["hired"] == "yes"
    by_group = y.groupby(again["origin"]).mean()
    assert rates.whole.value == pytest.approx(y.mean())
    assert rates.gap.value == pytest.approx(by_group["here"] - by_group["there"])
    named = rates.groups.set_index("group")
    assert named["rate"].to_dict() == pytest.approx(by_group.to_dict())
    cells = rates.cells.set_index(["subgroup", "group"])["rate"]
    expected = y.groupby([again["branch"], again["origin"]]).mean()
    assert cells.to_dict() == pytest.approx(expected.to_dict())
    widest = (expected.xs("here", level=1) - expected.xs("there", level=1)).abs()
    assert rates.local.set_index("subgroup")["gap"].to_dict() == pytest.approx(
        widest.to_dict()
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
    ends_of_group = named.loc["there", ends].tolist()
    assert ends_of_group == pytest.approx(alone.loc["there", ends].tolist())
    (model,) = trials.own_models(ui.store(), dataset_id)
    curve = gaps.calibration_of(ui.store(), model, dataset_id).set_index(
        ["group", "bin"]
    )
    inside = (again["p"] > 0.3) & (again["p"] < 0.4) & (again["origin"] == "there")
    row = curve.loc[("there", "0.3–0.4")]
    assert row["rate"] == pytest.approx(y[inside].mean())
    assert row["mean_score"] == pytest.approx(again["p"][inside].mean())


@pytest.mark.parametrize("measure", ["selection_rate", "true_positive_rate"])
def test_the_pair_and_the_subgroup_named_have_an_interval_for_all(inline, measure):
    frame = people(1200)
    rng = np.random.default_rng(1)
    shares = (0.5, 0.4, 0.1)
    frame["origin"] = rng.choice(["here", "there", "beyond"], 1200, p=shares)
    lower = frame["origin"].map({"here": 1.0, "there": 0.6, "beyond": 0.4})
    frame["p"] = (rng.random(1200) + 2 * (frame["hired"] == "yes")) / 3 * lower
    score = ScoreColumn(column="p", kind="probability")
    roles = ROLES.model_copy(update={"scores": (score,)})
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    data = ui.store().add_dataset(table, roles, "People", SUBGROUPS)
    (created,) = trials.own_models(ui.store(), data)
    if measure == "true_positive_rate":
        frame = frame[frame["hired"] == "yes"]
    result = gaps.local_by_measure(ui.store(), [created], data, SUBGROUPS, measure)
    assert len(result.inside) == 2
    assert PAIR_WORDS in result.caption()
    text = result.details(Speech.of("hired = yes", "origin"))
    assert text.startswith(f"In {result.finding.subgroup}, ")
    pairs = [(f.subgroup, f.low, f.high, f.group, f.reference) for f in result.inside]
    whole = result.whole.turned()
    pairs.append((None, whole.low, whole.high, whole.group, whole.reference))
    row = result.row
    created = result.model_gaps.set_index("subgroup")
    largest = created.loc[created["gap"].idxmax()]
    for name, interval in (("overall", whole), ("worst_1", largest)):
        low, high = ("low", "high") if name == "overall" else ("ci_low", "ci_high")
        values = row[f"{name}_low"], row[f"{name}_high"]
        assert values == (getattr(interval, low), getattr(interval, high))
    for place, low, high, most, least in pairs:
        if place is not None:  # one interval for one number
            drawn = created.loc[place, "ci_low"], created.loc[place, "ci_high"]
            assert drawn == (max(low, 0), max(high, -low))
        rows = frame if place is None else frame[frame["branch"] == place]
        counts = (rows["p"] > 0.5).groupby(rows["origin"]).agg(["sum", "size"])
        rate = counts["sum"] / counts["size"]
        assert (most, least) == (rate.idxmax(), rate.idxmin())
        level = 1 - 0.05 / (3 if place is None else 6)
        expected = newcombe_interval(
            *counts.loc[most], *counts.loc[least], confidence=level
        )
        assert (low, high) == pytest.approx(expected)


def test_what_the_outcome_means_can_be_said_otherwise_later(dataset_id):
    store = ui.store()
    results = []
    record, (part,) = (
        store.dataset_record(dataset_id),
        trials.own_models(store, dataset_id),
    )
    for meaning in ("favourable", "unfavourable"):
        names = {"positive_name": f"so {meaning}", "positive_is": meaning}
        roles = record.roles.model_copy(update=names)
        assert store.add_dataset(record.table_sha256, roles, "People") == dataset_id
        whole = gaps.local_by_measure(store, [part], dataset_id, SUBGROUPS).whole
        results.append({whole.group: 1, whole.reference: -1})
        words = gaps.every_measure(store, part, dataset_id)["sentence"]
        assert words.str.contains(f"“so {meaning}”").any()
    assert results[0] == {group: -side for group, side in results[1].items()}
