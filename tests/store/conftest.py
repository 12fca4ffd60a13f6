"""A store of a home folder of its own."""

import pytest
from toys import people_csv

from fairdash.store import open_store


@pytest.fixture
def store(home):
    opened = open_store()
    yield opened
    opened.close()


@pytest.fixture
def table(store):
    return store.add_table(people_csv(100), "people.csv")
