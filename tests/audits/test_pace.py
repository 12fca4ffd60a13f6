"""Estimates of time learn from what was trained here, in simulated seconds."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits import pace, progress, training
from fairdash.audits.pace import Pace, RunTime, Span, TrainedStack, makespan
from fairdash.store._records import Progress, TrialRecord

ROAD = "road"


def never():
    raise AssertionError("nothing is calibrated where stacks were trained")


def test_a_method_is_as_fast_as_it_was_at_a_similar_size_lately():
    stacks = [TrainedStack(ROAD, 1e9, 2.0)] * 3 + [
        TrainedStack(ROAD, 1e12, 10_000.0)
    ] * 3
    learned = Pace(tuple(stacks), model_seconds=0.0, calibrate=never)
    assert learned.seconds(ROAD, 2e9).seconds == pytest.approx(4.0)
    assert learned.seconds(ROAD, 2e12).seconds == pytest.approx(20_000.0)


def test_the_newest_stacks_count_more():
    current = TrainedStack(ROAD, 1e9, 1.0)
    before = TrainedStack(ROAD, 1e9, 8.0)
    learned = Pace((current,) * 12 + (before,) * 20, model_seconds=0.0, calibrate=never)
    assert learned.seconds(ROAD, 1e9).seconds == pytest.approx(1.0)


def test_one_slow_first_stack_does_not_move_an_estimate():
    slow = TrainedStack(ROAD, 1e9, 60.0)
    usual = TrainedStack(ROAD, 1e9, 1.0)
    learned = Pace((slow, usual, usual), model_seconds=0.0, calibrate=never)
    assert learned.seconds(ROAD, 1e9).seconds == pytest.approx(1.0)


def test_another_method_of_its_kind_gives_a_wider_range():
    learned = Pace((TrainedStack(ROAD, 1e9, 2.0),), 0.0, never)
    same = learned.seconds(ROAD, 1e9)
    different = learned.seconds("adversarial", 1e9)
    assert same.seconds == different.seconds == pytest.approx(2.0)
    assert different.low < same.low < same.high < different.high


def test_data_on_which_work_takes_longer_do_so_with_other_methods():
    stacks = [
        TrainedStack("unconstrained", 1e9, 1.0, "narrow"),
        TrainedStack("unconstrained", 1e9, 4.0, "wide"),
        TrainedStack(ROAD, 1e9, 2.0, "narrow"),
    ]
    learned = Pace(tuple(stacks), model_seconds=0.0, calibrate=never)
    narrow_seconds, wide_seconds = (
        learned.seconds(ROAD, 1e9, data=d) for d in ("narrow", "wide")
    )
    assert narrow_seconds.seconds == pytest.approx(2.0)
    assert wide_seconds.seconds == pytest.approx(
        4.0
    )  # half of the way to 8, on a logarithm
    assert (
        wide_seconds.high / wide_seconds.low > narrow_seconds.high / narrow_seconds.low
    )
    assert learned.seconds(ROAD, 1e9, data="new").seconds == pytest.approx(2.0)


def test_stacks_of_the_same_data_count_more():
    same_data, elsewhere = (
        TrainedStack(ROAD, 1e9, 1.0, d) for d in ("here", "elsewhere")
    )
    slow = dataclasses.replace(elsewhere, seconds=9.0)
    learned = Pace((*[slow] * 5, same_data), model_seconds=0.0, calibrate=never)
    assert learned.seconds(ROAD, 1e9, data="here").seconds == pytest.approx(1.0)


def test_before_any_run_a_calibration_gives_a_range():
    fresh = Pace(model_seconds=0.0, calibrate=lambda: 1e-9)
    span = fresh.seconds(ROAD, 1e10)
    assert span.low < span.seconds < span.high
    twice = Pace(model_seconds=0.0, calibrate=lambda: 2e-9).seconds(ROAD, 1e10)
    assert twice.seconds == pytest.approx(2 * span.seconds)
    cost = training.ExpectedCost(4, 4, Span(20.0, 5.0, 80.0))
    assert "4 models: between 5 s and 1 min 20 s with" in cost.words()
    expected = training.ExpectedCost(4, 4, Span(20.0, 16.0, 25.0))
    assert "4 models: about 20 s with" in expected.words()
    assert expected.promise.low < 14 < 29 < expected.promise.high
    short = training.ExpectedCost(1, 1, Span(2.0, 1.0, 4.0))
    assert "1 model: a few seconds with" in short.words()


def test_a_calibration_is_a_plausible_speed():
    assert 1e-13 < pace.calibrated() < 1e-6


LOADED = RunTime(seconds=84.4, ended=1000.0, training=20.0, n_models=10)


@pytest.mark.parametrize(("since", "slower"), [(0.0, 2.0), (300.0, 2.0**0.5)])
def test_the_newest_run_tells_of_the_load_and_fades(monkeypatch, since, slower):
    monkeypatch.setattr(pace, "crowd", lambda n_workers: 1.0)
    monkeypatch.setattr(pace.time, "time", lambda: 1000.0 + since)
    learned = Pace(model_seconds=0.07, calibrate=never, newest=LOADED)
    assert LOADED.slower(0.07) == pytest.approx(4.0)
    assert learned.slower() == pytest.approx(slower)


def test_without_a_run_the_load_of_the_moment_counts(monkeypatch):
    monkeypatch.setattr(pace, "crowd", lambda n_workers: 3.0)
    assert Pace(model_seconds=0.0).slower() == 3.0


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=20), st.integers(1, 8))
def test_stacks_share_workers(seconds, n_workers):
    length = makespan(seconds, n_workers)
    least = max(max(seconds), sum(seconds) / n_workers)
    assert least * 0.999 <= length <= sum(seconds) * 1.001
    assert length <= 2 * least


class Clock:
    """A clock that a test sets."""

    def __init__(self, monkeypatch, at):
        self.at = at
        monkeypatch.setattr(progress.time, "time", lambda: self.at)


def trial(method="reductions", params=None, began=None, **state):
    """Return a trial that runs, as the store has it."""
    event = {} if began is None else {"began": began}
    text = Progress(state.get("epoch", 0), state.get("n_epochs", 1), 0.0, event)
    fields = {"row": None, "error": None, "seconds": None, "progress": text}
    return TrialRecord("key", method, params or {}, 0, "running", **fields)


def test_the_bar_of_a_method_without_epochs_only_grows(monkeypatch):
    clock = Clock(monkeypatch, 1000.0)
    shares = []
    for _ in range(60):
        shares.append(progress._share(trial(began=1000.0), seconds=10.0))
        clock.at += 1.0
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[5] == pytest.approx(0.5)
    assert shares[-1] < 0.8  # late: not "nearly done" for a minute


def test_epochs_tell_more_than_the_clock(monkeypatch):
    Clock(monkeypatch, 1000.0)
    network = trial("road", {"n_epochs": 4}, began=0.0, epoch=1, n_epochs=4)
    assert progress._share(network, seconds=10.0) == 0.25
