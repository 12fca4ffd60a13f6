"""Pages opened by `AppTest`, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, local_script_runner

from fairdash.audits import crowding
from fairdash.ui import pages

ROOT = Path(__file__).parents[2]
PAGES = {page.name: page.path for page in pages.pages()}


def open_page(name: str, **address: object) -> AppTest:
    """Open a page at an address and run it once."""
    page = AppTest.from_file(ROOT / "app.py", default_timeout=60)
    page.switch_page(PAGES[name])
    for key, value in address.items():
        page.query_params[key] = value
    return page.run()


@contextmanager
def prepared_pages() -> Iterator[None]:
    """Look for components, and compile pages, once for all windows."""
    with pytest.MonkeyPatch.context() as patch:
        compiled = cache(partial(ScriptCache.get_bytecode, ScriptCache()))
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: compiled(path))
        scan = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        # AppTest looks for the end of a script every millisecond, which slows it down
        patch.setattr(local_script_runner, "require_widgets_deltas", _wait)
        # estimates of time follow the load, and other tests run beside these
        patch.setattr(crowding, "free_share", lambda: 1.0)
        yield


def _wait(runner: local_script_runner.LocalScriptRunner, timeout: float) -> None:
    runner._script_thread.join(timeout)
    runner.request_stop()  # one that hangs would be waited for without end
    assert runner.script_stopped(), f"a page took more than {timeout} s"
