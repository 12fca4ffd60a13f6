"""Snapshots: reports kept as they were, with the address that they were made at."""

import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from fairdash.store._files import Files

_PAGE, _FACTS = "report.html", "facts.json"
_DAMAGED = "Damaged snapshot"


@dataclass(frozen=True)
class KeptReport:
    """A report that outlives its run.

    Attributes
    ----------
    address : str
        Page and query that it was made at, such as "Sweep?run=ab&tau=0.6".
    created : float
        Seconds since 1970.
    """

    id: str
    title: str
    run: str
    address: str
    created: float
    n_bytes: int


class ReportStore:
    """Reports, each in a folder; nothing else refers to them, nor they to anything."""

    def __init__(self, files: Files) -> None:
        self._files, self._home = files, files.home / "reports"

    def keep_report(self, page: str, *, title: str, run: str, address: str) -> str:
        """Keep an HTML page that holds no row of any table, and return its id.

        It is never changed, and stays when its run, models and table are deleted, until
        it is deleted itself.
        """
        content = page.encode()
        about = secrets.token_hex(8), title, run, address, time.time(), len(content)
        made = KeptReport(*about)
        files: dict[str, bytes | Path] = {
            _PAGE: content,
            _FACTS: json.dumps(asdict(made)).encode(),
        }
        self._files.write(self._folder(made.id), files)
        return made.id

    def kept_reports(self) -> list[KeptReport]:
        """Return the reports that are kept, in no order.

        One whose facts are damaged is "Damaged snapshot", to be deleted.
        """
        found = []
        for folder, stat in self._files.listed("reports").items():
            try:
                found.append(self._facts(folder))
            except (ValueError, FileNotFoundError):
                about = folder.name, _DAMAGED, "", "", stat.written, stat.size
                found.append(KeptReport(*about))
        return found

    def kept_report(self, key: str) -> tuple[KeptReport, str]:
        """Return a report and its page.

        Raises ValueError when it was deleted, or is not as it was written.
        """
        folder = self._folder(key)
        if folder not in self._files.listed("reports"):
            raise ValueError("There is no such snapshot; it was deleted.")
        page = self._files.intact(folder / _PAGE)
        return self._facts(folder), page.read_text()

    def delete_report(self, key: str) -> None:
        """Delete a report; nothing when there is none."""
        with self._files.removing([self._folder(key)]):
            pass

    def _facts(self, folder: Path) -> KeptReport:
        text = self._files.intact(folder / _FACTS).read_text()
        return KeptReport(**json.loads(text))

    def _folder(self, key: str) -> Path:
        return self._home / key[:2] / key
