"""Answers that were computed of a run or of a table, and can be computed anew."""

from pathlib import Path

from fairdash.store._files import Files

SUMMARIES = "summaries"  # their folder in a home
_SUMMARY = "summary"  # the one file of a summary


class SummaryStore:
    """Summaries by what they are of, the id of a run or the digest of a table.

    ``name`` says what a summary answers, in hexadecimal digits.
    """

    files: Files

    def summary(self, owner: str, name: str) -> bytes | None:
        """Return a summary that was kept, None if there is none.

        One that something changed on the disk is none: it can be made anew.
        """
        folder = self._summary_folder(owner, name)
        if not self.files.exists(folder):
            return None
        try:
            return self.files.intact(folder / _SUMMARY).read_bytes()
        except (FileNotFoundError, ValueError):
            self.files.delete([folder])
            return None

    def summaries(self, owner: str) -> dict[str, bytes]:
        """Return all summaries of a run or a table, by name."""
        folders = self.files.listed(SUMMARIES, within=owner)
        contents = {}
        for name in sorted(folder.name for folder in folders):
            content = self.summary(owner, name)
            if content is not None:
                contents[name] = content
        return contents

    def keep_summary(self, owner: str, name: str, content: bytes) -> None:
        """Keep a summary; it is deleted with what it is of. The first writer wins."""
        self.files.write(self._summary_folder(owner, name), {_SUMMARY: content})

    def delete_summary(self, owner: str, name: str) -> None:
        """Delete a summary; nothing happens where there is none."""
        self.files.delete([self._summary_folder(owner, name)])

    def delete_summaries(self, owner: str) -> None:
        """Delete all summaries of a run or a table."""
        self.files.delete(self.files.listed(SUMMARIES, within=owner))

    def _summary_folder(self, owner: str, name: str) -> Path:
        return self.files.home / SUMMARIES / owner / name
