"""Pages opened as a reader would, on a small table, with jobs in this process."""

import pytest
from opening import PAGES, open_page, prepared_pages
from toys import ROLES, people_csv, sweep_of

from fairdash import ui
from fairdash.audits import linked, sweeps
from fairdash.datasets import Subgroups
from fairdash.jobs import submit
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training


def keep_summary(run):
    """Have what Sweep draws of a run kept with it, as by a first visit."""
    linked.summary(sweeps.finished_sweep(ui.store(), run))


@pytest.fixture
def summary_kept():
    """Return a function that has what Sweep draws of a run kept with it."""
    return keep_summary


@pytest.fixture
def page_names():
    """The name of every page."""
    return list(PAGES)


@pytest.fixture
def dataset_id(inline):
    """The applicants in the store."""
    table = ui.store().add_table(people_csv(), "people.csv")
    subgroups = Subgroups(columns=("branch",), min_size=20)
    return ui.store().add_dataset(table, ROLES, "People", subgroups)


@pytest.fixture
def trained(dataset_id, train_once):
    """Return a function that gives a finished run of a method on the applicants."""

    def go(method, seeds=1, **params):
        grid = MethodGrid(method=method, params=params)
        return train_once(ui.store(), start_training, dataset_id, grid, seeds)

    return go


@pytest.fixture
def two_methods(dataset_id, train_once):
    """Return a finished sweep over two methods beside the plain one, at two seeds."""

    def train(spec):
        run = submit(ui.store(), spec, name="Two methods")
        keep_summary(run)
        return run

    record = ui.store().dataset_record(dataset_id)
    return train_once(ui.store(), train, sweep_of(record, di_limit=0.5))


@pytest.fixture(scope="session", autouse=True)
def prepared():
    """Look for components, and compile pages, once for all windows."""
    with prepared_pages():
        yield


@pytest.fixture
def visit(inline):
    """Return a function that opens a page at an address."""

    return open_page
