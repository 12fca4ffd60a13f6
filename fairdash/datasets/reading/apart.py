"""A large file read in a process of its own: it has limits, and can be stopped.

The process runs `serve`, told by standard input what to read and answering in JSON.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.read import TableFile, convert_table
from fairdash.datasets.reading.source import GZIP, ZIP, SeveralTablesError

LARGE = 16 << 20  # bytes; below, a process takes longer to start than to read them
LARGE_PACKED = 1 << 20  # the same of packed files
PACKED = (GZIP, ZIP, b"PAR1")
MOST_MEMORY = 4 << 30  # bytes beyond what the process has before it reads
MOST_SECONDS = 900  # of computing
_LOOK = 0.2  # seconds between two looks at the process

Watch = Callable[[float], None]


def is_large(content: bytes) -> bool:
    """Tell whether reading a file may take long enough to be watched."""
    return len(content) > (LARGE_PACKED if content.startswith(PACKED) else LARGE)


def convert_apart(
    content: bytes,
    path: Path,
    watch: Watch,
    *,
    name: str,
    sheet: str | None = None,
    table_format: TableFormat | None = None,
    most_memory: int = MOST_MEMORY,
    most_seconds: int = MOST_SECONDS,
) -> TableFile:
    """Do what `convert_table` does, in a process of its own.

    Parameters
    ----------
    content : bytes
        Of the file, which ``name`` is the name of.
    path : Path
        Where the table is written.
    watch : callable
        Called with the seconds that have passed, several times a second. What it
        raises ends the process, and is raised here.
    most_memory, most_seconds : int
        Bytes, and seconds of computing, that the process may take.

    Raises
    ------
    ValueError
        As `convert_table` does, or when the process came to one of its limits.
    """
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        source = Path(folder) / "file"
        source.write_bytes(content)
        form = None if table_format is None else asdict(table_format)
        task = {
            "source": str(source),
            "path": str(path),
            "told": {"name": name, "sheet": sheet},
            "form": form,
            "limits": [most_memory, most_seconds],
        }
        answer = _ask(task, watch)
    if answer is None:
        raise ValueError(
            f"{name} was not read: that takes more than {most_seconds:,} seconds or "
            f"{most_memory / 2**30:.1f} GiB. Keep the columns and rows that are needed."
        )
    if "names" in answer:
        raise SeveralTablesError(answer["found"], answer["names"])
    if "error" in answer:
        raise ValueError(answer["error"])
    found = TableFormat(**answer.pop("table_format"))
    return TableFile(table_format=found, **answer)


def _ask(task: dict[str, Any], watch: Watch) -> dict[str, Any] | None:
    """Return what the process answers, None if it was ended before."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    sent: bytes | None = json.dumps(task).encode()
    with process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    answer, _ = process.communicate(sent, timeout=_LOOK)
                    break
                sent = None  # it has it
                watch(time.monotonic() - began)
        finally:
            process.kill()
    return json.loads(answer) if answer else None


def serve() -> None:
    """Read what standard input asks for, and answer."""
    task = json.load(sys.stdin)
    memory, seconds = task["limits"]
    with suppress(OSError):  # where there is no /proc, memory is not limited
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + memory,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    form = task["form"] and TableFormat(**task["form"])
    try:
        found = convert_table(
            Path(task["source"]), Path(task["path"]), table_format=form, **task["told"]
        )
        answer = asdict(found)
    except SeveralTablesError as error:
        answer = {"found": error.found, "names": error.names}
    except ValueError as error:
        answer = {"error": str(error)}
    except MemoryError:
        return
    sys.stdout.write(json.dumps(answer))
