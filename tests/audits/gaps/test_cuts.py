"""The largest gap by many cuts, each with the chance of its own subgroups."""

import numpy as np
import pytest
from toys import ROLES, people_csv

from fairdash import plots, ui
from fairdash.audits import gaps
from fairdash.audits.gaps.cuts import MOST_CUTS, cuts_brief, cuts_of
from fairdash.datasets import Subgroups, split
from fairdash.metrics import local_di, noise_floor, worst_k_di
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

SUBGROUPS = Subgroups(columns=("branch", "age"), widths={"age": 10.0}, min_size=15)


@pytest.fixture
def dataset_id(inline):
    table = ui.store().add_table(people_csv(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People", SUBGROUPS)


@pytest.fixture
def models(dataset_id, train_once):
    quick = {"n_epochs": 4, "batch_size": 128, "fairness_weight": 3.0}
    grid = MethodGrid(method="road", params=quick)
    run = train_once(ui.store(), start_training, dataset_id, grid, 1)
    return ui.known_models(dataset_id, run)


def test_cuts_are_distinct_and_the_chosen_one_is_first(dataset_id):
    dataset = ui.store().dataset(dataset_id)
    cuts = cuts_of(dataset, SUBGROUPS)
    assert cuts[0].subgroups == SUBGROUPS
    words = [cut.words for cut in cuts]
    assert words == [
        "as chosen",
        *(f"age by {width}" for width in (5, 10, 15, 20)),
        "branch",
        *(f"age by {width} × branch" for width in (5, 15, 20)),
    ]
    assert all(cut.subgroups.min_size == 15 for cut in cuts)
    many = Subgroups(columns=("branch", "age", "skill", "origin", "hired"))
    assert len(cuts_of(dataset, many)) == MOST_CUTS


def test_gap_and_chance_of_every_cut_are_recomputed(dataset_id, models):
    table = gaps.over_cuts(ui.store(), models, dataset_id, SUBGROUPS)
    assert table["model"].nunique() == 2
    dataset = ui.store().dataset(dataset_id)
    test = split(dataset, 0).test
    by_words = {cut.words: cut.subgroups for cut in cuts_of(dataset, SUBGROUPS)}
    for row in table.to_dict("records"):
        (model,) = (m for m in models if m.label == row["model"])
        scores = ui.store().artifact(model.trials[0].key).scores()[test]
        arguments = {
            "sensitive_features": dataset.sensitive_features[test],
            "subgroups": by_words[row["cut"]].label(dataset.frame).iloc[test],
            "min_size": 15,
        }
        decided = (scores > 0.5).astype(int)
        local = local_di(decided, **arguments)
        assert row["gap"] == pytest.approx(worst_k_di(local))
        assert row["n_subgroups"] == local["estimable"].sum()
        floor = noise_floor(decided, **arguments).quantile
        assert row["chance"] == pytest.approx(floor, abs=0.02)


def test_the_three_largest_gaps_stand_beside_the_largest(dataset_id, models):
    result = gaps.local_by_measure(ui.store(), models[-1:], dataset_id, SUBGROUPS)
    card = next(kpi for kpi in result.kpis() if kpi.label == "3 largest gaps, mean")
    largest = np.sort(result.model_gaps.loc[result.model_gaps["estimable"], "gap"])[-3:]
    assert result.row["worst_k"] == pytest.approx(largest.mean())
    assert result.row["chance_k"] < result.chance
    assert card.note.startswith("by chance up to ")
    two = Subgroups(columns=("branch",), min_size=15)
    few = gaps.local_by_measure(ui.store(), models[-1:], dataset_id, two)
    assert "3 largest gaps, mean" not in [kpi.label for kpi in few.kpis()]


def test_the_verdict_and_the_figure_count_what_the_table_has(dataset_id, models):
    answer = gaps.cuts_answer(ui.store(), models, dataset_id, SUBGROUPS)
    table = answer.figure.table
    last = table[table["model"] == models[-1].label]
    beyond = (last["gap"] > last["chance"]).sum()
    text = f"is beyond chance by {beyond} of {len(last)} cuts"
    assert text in answer.verdict
    picture = answer.figure.picture(plots)
    marks = [trace for trace in picture.figure.data if trace.name == models[-1].label]
    assert list(marks[0].x) == pytest.approx(last["gap"].tolist())
    assert text.removeprefix("is ") in picture.headline.lower()
    assert cuts_brief(table.iloc[:0]).startswith("No subgroup is estimable")
