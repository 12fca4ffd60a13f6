"""The time that processors leave for training, from counts as Linux gives them."""

import pytest

from fairdash.audits import crowding
from fairdash.audits.crowding import MOST, Ticks, Watch, crowd

STAT = "cpu  {user} {nice} 100 {idle} 50 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"


@pytest.fixture
def counts(monkeypatch):
    """Return a function that says what processors did until a second of a clock."""

    def counted(*ticks):
        tick_times = iter(ticks)
        monkeypatch.setattr(Ticks, "now", lambda: next(tick_times))
        monkeypatch.setattr(crowding.time, "sleep", lambda seconds: None)

    return counted


def test_idle_and_polite_time_is_free(monkeypatch, tmp_path):
    stat = tmp_path / "stat"
    stat.write_text(STAT.format(user=700, nice=100, idle=50))
    monkeypatch.setattr(crowding, "COUNTS", stat)
    current = Ticks.now()
    assert (current.free, current.total) == (200, 1000)


def test_without_counts_the_average_load_tells(monkeypatch, tmp_path):
    monkeypatch.setattr(crowding, "COUNTS", tmp_path / "none")
    monkeypatch.setattr(crowding.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(crowding.os, "getloadavg", lambda: (3.0, 0.0, 0.0))
    assert Watch().free_share() == 0.25


def test_a_watch_measures_over_the_last_minute_and_asks_rarely(counts):
    counts(
        Ticks(100.0, 0, 0),
        Ticks(100.1, 10, 20),  # half of the first moment
        Ticks(101.0, 10, 110),  # too soon to count anew
        Ticks(110.0, 20, 200),
        Ticks(500.0, 20, 1000),  # of more than a minute ago nothing counts
        Ticks(500.1, 30, 1010),
    )
    watch = Watch()
    assert watch.free_share() == 0.5
    assert watch.free_share() == 0.5
    assert watch.free_share() == 0.1
    assert watch.free_share() == 1.0


@pytest.mark.parametrize(
    ("free", "slower"), [(1.0, 1.0), (0.5, 1.0), (0.25, 2.0), (0.0, MOST)]
)
def test_polite_workers_get_what_others_leave(monkeypatch, free, slower):
    monkeypatch.setattr(crowding, "free_share", lambda: free)
    monkeypatch.setattr(crowding.os, "cpu_count", lambda: 4)
    monkeypatch.setenv("FAIRDASH_NICE", "19")
    assert crowd(2) == slower


@pytest.mark.parametrize(("free", "slower"), [(1.0, 1.0), (0.5, 1.0), (0.0, 1.5)])
def test_other_workers_share_alike(monkeypatch, free, slower):
    monkeypatch.setattr(crowding, "free_share", lambda: free)
    monkeypatch.setattr(crowding.os, "cpu_count", lambda: 4)
    monkeypatch.setenv("FAIRDASH_NICE", "0")
    assert crowd(2) == slower
