"""Sessions: who is let in, for how long, by which clock, and on which machine."""

import time
from types import SimpleNamespace

import loops
import pytest
from starlette.responses import Response

from fairdash.server import cookies, sessions
from fairdash.server.sessions import CLOCK_SECONDS, SECONDS, Sessions
from fairdash.store import StoreError, open_store

SECRET = "a long random text of ours"
YEARS = 10 * 365 * 86400


@pytest.fixture(params=["files", "table"])
def stores(request, home):
    """Stores of two replicas that share a home folder, or a Postgres."""
    homes = [home, home]
    if request.param == "table":
        home = request.getfixturevalue("postgres")
        homes = [home, home.parent / "another machine"]
    opened = [open_store(first) for first in homes]
    yield opened
    for store in opened:
        store.close()


@pytest.fixture
def clock(monkeypatch):
    """The clock of this server: by how many seconds it is ahead."""
    clock = SimpleNamespace(ahead=0.0)
    monkeypatch.setattr(sessions, "time", lambda: time.time() + clock.ahead)
    monkeypatch.setattr(sessions, "FRESH_SECONDS", 0.0)
    return clock


def of_user(subject, ahead=0.0, **claims):
    """Return the cookies of a user whom a provider with this clock let in."""
    answer = Response()
    content = {"iss": "https://a", "sub": subject, "iat": time.time() + ahead}
    cookies.write(answer, cookies.USER, content | claims, SECRET)
    lines = [v.decode() for name, v in answer.raw_headers if name == b"set-cookie"]
    return cookies.set_in(lines)


def opened(where, user):
    """Open a session; return all cookies of its browser."""
    return user | {sessions.COOKIE: loops.run(where.open(user))}


def test_replicas_share_sessions_and_a_logout(stores, clock):
    first_sessions, second_sessions = (
        Sessions(store.sessions(), SECRET) for store in stores
    )
    ann = opened(first_sessions, of_user("ann"))
    bob = opened(second_sessions, of_user("bob"))
    for place in (first_sessions, second_sessions):
        users = {loops.run(place.user(person)) for person in (ann, bob)}
        assert len(users) == 2
        assert None not in users
    loops.run(second_sessions.end(ann))
    for place in (first_sessions, second_sessions):
        assert loops.run(place.user(ann)) is None
        assert loops.run(place.user(bob))


def test_a_record_is_believed_for_a_second(stores, monkeypatch):
    first_sessions, second_sessions = (
        Sessions(store.sessions(), SECRET) for store in stores
    )
    ann = opened(first_sessions, of_user("ann"))
    moment = time.monotonic()
    monkeypatch.setattr(sessions, "monotonic", lambda: moment)
    assert loops.run(first_sessions.user(ann))
    loops.run(second_sessions.end(ann))
    assert loops.run(first_sessions.user(ann))
    moment += sessions.FRESH_SECONDS
    assert loops.run(first_sessions.user(ann)) is None


def test_a_session_opened_by_a_clock_that_was_ahead_is_none(stores, clock):
    records = stores[0].sessions()
    replica = Sessions(records, SECRET)
    ann = opened(replica, of_user("ann"))
    clock.ahead = YEARS
    with pytest.raises(ValueError, match="Set the clock"):
        loops.run(replica.open(of_user("bob")))
    # of a provider that says no time, or the same wrong one
    silent = opened(replica, of_user("bob", iat=None))
    assert loops.run(replica.user(silent))
    assert loops.run(replica.user(ann)) is None  # over, by this clock
    clock.ahead = 0.0
    assert loops.run(replica.user(ann))  # and not deleted by it
    assert loops.run(replica.user(silent)) is None
    opened(replica, of_user("cid"))
    clock.ahead = YEARS
    assert loops.run(replica.user(silent)) is None  # deleted, once a clock was right


def test_a_session_lasts_thirty_days_and_a_small_difference_of_clocks(stores, clock):
    replica = Sessions(stores[0].sessions(), SECRET)
    ann = opened(replica, of_user("ann"))
    ages = {
        -CLOCK_SECONDS - 60: False,
        60 - CLOCK_SECONDS: True,
        SECONDS - 60: True,
        SECONDS + 60: False,
    }
    for age, lasts in ages.items():
        clock.ahead = age
        assert (loops.run(replica.user(ann)) is not None) == lasts, age


def test_a_login_deletes_what_is_over_where_two_clocks_agree(stores, clock):
    replica = Sessions(stores[0].sessions(), SECRET)
    ann = opened(replica, of_user("ann"))
    clock.ahead = SECONDS + 60
    opened(replica, of_user("bob", iat=None))
    clock.ahead = 0.0
    assert loops.run(replica.user(ann))
    clock.ahead = SECONDS + 60
    opened(replica, of_user("bob", clock.ahead))
    clock.ahead = 0.0
    assert loops.run(replica.user(ann)) is None


def test_a_session_of_an_earlier_version_lasts_as_it_did(home, clock):
    with_end = {"opened": None, "until": time.time() + 60}
    far = {"opened": None, "until": time.time() + YEARS}
    store = open_store(home)
    records = store.sessions()
    replica = Sessions(records, SECRET)
    for changed, lasts in ((with_end, True), (far, False)):
        ann = opened(replica, of_user("ann"))
        name = replica._name(ann[sessions.COOKIE])
        record = records.get(name) | changed
        del record["opened"]
        records.delete(name)
        records.add(name, record)
        assert (loops.run(replica.user(ann)) is not None) == lasts
    store.close()


def test_nothing_is_read_for_a_stranger(clock):
    class Unread:
        def get(self, name):
            raise StoreError("The database is away.")

    replica = Sessions(Unread(), SECRET)
    for strange in ({}, {sessions.COOKIE: "x"}, {cookies.USER: "x"}):
        assert loops.run(replica.user(strange | {sessions.COOKIE: "x"})) is None
    with pytest.raises(StoreError):
        loops.run(replica.user(of_user("ann") | {sessions.COOKIE: "x"}))
