"""What a presenter says of a sweep: who, by the same functions as the pages."""

import pytest
from toys import people, train_sweep

from fairdash.audits import DecisionRule, choices, scenes, sweeps
from fairdash.store import open_store


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    store = open_store(tmp_path_factory.mktemp("scenes") / "home")
    run = train_sweep(store, people(), "People")
    yield sweeps.finished_sweep(store, run)
    store.close()


def test_a_method_without_weights_says_that_all_rows_weigh_the_same(sweep):
    place = sweep.result.means["method"].tolist().index("unconstrained")
    words = scenes.sentence_of(sweep, "weights", place, 0.1)
    assert (
        words
        == f"{sweep.models[place].label} gives every training row the same weight."
    )


def test_sentences_are_of_the_setting_asked(sweep):
    places = range(len(sweep.ids))
    fronts = [scenes.sentence_of(sweep, "front", place, 0.1) for place in places]
    assert fronts == [choices.setting_answer(sweep, place).verdict for place in places]
    assert len(set(fronts)) > 1


def test_another_rule_changes_decisions_and_leaves_the_weights(sweep):
    ruled = sweeps.finished_sweep(sweep.store, sweep.run.id, DecisionRule("top", 20))
    place = sweep.result.means["method"].tolist().index("road")
    half = scenes.sentence_of(sweep, "weights", place, 0.1)
    top = scenes.sentence_of(ruled, "weights", place, 0.1)
    assert half.split(".")[0] == top.split(".")[0]  # how the weight is spread
    first = [
        scenes.sentence_of(finished, "front", place, 0.1) for finished in (sweep, ruled)
    ]
    assert first[0] != first[1]
