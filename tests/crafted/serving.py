"""A process that keeps files as the one that serves pages does, and says the cost.

    python serving.py HOME

It is told the path of a file by a line, and answers by a line of JSON.
"""

import json
import sys
import time
from pathlib import Path

from fairdash.datasets import reading
from fairdash.store import open_store

LOADED = 1_000_000  # cells of a table that is loaded as well


def resident(*, peak):
    """Return the bytes in memory, now or at most since `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:" if peak else "VmRSS:")[1].split()[0]) << 10


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def kept(store, content, name):
    """Add a file to a store and return what is said of it, and how much that cost."""
    said = {"fault": "", "choices": 0}
    digest = None
    forget_peak()
    before, began = resident(peak=False), time.process_time()
    try:
        digest = store.add_table(content, name, watch=lambda *_: None)
    except reading.SeveralTablesError as error:
        said |= {"words": str(error), "choices": len(error.names)}
    except ValueError as error:
        said |= {"words": str(error)}
    except Exception as error:
        said |= {"words": "", "fault": f"{type(error).__name__}: {error}"}
    said["seconds"] = time.process_time() - began
    said["grown"] = resident(peak=True) - before
    if digest is not None:
        (table,) = (one for one in store.tables() if one.sha256 == digest)
        shape = table.n_rows, table.n_columns
        said["words"] = f"read {shape}"
        if shape[0] * shape[1] < LOADED and store.table(digest).shape != shape:
            said["fault"] = "the table that is loaded has another shape"
        store.delete_table(digest)
    return said


if __name__ == "__main__":
    store = open_store(Path(sys.argv[1]))
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        answer = kept(store, path.read_bytes(), path.name)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
