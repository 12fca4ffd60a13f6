"""Sweeps over generated tables, each trained once, and pages opened on them."""

import pytest
import streamlit as st
from opening import open_page, prepared_pages
from walk_facts import Facts
from walk_reading import Reading
from walk_tables import TABLES

from fairdash.store import open_store


@pytest.fixture(scope="session", autouse=True)
def prepared():
    """Look for components, and compile pages, once for all windows."""
    with prepared_pages():
        yield


class SweptHomes:
    """Home folders with a sweep over a table, each trained when it is first opened."""

    def __init__(self, new_folder, swept_home):
        self._new_folder = new_folder
        self._swept_home = swept_home
        self._facts = {}
        self._open = None

    def facts(self, name):
        """Return what is true of the sweep over a table."""
        if name not in self._facts:
            home = self._new_folder()
            run = self._swept_home(name, home)
            self._facts[name] = Facts(open_store(home), run, TABLES[name])
        return self._facts[name]

    def open(self, name):
        """Have the pages of this process forget the home that was open before."""
        if self._open != name:
            st.cache_resource.clear()
        self._open = name

    def close(self):
        """Close all stores."""
        st.cache_resource.clear()
        for facts in self._facts.values():
            facts.store.close()


@pytest.fixture(scope="session")
def swept_homes(tmp_path_factory, swept_home):
    """The homes of all tests of the walk: their pages only read."""
    homes = SweptHomes(lambda: tmp_path_factory.mktemp("walk"), swept_home)
    yield homes
    homes.close()


@pytest.fixture
def walk(swept_homes, monkeypatch):
    """Return a function that goes to the sweep over a table."""

    def through(name):
        facts = swept_homes.facts(name)
        monkeypatch.setenv("FAIRDASH_HOME", str(facts.store.root))
        monkeypatch.setenv("FAIRDASH_INLINE", "1")
        monkeypatch.setattr("fairdash.audits.pace.Pace.slower", lambda pace: 1.0)
        swept_homes.open(name)
        # what another test chose on Data and left there
        facts.store.drop_draft(facts.dataset_id)
        return Walk(facts)

    return through


class Walk:
    """Pages on one run, and what is true of its models."""

    def __init__(self, facts):
        self.facts = facts

    def open(self, page, label="", **address):
        """Open a page, on the model with a label where it is given."""
        chosen = {"model": self.facts.models[label].id} if label else {}
        place = {"run": self.facts.run, "data": self.facts.dataset_id}
        return open_page(page, **place, **chosen, **address)

    def read(self, page, label="", **address):
        """Open a page and read it."""
        return Reading.of(page, self.open(page, label, **address))
