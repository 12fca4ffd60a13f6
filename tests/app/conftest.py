"""Pages opened as a reader would, on a small table, with jobs in this process."""

from functools import cache, partial
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner
from toys import ROLES, people_csv, sweep_of

from fairdash import ui
from fairdash.datasets import Subgroups
from fairdash.jobs import submit
from fairdash.sweep import MethodGrid
from fairdash.ui import start_training

ROOT = Path(__file__).parents[2]
PAGES = {
    "Home": "app.py", "Data": "pages/1_Data.py", "Train": "pages/2_Train.py",
    "Local fairness": "pages/3_Local_fairness.py", "Weights": "pages/4_Weights.py",
    "Post-process": "pages/6_Post-process.py", "Sweep": "pages/5_Sweep.py",
    "Noisy groups": "pages/7_Noisy_groups.py",
    "Individual fairness": "pages/8_Individual_fairness.py",
    "Drift": "pages/9_Drift.py", "Runs": "pages/10_Runs.py",
    "Monitor": "pages/11_Monitor.py", "Limits": "pages/12_Limits.py",
    "Playground": "pages/13_Playground.py",
}  # fmt: skip


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
        return submit(ui.store(), spec, name="Two methods")

    record = ui.store().dataset_record(dataset_id)
    return train_once(ui.store(), train, sweep_of(record, di_limit=0.5))


@pytest.fixture(scope="session", autouse=True)
def prepared():
    """Look for components, and compile pages, once for all windows."""
    with pytest.MonkeyPatch.context() as patch:
        compiled = cache(partial(ScriptCache.get_bytecode, ScriptCache()))
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: compiled(path))
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        # AppTest looks for the end of a script every millisecond, which slows it down
        patch.setattr(local_script_runner, "require_widgets_deltas", _wait)
        yield


def _wait(runner, timeout):
    runner._script_thread.join(timeout)
    runner.request_stop()  # one that hangs would be waited for without end
    assert runner.script_stopped(), f"a page took more than {timeout} s"


@pytest.fixture
def visit(inline):
    """Return a function that opens a page at an address."""

    def open_page(name, **address):
        page = AppTest.from_file(ROOT / "app.py", default_timeout=60)
        page.switch_page(PAGES[name])
        for key, value in address.items():
            page.query_params[key] = value
        return page.run()

    return open_page
