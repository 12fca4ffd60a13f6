"""A store of a home folder of its own."""

import pytest
from toys import people_csv

from fairdash.store import open_store
from fairdash.store.server import postgres

# the modules and tests that run on Postgres as well; the others look into the file
ON_BOTH = {
    "test_homes",
    "test_runs",
    "test_tables_and_datasets",
    "test_a_backup_opens_as_a_home_with_equal_numbers",
    "test_a_backup_beside_training_uploads_and_deletions_is_whole",
    "test_what_is_deleted_during_a_backup_is_not_in_it",
    "test_removal_and_drafts",
    "test_a_newer_store_is_refused_and_left_as_it_is",
    "test_adding_beside_deleting_leaves_no_table_without_its_file",
    "test_a_run_whose_deletion_was_killed_keeps_its_models",
}


def pytest_generate_tests(metafunc):
    if "either" in metafunc.fixturenames:
        names = {
            metafunc.module.__name__.rpartition(".")[2],
            metafunc.function.__name__,
        }
        kinds = ["sqlite", "postgres"] if names & ON_BOTH else ["sqlite"]
        metafunc.parametrize("either", kinds, indirect=True)


@pytest.fixture
def either(request, home, monkeypatch):
    """A home folder with either database.

    Of a Postgres it has one connection: nothing that a store does may take a second
    one while it holds the first, or many at once would wait for each other.
    """
    if request.param == "postgres":
        monkeypatch.setattr(postgres, "CONNECTIONS", 1)
        monkeypatch.setattr(postgres, "SPARE", 0)
        request.getfixturevalue("postgres")
    return home


@pytest.fixture
def store(either):
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def table(store):
    return store.add_table(people_csv(100), "people.csv")
