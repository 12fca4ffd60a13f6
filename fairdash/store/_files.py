"""Folders of files that appear and disappear at once, here or in an object store.

Beside the home folder an address such as ``s3://bucket/prefix`` may keep them: each as
one object, since only one object is written at once; what is read is copied here.
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
from typing import Any, NamedTuple
from uuid import uuid4
from zipfile import BadZipFile, ZipFile

from fairdash.store._database import StoreError, trouble

DIGESTS = "digests.json"  # sha256 of every other file of a folder
WRITING, REMOVING = ".writing-", ".removing-"  # what is not, or no longer, a folder
ABANDONED_SECONDS = 3600.0
LISTED_SECONDS = 2.0  # for which a listing of the object store is taken as it was
AT_ONCE = {"s3", "s3a", "gs", "gcs", "az", "abfs", "memory"}  # whole objects or none


class Stat(NamedTuple):
    """Bytes of a folder, and when it was written, in seconds since 1970."""

    size: int
    written: float


class Files:
    """The folders of a home folder, and of an object store if ``url`` names one.

    A folder is named by its path below ``home``.
    """

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        self.away = Away(url) if url else None

    def stat(self, folder: Path) -> Stat | None:
        """Return what is known of a folder that is complete, None where it is not.

        Of an object store that is what it held two seconds ago at most.
        """
        if self.away is not None:
            name = self._name(folder)
            return self.away.listed(name.partition("/")[0]).get(name)
        return _stat_now(folder)

    def written(self, folder: Path) -> float | None:
        """Return when a folder was written, None where it is not."""
        if self.away is not None:
            stat = self.stat(folder)
            return None if stat is None else stat.written
        with suppress(FileNotFoundError):
            return folder.stat().st_mtime
        return None

    def exists(self, folder: Path) -> bool:
        """Tell whether a folder is complete, at this moment."""
        if self.away is None:
            return folder.exists()
        return self.away.has(self._name(folder))

    def listed(self, kind: str, *, within: str = "[!.]*") -> dict[Path, Stat]:
        """Return the complete folders of "tables", "artifacts" or "scores"."""
        if self.away is not None:
            names = self.away.listed(kind, now=True)
            pattern = f"{kind}/{within}/[!.]*"
            return {
                self.home / name: stat
                for name, stat in names.items()
                if Path(name).match(pattern)
            }
        found = self.home.joinpath(kind).glob(f"{within}/[!.]*")
        stats = ((folder, self.stat(folder)) for folder in sorted(found))
        return {folder: stat for folder, stat in stats if stat is not None}

    def local(self, folder: Path) -> Path:
        """Return a folder that can be read here; FileNotFoundError if there is none."""
        if self.away is not None and not folder.exists():
            beside = _beside(folder)
            try:
                self.away.fetch(self._name(folder), beside)
                for name in json.loads((beside / DIGESTS).read_text()):
                    intact(beside / name, folder.name)
                _rename(beside, folder)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        return folder

    def intact(self, path: Path) -> Path:
        """Return a file of a folder if it is as it was written; ValueError if not."""
        return intact(self.local(path.parent) / path.name)

    def write(self, folder: Path, files: Mapping[str, bytes | Path]) -> None:
        """Make ``folder`` with ``files`` appear at once, unless it is there already.

        A file given as a path is moved, from the same disk.
        """
        here = folder.exists()
        if self.away is None and here:
            return
        beside = folder if here else _beside(folder)
        try:
            if not here:
                _fill(beside, files)
            if self.away is not None and not self.exists(folder):
                self.away.send(self._name(folder), beside)
            if not here:
                _rename(beside, folder)
        finally:
            if not here:
                shutil.rmtree(beside, ignore_errors=True)

    @contextmanager
    def removing(self, folders: Iterable[Path]) -> Iterator[None]:
        """Make folders disappear at once; free their space later, or put them back.

        Of a process that is killed in between, `tidy` does either.
        """
        undo: list[tuple[Any, Any, Any]] = []
        try:
            for folder in folders:
                aside = folder.with_name(f"{REMOVING}{folder.name}")
                if folder.exists():
                    if aside.exists():  # of an earlier removal that was killed
                        shutil.rmtree(aside)
                    os.rename(folder, aside)
                    undo.append((os.rename, aside, folder))
                if self.away is not None and self.exists(folder):
                    name, other = self._name(folder), self._name(aside)
                    self.away.move(name, other)
                    undo.append((self.away.move, other, name))
            yield
        except BaseException:
            for move, here, there in reversed(undo):
                move(here, there)
            raise
        for _, here, _there in undo:
            if isinstance(here, Path):
                shutil.rmtree(here, ignore_errors=True)
            elif self.away is not None:
                self.away.delete(here)

    def tidy(self, kind: str, kept: Container[str]) -> None:
        """Finish or undo what processes that died left beside the folders of a kind.

        A folder that was to be removed comes back if its name is still ``kept``: its
        removal was never sure. Half written folders go when they are old enough, and so
        do copies of what is no longer in the object store.
        """
        for folder in self.half(kind):
            name = folder.name.removeprefix(REMOVING)
            undone = folder.name.startswith(REMOVING) and name in kept
            if undone and not folder.with_name(name).exists():
                os.rename(folder, folder.with_name(name))
            else:
                shutil.rmtree(folder, ignore_errors=True)
        if self.away is None:
            return
        there = self.away.listed(kind, now=True)
        for name, stat in there.items():
            head, _, last = name.rpartition("/")
            plain = last.removeprefix(REMOVING)
            if last.startswith(REMOVING):
                if plain in kept and f"{head}/{plain}" not in there:
                    self.away.move(name, f"{head}/{plain}")
                else:
                    self.away.delete(name)
            elif last.startswith(WRITING) and _is_old(stat):
                self.away.delete(name)
        for folder in self.home.joinpath(kind).glob("*/[!.]*"):
            if self._name(folder) not in there and folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def half(self, kind: str) -> dict[Path, Stat]:
        """Return what is half removed here, or was half written an hour ago."""
        root = self.home / kind
        left = root.glob(f"*/{REMOVING}*")
        begun = [*root.glob(f"{WRITING}*"), *root.glob(f"*/{WRITING}*")]
        stats = {folder: _stat_now(folder) for folder in (*left, *begun)}
        return {
            folder: stat
            for folder, stat in stats.items()
            if stat and (folder.name.startswith(REMOVING) or _is_old(stat))
        }

    def damage(self, folder: Path) -> list[str]:
        """Return what is wrong with the files of a folder, in words."""
        if self.away is None:
            return damage(folder, folder.name)
        with tempfile.TemporaryDirectory() as beside:
            try:
                self.away.fetch(self._name(folder), Path(beside))
            except ValueError as error:
                return [str(error)]
            return damage(Path(beside), folder.name)

    def _name(self, folder: Path) -> str:
        return folder.relative_to(self.home).as_posix()


class Away:
    """Folders as objects of any file system that fsspec knows."""

    def __init__(self, url: str) -> None:
        import fsspec  # a page of a store in a folder lives without

        with _reached():
            # a cached listing would show what others have deleted
            self._fs, root = fsspec.url_to_fs(url, use_listings_cache=False)
        self._root = root.rstrip("/")
        protocol = self._fs.protocol
        known = {protocol} if isinstance(protocol, str) else set(protocol)
        self._at_once = bool(known & AT_ONCE)
        self._listings: dict[str, tuple[float, dict[str, Stat]]] = {}

    def has(self, name: str) -> bool:
        """Tell whether a folder is there."""
        with _reached():
            return bool(self._fs.exists(self._path(name)))

    def listed(self, kind: str, *, now: bool = False) -> dict[str, Stat]:
        """Return what is there, by name."""
        looked, found = self._listings.get(kind, (-LISTED_SECONDS, {}))
        if now or time.monotonic() - looked > LISTED_SECONDS:
            with _reached():
                there = self._fs.find(f"{self._root}/{kind}", detail=True)
            found = {
                path.removeprefix(f"{self._root}/").removesuffix(".zip"): _stat(facts)
                for path, facts in there.items()
            }
            self._listings[kind] = time.monotonic(), found
        return found

    def send(self, name: str, folder: Path) -> None:
        """Put a folder there, whole or not at all."""
        head, _, last = name.rpartition("/")
        with tempfile.TemporaryDirectory(prefix=WRITING, dir=folder.parent) as beside:
            packed = Path(beside) / "folder.zip"
            with ZipFile(packed, "w") as file:
                for path in sorted(folder.iterdir()):
                    file.write(path, path.name)
            with self._changing():
                if self._at_once:
                    self._fs.put_file(str(packed), self._path(name))
                    return
                half = self._path(f"{head}/{WRITING}{last}-{uuid4().hex}")
                self._fs.makedirs(f"{self._root}/{head}", exist_ok=True)
                self._fs.put_file(str(packed), half)
                self._fs.mv(half, self._path(name))

    def fetch(self, name: str, folder: Path) -> None:
        """Copy a folder here; ValueError if it is no longer what was put there."""
        packed = folder / "folder.zip"
        with _reached():
            self._fs.get_file(self._path(name), str(packed))
        try:
            with ZipFile(packed) as file:
                for member in file.namelist():  # of files, no paths
                    _append(folder / Path(member).name, file.read(member))
        except BadZipFile as error:
            raise ValueError(_damaged(name.rpartition("/")[2], packed.name)) from error
        packed.unlink()

    def move(self, name: str, other: str) -> None:
        """Give a folder another name."""
        with self._changing():
            self._fs.mv(self._path(name), self._path(other))

    def delete(self, name: str) -> None:
        """Delete a folder."""
        with self._changing(), suppress(FileNotFoundError):
            self._fs.rm_file(self._path(name))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            with _reached():
                yield
        finally:
            self._listings.clear()

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}.zip"


@contextmanager
def _reached() -> Iterator[None]:
    """Say what an object store that does not answer needs; each raises its own."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        why = trouble(error) or (
            f"The files of this store are not reached ({type(error).__name__}). See "
            "that FAIRDASH_FILES is their address, and that this machine may read and "
            "write there; what was finished before stands."
        )
        raise StoreError(why) from error


def _is_old(stat: Stat) -> bool:
    return time.time() - stat.written > ABANDONED_SECONDS


def _stat_now(folder: Path) -> Stat | None:
    """Return what is known of a folder here, None where others have just moved it."""
    with suppress(FileNotFoundError, NotADirectoryError):  # deleted, half written
        sizes = [path.stat().st_size for path in folder.iterdir()]
        return Stat(sum(sizes), folder.stat().st_mtime)
    return None


def _stat(facts: Mapping[str, Any]) -> Stat:
    """Return what a file system tells of an object, each by a word of its own."""
    words = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
    moment = next((facts[word] for word in words if facts.get(word)), 0.0)
    return Stat(facts["size"] or 0, getattr(moment, "timestamp", lambda: moment)())


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
        raise ValueError(_damaged(of or path.parent.name, path.name))
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


def _damaged(of: str, name: str) -> str:
    return (
        f"The file {name} of {of} is damaged: it is not what was written. Delete what "
        "it belongs to, and upload or train that again."
    )


def _beside(folder: Path) -> Path:
    make_folder(folder.parent)
    return Path(tempfile.mkdtemp(prefix=WRITING, dir=folder.parent))


def _fill(beside: Path, files: Mapping[str, bytes | Path]) -> None:
    for name, content in files.items():
        if isinstance(content, Path):
            os.rename(content, beside / name)
            (beside / name).chmod(0o600)
            content = b""
        _append(beside / name, content)
    digests = {name: _digest(beside / name) for name in files}
    _append(beside / DIGESTS, json.dumps(digests).encode())
    _sync(beside)


def _rename(beside: Path, folder: Path) -> None:
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


def _append(path: Path, content: bytes) -> None:
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
