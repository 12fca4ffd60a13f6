"""A sweep with its baseline, trained once for all tests of reports."""

import pytest
from toys import people, train_sweep

from fairdash.store import open_store


@pytest.fixture(scope="session")
def swept(tmp_path_factory):
    """A store and the run of a small sweep over the applicants in it."""
    store = open_store(tmp_path_factory.mktemp("reports") / "home")
    run = train_sweep(store, people(), "People")
    yield store, run
    store.close()
