"""Files on this disk: written whole or not at all, and known by their digests."""

import json
import os
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

DIGESTS = "digests.json"  # sha256 of every other file of a folder
WRITING = ".writing-"  # begins the name of what is not yet a folder
ABANDONED_SECONDS = 3600.0


class Stat(NamedTuple):
    """Bytes of a folder, and when it was written, in seconds since 1970."""

    size: int
    written: float


def is_old(stat: Stat) -> bool:
    return time.time() - stat.written > ABANDONED_SECONDS


def stat_now(folder: Path) -> Stat | None:
    """Return what is known of a folder here, None where others have just moved it."""
    with suppress(FileNotFoundError, NotADirectoryError):  # deleted, half written
        sizes = [path.stat().st_size for path in folder.iterdir()]
        return Stat(sum(sizes), folder.stat().st_mtime)
    return None


def private(path: str, flags: int) -> int:
    """Open a file that only its owner reads; an ``opener`` of `open`."""
    return os.open(path, flags, 0o600)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, that only its owner enters."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(mode=0o700, exist_ok=True)


def write_file(path: Path, text: str) -> None:
    """Write a text so that a reader sees the one before or the new one, never half."""
    make_folder(path.parent)
    descriptor, beside = tempfile.mkstemp(prefix=WRITING, dir=path.parent)
    with open(descriptor, "w") as file:
        file.write(text)
    os.replace(beside, path)


def intact(path: Path, of: str = "") -> Path:
    """Return a file of `Files.write` if it is as it was written.

    Raises ValueError when it is not: something changed it on the disk. ``of`` is what
    it belongs to, by default the name of its folder.
    """
    facts = path.stat()
    if not _is_intact(path, facts.st_size, facts.st_mtime_ns):
        raise ValueError(damaged(of or path.parent.name, path.name))
    return path


def damage(folder: Path, of: str) -> list[str]:
    """Return what is wrong with the files of a folder of `Files.write`, in words."""
    try:
        digests = json.loads((folder / DIGESTS).read_text())
    except FileNotFoundError:  # of an earlier version
        return []
    except ValueError:
        return [f"The file {DIGESTS} of {of} is not what was written."]
    found = []
    for name in digests:
        try:
            intact(folder / name)
        except FileNotFoundError:
            found.append(f"The file {name} of {of} is missing.")
        except ValueError:
            found.append(f"The file {name} of {of} is not what was written.")
    return found


def damaged(of: str, name: str) -> str:
    return (
        f"The file {name} of {of} is damaged: it is not what was written. Delete what "
        "it belongs to, and upload or train that again."
    )


def new_folder(folder: Path) -> Path:
    make_folder(folder.parent)
    return Path(tempfile.mkdtemp(prefix=WRITING, dir=folder.parent))


def fill(beside: Path, files: Mapping[str, bytes | Path]) -> None:
    for name, content in files.items():
        if isinstance(content, Path):
            os.rename(content, beside / name)
            (beside / name).chmod(0o600)
            content = b""
        append(beside / name, content)
    digests = {name: _digest(beside / name) for name in files}
    append(beside / DIGESTS, json.dumps(digests).encode())
    _sync(beside)


def rename(beside: Path, folder: Path) -> None:
    """Make a folder appear under its name, if no other process was first."""
    try:
        os.rename(beside, folder)
        _sync(folder.parent)
    except OSError:
        if not folder.exists():
            raise


@lru_cache(maxsize=4096)
def _is_intact(path: Path, size: int, changed: int) -> bool:
    """Tell whether a file has its digest; one of an earlier version has none."""
    try:
        digests = json.loads((path.parent / DIGESTS).read_text())
    except FileNotFoundError:
        return True
    return bool(_digest(path) == digests.get(path.name))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def append(path: Path, content: bytes) -> None:
    with open(path, "ab", opener=private) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
