"""Users of one server: homes apart, in folders, schemas and object stores."""

from types import SimpleNamespace

import pytest
from toys import ROLES, people, people_csv

from fairdash.store import User, open_store

ANN = User("a" * 16, "ann@example.org")
BOB = User("b" * 16, "bob@example.org")
MAIL = {"email": "Ann@example.org"}
NOT_VERIFIED = False, 0, 1, None, "", "no", "False", "True", "1", [True], {}


@pytest.fixture
def opened():
    """A function that opens the store of a user."""
    stores = []

    def go(root, user):
        stores.append(open_store(user.home(root)))
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
    "claims, name, mail",
    [
        ({**MAIL, "email_verified": True}, "ann@example.org", "ann@example.org"),
        ({**MAIL, "email_verified": "true"}, "ann@example.org", "ann@example.org"),
        ({**MAIL, "name": "Ann"}, "Ann", ""),
        ({"name": "ann@example.org", "email_verified": True}, "ann@example.org", ""),
        *[({**MAIL, "email_verified": value}, "1", "") for value in NOT_VERIFIED],
    ],
)
def test_only_a_verified_address_counts(claims, name, mail):
    user = User.of({"sub": "1", **claims})
    assert (user.name, user.mail) == (name, mail)


def test_a_user_is_issuer_and_subject():
    user = User.of({"iss": "https://a", "sub": "1", "email": "ann@example.org"})
    renamed = User.of({"iss": "https://a", "sub": "1", "email": "smith@example.org"})
    other_user = User.of({"iss": "https://b", "sub": "1", "email": "ann@example.org"})
    assert user.id == renamed.id != other_user.id
    with pytest.raises(ValueError, match="neither a subject nor an address"):
        User.of({"iss": "https://a"})


def test_users_see_nothing_of_each_other(tmp_path, opened):
    ann = opened(tmp_path, ANN)
    bob = opened(tmp_path, BOB)
    run = finished(ann, "People")
    digest = ann.dataset_record(ann.run(run).dataset_id).table_sha256
    assert (bob.runs(), bob.datasets(), bob.tables(), bob.kept()) == ([], [], [], [])
    with pytest.raises(ValueError, match="no run"):
        bob.run(run)
    with pytest.raises(ValueError, match="No table"):
        bob.table(digest)
    bob.add_dataset(bob.add_table(people_csv(), "mine.csv"), ROLES, "Mine")
    assert [record.name for record in ann.datasets()] == ["People"]
    bob.delete_dataset(bob.datasets()[0].id)
    assert len(ann.table(digest)) == len(people())


def test_users_of_one_postgres_have_a_schema_and_an_engine_each(postgres, opened):
    ann = opened(postgres, ANN)
    bob = opened(postgres, BOB)
    run = finished(ann, "People")
    assert [len(store.runs()) for store in (ann, bob)] == [1, 0]
    again = opened(postgres, ANN)
    assert [record.id for record in again.runs()] == [run]
    with ann.database.claim() as first, bob.database.claim() as second_claim:
        assert first
        assert second_claim
        with again.database.claim() as second:
            assert second is None
