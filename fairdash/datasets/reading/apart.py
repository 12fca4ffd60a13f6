"""A large file read in a process of its own: it has limits, and can be stopped.

The process runs `serve`, told by standard input what to read and answering in JSON.
"""

import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from fairdash.datasets._child import MOST_MEMORY, MOST_SECONDS, Watch, ask, limit
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.read import TableFile, convert_table
from fairdash.datasets.reading.source import GZIP, ZIP, SeveralTablesError

LARGE = 16 << 20  # bytes; below, a process takes longer to start than to read them
LARGE_PACKED = 1 << 20  # the same of packed files
PACKED = (GZIP, ZIP, b"PAR1")


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
        said = ask(__name__, json.dumps(task).encode(), watch)
    if said is None:
        raise ValueError(
            f"{name} was not read: that takes more than {most_seconds:,} seconds or "
            f"{most_memory / 2**30:.1f} GiB. Keep the columns and rows that are needed."
        )
    answer = json.loads(said)
    if "names" in answer:
        raise SeveralTablesError(answer["found"], answer["names"])
    if "error" in answer:
        raise ValueError(answer["error"])
    found = TableFormat(**answer.pop("table_format"))
    return TableFile(table_format=found, **answer)


def serve() -> None:
    """Read what standard input asks for, and answer."""
    task = json.load(sys.stdin)
    limit(*task["limits"])
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
