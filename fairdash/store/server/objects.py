"""Folders as objects of an object store, such as ``s3://bucket/prefix``."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4
from zipfile import BadZipFile, ZipFile

from fairdash.store._errors import StoreError, trouble

LISTED_SECONDS = 2.0  # for which a listing of the object store is taken as it was
HALF = ".writing-"  # begins the name of what is not yet whole
Facts = tuple[int, float]  # bytes of an object, and when it was written


class Away:
    """Folders as objects of any file system that fsspec knows."""

    def __init__(self, url: str) -> None:
        import fsspec  # a page of a store in a folder lives without

        with _reached():
            # A cached listing would show what others have deleted.
            self._fs, root = fsspec.url_to_fs(url, use_listings_cache=False)
        self._root = root.rstrip("/")
        self._listings: dict[str, tuple[float, dict[str, Facts]]] = {}

    def has(self, name: str) -> bool:
        """Tell whether a folder is there."""
        with _reached():
            return bool(self._fs.exists(self._path(name)))

    def listed(self, kind: str, *, fresh: bool = False) -> dict[str, Facts]:
        """Return the objects of a kind by name: bytes, and when each was written."""
        # A page asks for the state of many folders in a row: one listing answers all.
        looked, objects = self._listings.get(kind, (-LISTED_SECONDS, {}))
        if fresh or time.monotonic() - looked > LISTED_SECONDS:
            with _reached():
                details = self._fs.find(f"{self._root}/{kind}", detail=True)
            objects = {}
            for path, about in details.items():
                name = path.removeprefix(f"{self._root}/").removesuffix(".zip")
                objects[name] = _facts(about)
            self._listings[kind] = time.monotonic(), objects
        return objects

    def send(self, name: str, folder: Path) -> None:
        """Put a folder there, whole or not at all."""
        head, _, last = name.rpartition("/")
        half = self._path(f"{head}/{HALF}{last}-{uuid4().hex}")
        with tempfile.TemporaryDirectory(prefix=HALF, dir=folder.parent) as scratch:
            packed = Path(scratch) / "folder.zip"
            with ZipFile(packed, "w") as file:
                for path in sorted(folder.iterdir()):
                    file.write(path, path.name)
            # Moved when it is whole: not every file system writes an object at once.
            with self._changing():
                self._fs.makedirs(f"{self._root}/{head}", exist_ok=True)
                self._fs.put_file(str(packed), half)
                self._fs.mv(half, self._path(name))

    def fetch(self, name: str, folder: Path) -> None:
        """Copy a folder here; ValueError if it is no longer what was put there."""
        # One object is a whole folder: only a single object appears at once.
        packed = folder / "folder.zip"
        with _reached():
            self._fs.get_file(self._path(name), str(packed))
        try:
            with ZipFile(packed) as file:
                for member in file.namelist():  # of files, no paths
                    (folder / Path(member).name).write_bytes(file.read(member))
        except BadZipFile as error:
            raise ValueError(
                f"The file of {name.rpartition('/')[2]} is damaged. Delete what it "
                "belongs to, and upload or train that again."
            ) from error
        packed.unlink()

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


def _facts(about: Mapping[str, Any]) -> Facts:
    """Return bytes and time of an object; file systems name the time differently."""
    names = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
    moment = next((about[name] for name in names if about.get(name)), 0.0)
    seconds = moment.timestamp() if hasattr(moment, "timestamp") else moment
    return about["size"] or 0, seconds
