"""Folders of files that appear and disappear at once, here or in an object store.

Beside the home folder an address such as ``s3://bucket/prefix`` may keep them: each as
one object, since only one object is written at once; what is read is copied here.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from fairdash.store._disk import (
    DIGESTS,
    WRITING,
    Stat,
    damage,
    fill,
    intact,
    is_old,
    new_folder,
    rename,
    stat_now,
)
from fairdash.store.server.objects import Away

REMOVING = ".removing-"  # begins the name of what is no longer a folder


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
        return stat_now(folder)

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
            beside = new_folder(folder)
            try:
                self.away.fetch(self._name(folder), beside)
                for name in json.loads((beside / DIGESTS).read_text()):
                    intact(beside / name, folder.name)
                rename(beside, folder)
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
        beside = folder if here else new_folder(folder)
        try:
            if not here:
                fill(beside, files)
            if self.away is not None and not self.exists(folder):
                self.away.send(self._name(folder), beside)
            if not here:
                rename(beside, folder)
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
            elif last.startswith(WRITING) and is_old(stat):
                self.away.delete(name)
        for folder in self.home.joinpath(kind).glob("*/[!.]*"):
            if self._name(folder) not in there and folder.name not in kept:
                shutil.rmtree(folder, ignore_errors=True)

    def half(self, kind: str) -> dict[Path, Stat]:
        """Return what is half removed here, or was half written an hour ago."""
        root = self.home / kind
        left = root.glob(f"*/{REMOVING}*")
        begun = [*root.glob(f"{WRITING}*"), *root.glob(f"*/{WRITING}*")]
        stats = {folder: stat_now(folder) for folder in (*left, *begun)}
        return {
            folder: stat
            for folder, stat in stats.items()
            if stat and (folder.name.startswith(REMOVING) or is_old(stat))
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
