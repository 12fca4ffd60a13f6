"""A process that opens files as the one that serves pages does, and says the cost.

    FAIRDASH_HOME=FOLDER python serving.py

It is told the path of a file by a line, and answers by a line of JSON. A file goes the
whole way: it is kept, loaded, its roles are guessed, and Data shows it.
"""

import ctypes
import gc
import json
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
from streamlit.testing.v1 import AppTest, local_script_runner

from fairdash import ui
from fairdash.datasets import reading
from fairdash.ui.data.table import first_roles

ROOT = Path(__file__).parents[2]
PAGE = "pages/1_Data.py"
LOADED = 1_000_000  # cells of a table whose shape is compared
PATIENCE = 600  # seconds of a page
SHOWN = 3_000  # letters of an error on the page that are handed on


def resident(*, peak):
    """Return the bytes in memory, now or at most since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:" if peak else "VmRSS:")[1].split()[0]) << 10


def forget_peak():
    """Give back what is free, so that each file grows what it needs; then forget."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def opened(content, name):
    """Take a file the whole way; return what is said of it, and how much that cost."""
    answers = {"fault": "", "choices": 0, "shape": None}
    digest = None
    dataset = None
    forget_peak()
    before = resident(peak=False)
    began = time.process_time()
    store = ui.store()
    try:
        digest = store.add_table(content, name, watch=lambda *_: None)
        dataset, answers["fault"] = _shown(digest, name)
    except reading.SeveralTablesError as error:
        answers |= {"words": str(error), "choices": len(error.names)}
    except ValueError as error:
        answers |= {"words": str(error)}
    except Exception as error:
        answers |= {"words": "", "fault": f"{type(error).__name__}: {error}"}
    answers["seconds"] = time.process_time() - began
    answers["grown"] = resident(peak=True) - before
    if digest is not None:
        (table,) = (record for record in store.tables() if record.sha256 == digest)
        shape = answers["shape"] = table.n_rows, table.n_columns
        answers.setdefault("words", f"read {shape}")
        if shape[0] * shape[1] < LOADED and store.table(digest).shape != shape:
            answers["fault"] = "the table that is loaded has another shape"
        if dataset is not None:
            store.delete_dataset(dataset)
        else:
            store.delete_table(digest)
    return answers


def _shown(digest, name):
    """Open a table on Data; return its data set, if there is one, and the fault."""
    roles = first_roles(digest, name)
    dataset = None
    if roles.guessed:
        with suppress(ValueError):  # the page says what is wrong with the guess
            dataset = ui.store().add_dataset(digest, roles, name)
    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
    page.switch_page(PAGE)
    named = {"table": digest} if dataset is None else {"data": dataset}
    for field, value in named.items():
        page.query_params[field] = value
    page.run()
    return dataset, " ".join(error.value[:SHOWN] for error in page.exception)


def _wait(runner, timeout):
    """Wait for a page; AppTest looks every millisecond, at the page's own cost."""
    runner._script_thread.join(timeout)
    runner.request_stop()


if __name__ == "__main__":
    local_script_runner.require_widgets_deltas = _wait
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        answer = opened(path.read_bytes(), path.name)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
