"""The questions asked of the rows of a run, or of a data set without one."""

import json
from hashlib import sha256
from pathlib import Path

from fairdash.store._files import Files

LOOKS = "looks"  # their folder in a home
_LOOK = "look.json"  # the one file of a look


class LookStore:
    """Questions with what chance makes of their answers, each in a folder.

    Windows that ask at the same time lose nothing to one another: a folder is written
    once, and appears whole.
    """

    files: Files

    def looks(self, owner: str) -> dict[str, float]:
        """Return the chance of every question that was asked, by the question.

        ``owner`` is the id of a run or of a data set. Folders that something changed on
        the disk are left out.
        """
        chances = {}
        for folder in sorted(self._look_folders(owner)):
            try:
                look = json.loads(self.files.intact(folder / _LOOK).read_text())
            except (FileNotFoundError, ValueError):
                continue
            chances[folder.name] = float(look["chance"])
        return chances

    def keep_look(self, owner: str, question: str, chance: float) -> None:
        """Keep that a question was asked; ``question`` is in hexadecimal digits."""
        folder = self.files.home / LOOKS / _folder_of(owner) / question
        content = json.dumps({"chance": chance}).encode()
        self.files.write(folder, {_LOOK: content})

    def delete_looks(self, owner: str) -> None:
        """Delete what was asked of a run or a data set."""
        self.files.delete(self._look_folders(owner))

    def _look_folders(self, owner: str) -> list[Path]:
        return list(self.files.listed(LOOKS, within=_folder_of(owner)))


def _folder_of(owner: str) -> str:
    """Return the name of a folder; an id of an address may be any text."""
    return sha256(owner.encode()).hexdigest()[:16]
