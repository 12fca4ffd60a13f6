"""Folders of files that appear and disappear at once, here or in an object store.

Beside the home folder an address such as ``s3://bucket/prefix`` may keep them: each as
one object, since only one object is written at once; what is read is copied here.
Every file is known by its digest, and refused where it is not as it was written.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import NamedTuple

from fairdash.store.server.objects import Away

DIGESTS = "digests.json"  # sha256 of every other file of a folder
WRITING = ".writing-"  # begins the name of what is no folder, yet or any more
ABANDONED_SECONDS = 3600.0


class Stat(NamedTuple):
    """Bytes of a folder, and when it was written, in seconds since 1970."""

    size: int
    written: float

    @property
    def is_old(self) -> bool:
        """Whether nobody who wrote it can still be writing."""
        return time.time() - self.written > ABANDONED_SECONDS


class Files:
    """The folders of a home folder, and of an object store if ``url`` names one.

    A folder is named by its path below ``home``.
    """

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        self.away = Away(url) if url else None

    def stat(self, folder: Path) -> Stat | None:
        """Return size and date of a folder that is complete, None where it is not.

        Of an object store that is what it held two seconds ago at most.
        """
        if self.away is None:
            return _stat(folder)
        name = self._name(folder)
        facts = self.away.listed(name.partition("/")[0]).get(name)
        return None if facts is None else Stat(*facts)

    def exists(self, folder: Path) -> bool:
        """Tell whether a folder is complete, at this moment."""
        if self.away is None:
            return folder.exists()
        return self.away.has(self._name(folder))

    def listed(self, kind: str, *, within: str = "[!.]*") -> dict[Path, Stat]:
        """Return the complete folders of a kind, such as "tables" or "artifacts"."""
        if self.away is not None:
            pattern = f"{kind}/{within}/[!.]*"
            return {
                self.home / name: Stat(*facts)
                for name, facts in self.away.listed(kind, fresh=True).items()
                if Path(name).match(pattern)
            }
        folders = sorted(self.home.joinpath(kind).glob(f"{within}/[!.]*"))
        stats = ((folder, _stat(folder)) for folder in folders)
        return {folder: stat for folder, stat in stats if stat is not None}

    def local(self, folder: Path) -> Path:
        """Return a folder that can be read here; FileNotFoundError if there is none."""
        if self.away is not None and not folder.exists():
            with _beside(folder) as half:
                self.away.fetch(self._name(folder), half)
                for name in json.loads((half / DIGESTS).read_text()):
                    intact(half / name, folder.name)
                _rename(half, folder)
        return folder

    def intact(self, path: Path) -> Path:
        """Return a file of a folder if it is as it was written; ValueError if not."""
        return intact(self.local(path.parent) / path.name)

    def write(self, folder: Path, files: Mapping[str, bytes | Path]) -> None:
        """Make ``folder`` with ``files`` appear at once, unless it is there already.

        A file given as a path is moved, from the same disk.
        """
        if not folder.exists():
            with _beside(folder) as half:
                _fill(half, files)
                if self.away is not None and not self.exists(folder):
                    self.away.send(self._name(folder), half)
                _rename(half, folder)
        elif self.away is not None and not self.exists(folder):
            self.away.send(self._name(folder), folder)

    def copy(self, folder: Path, to: Path) -> bool:
        """Make a copy of a folder appear at once, in place of one that is there.

        Returns whether it is as the folder was written: False where the folder is
        damaged. Raises FileNotFoundError where the folder is deleted meanwhile.
        """
        with _beside(to) as half:
            if self.away is not None:
                self.away.fetch(self._name(folder), half)
            else:
                for path in folder.iterdir():
                    shutil.copyfile(path, half / path.name)
            for path in half.iterdir():
                path.chmod(0o600)
                sync(path)
            sync(half)
            if to.exists():
                with _beside(to) as aside:
                    os.rename(to, aside)
            _rename(half, to)
        return all(_has_its_digest(path) for path in to.iterdir())

    def is_copied(self, folder: Path, to: Path) -> bool:
        """Tell by names, sizes and digests whether ``to`` is a copy of a folder.

        Of an object store only by whether ``to`` is there.
        """
        if self.away is not None:
            return to.exists()
        copied = _contents(to)
        return copied is not None and copied == _contents(folder)

    def delete(self, folders: Iterable[Path]) -> None:
        """Delete folders, each at once; nothing happens where there is none."""
        for folder in folders:
            if folder.exists():
                # Renamed first, so that it is gone at once. Another process may delete
                # it just now; `tidy` frees what one that died has left.
                with suppress(FileNotFoundError), _beside(folder) as aside:
                    os.rename(folder, aside)
            if self.away is not None:
                self.away.delete(self._name(folder))

    def tidy(self, kind: str, needed: Container[str] | None) -> None:
        """Delete what processes that died left of the folders of a kind.

        Half written folders go when they are old enough; so do those whose name is not
        ``needed`` (None: all are), and copies of what the object store has no more.
        """
        root = self.home / kind
        for folder in (*root.glob(f"{WRITING}*"), *root.glob(f"*/{WRITING}*")):
            stat = _stat(folder)
            if stat is not None and stat.is_old:
                shutil.rmtree(folder, ignore_errors=True)
        if needed is not None:
            # Complete, but not in the database: adding or deleting it was killed
            # between its two steps.
            complete = self.listed(kind)
            self.delete(
                folder
                for folder, stat in complete.items()
                if stat.is_old and folder.name not in needed
            )
        if self.away is None:
            return
        objects = self.away.listed(kind, fresh=True)
        for name, facts in objects.items():
            is_partial = name.rpartition("/")[2].startswith(WRITING)
            if is_partial and Stat(*facts).is_old:
                self.away.delete(name)
        for folder in root.glob("*/[!.]*"):
            if self._name(folder) not in objects and folder.name not in (needed or ()):
                shutil.rmtree(folder, ignore_errors=True)

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self.home).as_posix()


def private(path: str, flags: int) -> int:
    """Open a file that only its owner reads; an ``opener`` of `open`."""
    return os.open(path, flags, 0o600)


def make_folder(folder: Path) -> None:
    """Make a folder, with those above it, that only its owner enters."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(mode=0o700, exist_ok=True)


def write_file(path: Path, text: str) -> None:
    """Write a text so that a reader sees the one before or the new one, never half."""
    # Beside, on the same disk: only there does renaming replace a file at once.
    make_folder(path.parent)
    descriptor, partial = tempfile.mkstemp(prefix=WRITING, dir=path.parent)
    with open(descriptor, "w") as file:
        file.write(text)
    os.replace(partial, path)


def intact(path: Path, of: str = "") -> Path:
    """Return a file of `Files.write` if it is as it was written.

    Raises ValueError when it is not: something changed it on the disk. ``of`` is what
    it belongs to, by default the name of its folder.
    """
    facts = path.stat()
    if not _is_intact(path, facts.st_size, facts.st_mtime_ns):
        raise ValueError(
            f"The file {path.name} of {of or path.parent.name} is damaged: it is not "
            "what was written. Delete what it belongs to, and upload or train that "
            "again."
        )
    return path


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """Give an empty folder on the same disk, which is gone afterwards.

    What is to stay is renamed before: only within a disk does that happen at once.
    """
    make_folder(folder.parent)
    half = Path(tempfile.mkdtemp(prefix=WRITING, dir=folder.parent))
    try:
        yield half
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _stat(folder: Path) -> Stat | None:
    with suppress(FileNotFoundError, NotADirectoryError):  # deleted, half written
        sizes = [path.stat().st_size for path in folder.iterdir()]
        return Stat(sum(sizes), folder.stat().st_mtime)
    return None


def _contents(folder: Path) -> tuple[dict[str, int], bytes] | None:
    """Return the sizes of all files of a folder, and what says their digests."""
    try:
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
        digests = b""  # of an earlier version, which wrote none
        if DIGESTS in sizes:
            digests = (folder / DIGESTS).read_bytes()
    except FileNotFoundError:
        return None
    return sizes, digests


def _fill(folder: Path, files: Mapping[str, bytes | Path]) -> None:
    """Write files and their digests, each through to the disk."""
    for name, content in files.items():
        if isinstance(content, Path):
            os.rename(content, folder / name)
            (folder / name).chmod(0o600)
            content = b""  # nothing to write, but to sync
        _append(folder / name, content)
    digests = {name: _digest(folder / name) for name in files}
    _append(folder / DIGESTS, json.dumps(digests).encode())
    sync(folder)


def _rename(half: Path, folder: Path) -> None:
    """Make a folder appear under its name, if no other process was first."""
    try:
        os.rename(half, folder)
        sync(folder.parent)
    except OSError:
        if not folder.exists():
            raise


@lru_cache(maxsize=4096)
def _is_intact(path: Path, size: int, changed: int) -> bool:
    """Return whether a file has the digest it was written with.

    Size and date are of the key, so that a file is read again once it has changed.
    """
    return _has_its_digest(path)


def _has_its_digest(path: Path) -> bool:
    """Return whether a file has the digest it was written with."""
    if path.name == DIGESTS:
        return True
    try:
        digests = json.loads((path.parent / DIGESTS).read_text())
    except FileNotFoundError:
        return True  # of an earlier version, which wrote no digests
    return bool(_digest(path) == digests.get(path.name))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _append(path: Path, content: bytes) -> None:
    with open(path, "ab", opener=private) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Write a file, or a folder's entries, through to the disk.

    A new name must survive a crash, too.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
