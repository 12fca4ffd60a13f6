"""A run shared by a link is the same in the home of whoever opens it."""

from pathlib import Path

import pandas as pd
import pytest

from fairdash.datasets import SAMPLES
from fairdash.jobs import (
    finished_file,
    open_report,
    open_share,
    share_report,
    share_run,
    shares,
    unpack_runs,
    withdraw,
)
from fairdash.store import Forbidden, User, UserStore, read_trail

ANN, BOB = User("a" * 16, "ann@example.org"), User("b" * 16, "bob@example.org")
EVE = User("e" * 16, "eve@client.example", "viewer")


def numbers(store, run):
    """What came out: all but the seconds it took."""
    return store.snapshot(run, curves=False).table().drop(columns="seconds")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The store of Ann, a run of hers, and its link; the run is deleted since."""
    store = UserStore(tmp_path_factory.mktemp("server"), ANN)
    (run,), _ = unpack_runs(store, finished_file("hiring"))
    link = share_run(store, run, address="tau=0.6")
    rows = numbers(store, run)
    store.delete_run(run)
    yield store, rows, link
    store.close()


@pytest.mark.parametrize("user", [BOB, EVE], ids=lambda user: user.role)
def test_others_open_a_copy_after_the_run_was_deleted(shared, user):
    ann, rows, link = shared
    store = UserStore(ann.root, user)
    found = open_share(store, link.token)
    again = open_share(store, link.token)
    assert again == found == ([link.run], "tau=0.6")
    pd.testing.assert_frame_equal(numbers(store, link.run), rows)
    assert len(store.table(store.tables()[0].sha256)) == SAMPLES["hiring"].n_rows
    if user is EVE:
        with pytest.raises(Forbidden):
            store.delete_run(link.run)
        with pytest.raises(Forbidden):
            share_run(store, link.run)
    store.close()


def test_only_who_shares_can_stop_it_and_then_the_link_opens_nothing(shared):
    ann, _, _ = shared
    (run,), _ = open_share(ann, shared[2].token)
    link = share_run(ann, run)
    bob = UserStore(ann.root, BOB)
    with pytest.raises(ValueError, match="share nothing by this link"):
        withdraw(bob, link.token)
    assert shares(bob) == []
    assert link in shares(ann)
    admin = UserStore(ann.root, User("c" * 16, "carl@example.org", "admin"))
    assert link in shares(admin)
    withdraw(ann, link.token)
    with pytest.raises(ValueError, match="Nothing is shared by this link"):
        open_share(bob, link.token)
    assert read_trail(ann.root)[0].action == "stop sharing"
    for store in (bob, admin):
        store.close()


def test_what_is_shared_is_listed_whole_or_not_at_all(shared, monkeypatch):
    ann, _, link = shared
    key = ann.keep_report("<p>", title="Ours", run="ab", address="")
    write, seen = Path.write_text, []

    def beside_a_reader(self, text):
        self.touch()
        seen.append([one.token for one in shares(ann)])
        return write(self, text)

    (ann.root / "shared" / "gone.json").symlink_to("nowhere")  # withdrawn meanwhile
    before = [one.token for one in shares(ann)]
    monkeypatch.setattr(Path, "write_text", beside_a_reader)
    made = share_report(ann, key)
    assert link.token in before
    assert seen == [before] * len(seen) != []
    assert made.token in [one.token for one in shares(ann)]
    withdraw(ann, made.token)
    ann.delete_report(key)


def test_a_snapshot_is_read_by_others_once_it_is_shared_and_until_it_is_not(shared):
    ann, bob, eve = (UserStore(shared[0].root, user) for user in (ANN, BOB, EVE))
    key = ann.keep_report("<p>as it was</p>", title="Ours", run="ab", address="Sweep")
    with pytest.raises(ValueError, match="no such snapshot"):
        open_report(bob, key)
    link = share_report(ann, key)
    assert open_report(ann, key)[0].address == "Sweep"
    with pytest.raises(Forbidden):
        share_report(eve, key)
    ann.delete_report(key)
    for user in (bob, eve):
        kept, page = open_report(user, link.token)
        assert (page, kept.title, kept.address) == ("<p>as it was</p>", "Ours", "")
        assert read_trail(ann.root)[0].user == user.user.name
        assert user.kept_reports() == []
    withdraw(ann, link.token)
    with pytest.raises(ValueError, match="No snapshot is shared by this link"):
        open_report(bob, link.token)
    assert not [*(ann.root / "shared").glob(f"{link.token}*")]
    for store in (ann, bob, eve):
        store.close()


@pytest.mark.parametrize("token", ["../users/a", "", "x" * 22 + "/", "x" * 22 + "\n"])
def test_a_link_names_no_file(shared, token):
    with pytest.raises(ValueError, match="no link to a shared run"):
        open_share(shared[0], token)
