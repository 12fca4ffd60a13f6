"""Users of one server: homes apart, admins, the trail, and what expires."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from toys import ROLES, people, people_csv
from typer.testing import CliRunner

from fairdash.cli import app
from fairdash.store import (
    StoreError,
    User,
    UserStore,
    expire,
    open_store,
    read_trail,
)
from fairdash.store._database import DATASETS, RUNS, TABLES
from fairdash.store.server.expiry import Expired
from fairdash.store.server.users import _WRITES

ANN = User("a" * 16, "ann@example.org")
BOB = User("b" * 16, "bob@example.org")
READS = {
    "artifact", "carry_scores", "check", "close", "dataset", "dataset_record",
    "datasets", "draft", "draft_dataset", "drop_draft", "fail_trial",
    "forget_progress", "keep_draft", "kept", "left_scores", "open_runs",
    "own_scores", "put_progress", "put_trial", "run", "run_of", "runs", "score_model",
    "score_values", "set_status", "snapshot", "table", "table_format", "table_path",
    "tables", "tidy", "unfinished", "vacuum", "was_read_from", "workspace",
    "packed_scores", "monitor", "monitors",
}  # fmt: skip
THROUGH = {"remove"}  # by verbs that are noted


@pytest.fixture
def opened(tmp_path):
    """A function that opens the store of a user."""
    stores = []

    def go(user):
        stores.append(UserStore(tmp_path, user))
        return stores[-1]

    yield go
    for store in stores:
        store.close()


def finished(store, name):
    """Add the applicants and a run on them that is over; return the run's id."""
    table = store.add_table(people_csv(), "people.csv")
    trial = SimpleNamespace(key="0" * 64, method="road", params={}, seed=0)
    run = store.add_run({}, [trial], name, store.add_dataset(table, ROLES, name))
    store.set_status(run, "finished")
    return run


@pytest.mark.parametrize(
    "claims, admin, name",
    [
        ({"sub": "1", "email": "Ann@example.org"}, True, "ann@example.org"),
        ({"sub": "1", "email": "x@client.example"}, False, "x@client.example"),
        (
            {"sub": "1", "email": "ann@example.org", "email_verified": False},
            False,
            "1",
        ),
        ({"sub": "1", "name": "ann@example.org"}, False, "ann@example.org"),
    ],
)
def test_an_admin_is_known_by_a_verified_address(claims, admin, name):
    # a list of version 0.3 is read over: who was a viewer works in a home of his own
    roles = {"admins": ["ann@example.org"], "viewers": ["*@client.example"]}
    user = User.of(claims, roles)
    assert (user.admin, user.name) == (admin, name)
    verified = "email" in claims and claims.get("email_verified", True)
    assert user.mail == (name if verified else "")  # by which sources are listed


def test_a_user_is_issuer_and_subject():
    one = User.of({"iss": "https://a", "sub": "1", "email": "ann@example.org"})
    renamed = User.of({"iss": "https://a", "sub": "1", "email": "smith@example.org"})
    other = User.of({"iss": "https://b", "sub": "1", "email": "ann@example.org"})
    assert one.id == renamed.id != other.id
    with pytest.raises(ValueError, match="neither a subject nor an address"):
        User.of({"iss": "https://a"})
    with pytest.raises(ValueError, match=r"admins.*viewers.*'admin'"):
        User.of({"sub": "1"}, {"admin": ["ann@example.org"]})
    # of a text every letter would be an address, and * stand for everybody
    with pytest.raises(ValueError, match=r"`admins`.*list of addresses.*'\*@example"):
        User.of({"sub": "1", "email": "x@y.z"}, {"admins": "*@example.org"})


def test_every_verb_of_the_store_is_noted_or_changes_nothing_of_a_user(opened):
    store = opened(ANN)
    verbs = {name for name in dir(store) if not name.startswith("_")}
    verbs = {name for name in verbs if callable(getattr(store, name))}
    assert verbs - {"note"} == set(_WRITES) | READS | THROUGH


def test_users_see_nothing_of_each_other(opened):
    ann, bob = opened(ANN), opened(BOB)
    run = finished(ann, "People")
    digest = ann.dataset_record(ann.run(run).dataset_id).table_sha256
    assert (bob.runs(), bob.datasets(), bob.tables(), bob.kept()) == ([], [], [], [])
    with pytest.raises(ValueError, match="no run"):
        bob.run(run)
    with pytest.raises(ValueError, match="No table"):
        bob.table(digest)
    bob.add_dataset(bob.add_table(people_csv(), "mine.csv"), ROLES, "Mine")
    assert [one.name for one in ann.datasets()] == ["People"]
    bob.delete_dataset(bob.datasets()[0].id)
    assert len(ann.table(digest)) == len(people())


def test_the_trail_says_who_did_what(opened):
    ann, bob = opened(ANN), opened(BOB)
    run = finished(ann, "People")
    bob.add_table(people_csv(), "mine.csv")
    ann.rename_run(run, "Final")
    ann.delete_run(run)
    ann.remove(ann.datasets()[0].id)
    with pytest.raises(ValueError, match="no run"):
        ann.delete_run(run)
    acts = [(act.user[:3], act.action, act.what) for act in read_trail(ann.root)]
    data = acts[0][2].split()[-1]
    assert acts[::-1][:6] == [
        ("ann", "upload", "people.csv"),
        ("ann", "set roles", "People"),
        ("ann", "train", "People"),
        ("bob", "upload", "mine.csv"),
        ("ann", "rename", "Final"),
        ("ann", "delete run", f"Final ({run})"),
    ]
    assert acts[0][:2] == ("ann", "delete data set")
    assert data.startswith("(")
    assert (ann.root / "trail.jsonl").stat().st_mode & 0o077 == 0


def test_lines_of_many_writers_stay_whole(opened):
    stores = [opened(ANN), opened(BOB)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(400):
            pool.submit(stores[number % 2].note, "export", f"{number} {'ä' * 200}")
    acts = read_trail(stores[0].root)
    assert {int(act.what.split()[0]) for act in acts} == set(range(400))


DAY = 86400


def moved_clock(monkeypatch, days):
    """Let the clock of this machine be so many days later than it is."""
    now = time.time
    monkeypatch.setattr("time.time", lambda: now() + days * DAY)


def aged(store, days):
    """Make all that a store keeps so many days older."""
    with store.database.writing() as connection:
        for table, names in (
            (DATASETS, ["created"]),
            (TABLES, ["created"]),
            (RUNS, ["created", "finished"]),
        ):
            older = {name: table.c[name] - days * DAY for name in names}
            connection.execute(sa.update(table).values(**older))


def test_what_nobody_used_expires_and_what_was_used_stays(opened, monkeypatch):
    ann, bob = opened(ANN), opened(BOB)
    finished(ann, "Old")
    bob.add_table(people_csv(100), "alone.csv")
    for store in (ann, bob):
        aged(store, 40)
    finished(bob, "Used lately")
    first = expire(ann.root, 30)
    assert (first.deleted, sorted(first.binned)) == ([], ["Old", "alone.csv"])
    assert [run.name for run in ann.runs()] == ["Old"]  # in the bin, and whole
    moved_clock(monkeypatch, 6.9)
    assert expire(ann.root, 30) == first
    moved_clock(monkeypatch, 0.2)
    second = expire(ann.root, 30)
    assert (sorted(second.deleted), second.binned) == (["Old", "alone.csv"], [])
    assert (ann.kept(), ann.runs()) == ([], [])
    assert [one.name for one in bob.kept()] == ["Used lately"]
    assert [act.what for act in read_trail(ann.root)][1::-1] == ["Old", "alone.csv"]
    assert expire(ann.root, 30) == expire(bob.root, 30) == Expired()


def test_who_uses_a_table_takes_it_out_of_the_bin(opened, monkeypatch):
    ann = opened(ANN)
    finished(ann, "Old")
    aged(ann, 40)
    opened(BOB).add_table(people_csv(100), "new.csv")
    assert expire(ann.root, 30).binned == ["Old"]
    trial = SimpleNamespace(key="1" * 64, method="road", params={}, seed=0)
    run = ann.add_run({}, [trial], "Again", ann.datasets()[0].id)
    ann.set_status(run, "finished")
    moved_clock(monkeypatch, 8)
    assert expire(ann.root, 30) == Expired()
    assert [run.name for run in ann.runs()] == ["Again", "Old"]


@pytest.mark.parametrize(
    "days, why", [(100, "100 days after the last use"), (-2, "earlier than the newest")]
)
def test_a_clock_that_leapt_deletes_nothing(opened, monkeypatch, days, why):
    ann = opened(ANN)
    finished(ann, "Ours")
    expire(ann.root, 30)
    moved_clock(monkeypatch, days)
    shown = CliRunner().invoke(app, ["store", "expire", "30", "--home", str(ann.root)])
    assert shown.exit_code == 2
    assert "Nothing was deleted: the clock of this machine says" in shown.output
    assert why in shown.output
    assert [entry.name for entry in ann.kept()] == ["Ours"]
    assert not (ann.home / "bin.json").exists()


def test_a_clock_that_is_said_to_be_right_is_believed(opened, monkeypatch):
    ann = opened(ANN)
    finished(ann, "Ours")
    moved_clock(monkeypatch, 100)
    sure = "store", "expire", "30", "--clock-is-right", "--home", str(ann.root)
    assert CliRunner().invoke(app, sure).output == "Ours is in the bin\n"
    moved_clock(monkeypatch, 8)  # after a call no leap
    without = [argument for argument in sure if argument != "--clock-is-right"]
    assert CliRunner().invoke(app, without).output == "Ours was deleted\n"


def test_a_leap_in_use_is_undone_when_the_clock_is_set(opened, monkeypatch):
    """A new entry makes a wrong clock plausible; the bin keeps the rest for a week."""
    ann = opened(ANN)
    finished(ann, "Ours")
    with monkeypatch.context() as leap:
        moved_clock(leap, 100)
        opened(BOB).add_table(people_csv(100), "new.csv")
        assert expire(ann.root, 30).binned == ["Ours"]
    with pytest.raises(StoreError, match="earlier than the newest entry"):
        expire(ann.root, 30)
    expired = expire(ann.root, 30, clock_is_right=True)
    assert expired == Expired()
    assert [entry.name for entry in ann.kept()] == ["Ours"]


def test_users_of_one_postgres_have_a_schema_and_an_engine_each(postgres):
    stores = [UserStore(postgres, user) for user in (ANN, BOB)]
    run = finished(stores[0], "People")
    assert [len(store.runs()) for store in stores] == [1, 0]
    again = open_store(postgres / "users" / ANN.id)
    assert [one.id for one in again.runs()] == [run]
    with stores[0].database.claim() as first, stores[1].database.claim() as other:
        assert first
        assert other
        with again.database.claim() as second:
            assert second is None
    for store in (*stores, again):
        store.close()


def test_a_server_that_is_away_is_a_sentence_for_users_too(tmp_path, monkeypatch):
    address = "postgresql+psycopg://fair@127.0.0.1:1/none"
    monkeypatch.setenv("FAIRDASH_DATABASE", address)
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError, match="The database of this store is not reached"):
        UserStore(tmp_path, ANN)


def test_files_of_users_lie_apart_in_an_object_store(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRDASH_FILES", f"file://{tmp_path}/away")
    ann = UserStore(tmp_path / "server", ANN)
    digest = ann.add_table(people_csv(100), "people.csv")
    assert list((tmp_path / "away" / "users" / ANN.id).rglob(f"*{digest}*"))
    with closing(open_store(ann.home)) as worker:
        assert len(worker.table(digest)) == 100
    ann.close()
