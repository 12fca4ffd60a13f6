"""What was computed of a run or of a table, and can be computed anew.

Summaries move with a run in its bundle, and are checked by whoever reads them. Answers
are made in this home alone, for the version of the code that computes them.
"""

from pathlib import Path

from fairdash.store._files import Files

SUMMARIES = "summaries"  # folders of a home
ANSWERS = "answers"
_SUMMARY = "summary"  # the one file of a summary
_ANSWER = "answer"  # the files of an answer
_VERSION = "version"


class SummaryStore:
    """Summaries and answers by what they are of: a run's id, or a table's digest.

    ``name`` says what one answers, in hexadecimal digits.
    """

    files: Files

    def summary(self, owner: str, name: str) -> bytes | None:
        """Return a summary that was kept, None if there is none.

        One that something changed on the disk is none: it can be made anew.
        """
        return self._content(self._folder(SUMMARIES, owner, name), _SUMMARY)

    def summaries(self, owner: str) -> dict[str, bytes]:
        """Return all summaries of a run, by name."""
        folders = self.files.listed(SUMMARIES, within=owner)
        contents = {}
        for name in sorted(folder.name for folder in folders):
            content = self.summary(owner, name)
            if content is not None:
                contents[name] = content
        return contents

    def keep_summary(self, owner: str, name: str, content: bytes) -> None:
        """Keep a summary; it is deleted with its run. The first writer wins."""
        folder = self._folder(SUMMARIES, owner, name)
        self.files.write(folder, {_SUMMARY: content})

    def delete_summary(self, owner: str, name: str) -> None:
        """Delete a summary; nothing happens where there is none."""
        self.files.delete([self._folder(SUMMARIES, owner, name)])

    def answer(self, owner: str, name: str, version: str) -> bytes | None:
        """Return an answer that code of a version computed, None if there is none.

        One that something changed on the disk is none, as is one of other code.
        """
        folder = self._folder(ANSWERS, owner, name)
        if self._content(folder, _VERSION) != version.encode():
            return None
        return self._content(folder, _ANSWER)

    def has_answer(self, owner: str, name: str) -> bool:
        """Return whether an answer was kept, by code of any version."""
        return self.files.stat(self._folder(ANSWERS, owner, name)) is not None

    def keep_answer(self, owner: str, name: str, version: str, content: bytes) -> None:
        """Keep an answer in place of one of other code; it goes with what it is of."""
        folder = self._folder(ANSWERS, owner, name)
        self.files.delete([folder])
        self.files.write(folder, {_ANSWER: content, _VERSION: version.encode()})

    def delete_answers(self, owner: str) -> None:
        """Delete all summaries and answers of a run or a table."""
        for kind in (SUMMARIES, ANSWERS):
            self.files.delete(self.files.listed(kind, within=owner))

    def _content(self, folder: Path, file: str) -> bytes | None:
        """Return a file of a folder, None where it is not as it was written."""
        if not self.files.exists(folder):
            return None
        try:
            return self.files.intact(folder / file).read_bytes()
        except (FileNotFoundError, ValueError):
            self.files.delete([folder])
            return None

    def _folder(self, kind: str, owner: str, name: str) -> Path:
        return self.files.home / kind / owner / name
