"""What Sweep shows first is computed once a run, and read from then on."""

from contextlib import closing

import numpy as np
import pytest
from toys import people, train_sweep

from fairdash.audits import choices, kept_answers, sweeps
from fairdash.jobs._workers import answer_first
from fairdash.linked import first, first_answers, first_view, kept_data, linked_data
from fairdash.scored import DecisionRule
from fairdash.store import open_store


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A store with a finished sweep."""
    store = open_store(tmp_path_factory.mktemp("first") / "home")
    run = train_sweep(store, people(600), "First", subgroups=("branch",))
    yield store, run
    store.close()


@pytest.fixture
def sweep(trained):
    """The sweep, without any answer, in memory or on disk."""
    store, run = trained
    store.delete_answers(run)
    sweeps._finished_sweep.cache_clear()
    return sweeps.finished_sweep(store, run)


@pytest.fixture
def computed(monkeypatch):
    """The views that are computed from now on."""
    views = []

    def compute(sweep, view):
        views.append(view)
        return linked_data(sweep, view)

    monkeypatch.setattr(first, "linked_data", compute)
    return views


def n_kept(sweep):
    return len(sweep.store.files.listed("answers", within=sweep.run.id))


def test_the_kept_answer_is_the_computed_one(sweep, computed):
    view = first_view(sweep)
    first_answers(sweep.store, sweep.run.id)
    assert kept_data(sweep, view) == linked_data(sweep, view)
    with closing(open_store(sweep.store.home)) as store:
        again = sweeps.finished_sweep(store, sweep.run.id)
        assert kept_data(again, view) == linked_data(sweep, view)
    assert computed == [view]


@pytest.fixture
def said(monkeypatch):
    """The places of settings whose answers are computed from now on."""
    places = []

    def compute(sweep, place):
        places.append(place)
        return answer_of(sweep, place)

    answer_of = choices._setting_answer
    monkeypatch.setattr(choices, "_setting_answer", compute)
    return places


def test_the_kept_words_about_the_first_setting_are_the_computed_ones(sweep, said):
    place = choices.first_place(sweep)
    first_answers(sweep.store, sweep.run.id)
    with closing(open_store(sweep.store.home)) as store:
        again = sweeps.finished_sweep(store, sweep.run.id)
        assert choices.first_place(again) == place
        answer = choices.setting_answer(again, place)
        assert said == [place]
        assert vars(answer) == vars(choices._setting_answer(again, place))
        other = (place + 1) % len(again.ids)
        choices.setting_answer(again, other)
    assert said == [place, place, other]
    assert n_kept(sweep) == 2


def test_nothing_is_kept_by_a_rule_that_somebody_chose(sweep, said):
    rule = DecisionRule("top", 20)
    ruled = sweeps.finished_sweep(sweep.store, sweep.run.id, rule)
    view = first_view(ruled)
    assert kept_data(ruled, view) == linked_data(ruled, view)
    choices.setting_answer(ruled, choices.first_place(ruled))
    assert n_kept(sweep) == 0


def test_a_worker_keeps_it(sweep, computed):
    answer_first(str(sweep.store.home), None, sweep.run.id)
    assert n_kept(sweep) == 2  # pictures and words
    kept_data(sweep, first_view(sweep))
    assert len(computed) == 1


@pytest.mark.parametrize("change", ["damaged", "of other code"])
def test_a_damaged_or_stale_answer_is_computed_anew(
    sweep, computed, monkeypatch, change
):
    view = first_view(sweep)
    expected = kept_data(sweep, view)
    (folder,) = sweep.store.files.listed("answers", within=sweep.run.id)
    if change == "damaged":
        (folder / "answer").write_bytes(b"nothing")
    else:
        monkeypatch.setattr(kept_answers, "version_of", lambda *rooms: "other")
    assert kept_data(sweep, view) == kept_data(sweep, view) == expected
    assert len(computed) == 2
    assert n_kept(sweep) == 1


def test_other_words_for_the_outcome_are_another_question(sweep, computed):
    view = first_view(sweep)
    kept_data(sweep, view)
    store = sweep.store
    record = store.dataset_record(sweep.run.dataset_id)
    changes = {"positive_name": "invited", "positive_is": "unfavourable"}
    changed = record.roles.model_copy(update=changes)
    store.add_dataset(record.table_sha256, changed, record.name, record.subgroups)
    try:
        assert kept_data(sweep, view) == linked_data(sweep, view)
        assert len(computed) == 2
    finally:
        store.add_dataset(
            record.table_sha256, record.roles, record.name, record.subgroups
        )


def test_only_the_first_view_is_kept(sweep, computed):
    view = first_view(sweep)
    others = [
        view._replace(limit=0.2),
        view._replace(limited="worst_1_di"),
        view._replace(measure="accuracy"),
        view._replace(opens=False),
        view._replace(scale=2.0),
    ]
    for other in others:
        assert kept_data(sweep, other) == linked_data(sweep, other)
    assert computed == others
    assert n_kept(sweep) == 0


def test_own_scores_beside_a_sweep_are_never_in_a_kept_answer(sweep, computed):
    view = first_view(sweep)
    kept_data(sweep, view)
    store = sweep.store
    data = sweep.run.dataset_id
    scores = np.linspace(0, 1, store.dataset(data).n_rows)
    store.log_scores(data, scores, name="later")
    assert kept_data(sweep, view) == linked_data(sweep, view)
    assert len(computed) == 2
    store.delete_scores(data, "later")
    kept_data(sweep, view)
    assert len(computed) == 2


def test_nothing_is_kept_of_a_run_that_is_not_over(sweep, computed):
    store = sweep.store
    trials = store.snapshot(sweep.run.id).trials
    going = store.add_run(sweep.run.spec, trials, "Going", sweep.run.dataset_id)
    first_answers(store, going)
    assert computed == []
    assert list(store.files.listed("answers", within=going)) == []


def test_an_answer_goes_with_its_run(trained):
    store, run = trained
    again = train_sweep(store, people(600), "Again", subgroups=("branch",))
    first_answers(store, again)
    assert store.files.listed("answers", within=again)
    store.delete_run(again)
    assert not store.files.listed("answers", within=again)
    assert store.run(run).over
