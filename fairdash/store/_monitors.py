"""What monitors have seen, a file each."""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fairdash.store._disk import write_file

FOLDER = "monitors"


class MonitorStore:
    """Texts by name, in the home folder; a name is never a path."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def keep_monitor(self, name: str, text: str) -> None:
        """Keep the text of a monitor, in place of the one before."""
        write_file(self._path(name), text)

    def monitor(self, name: str) -> str:
        """Return the text of a monitor; ValueError if there is none."""
        try:
            return self._path(name).read_text()
        except FileNotFoundError:
            raise ValueError(
                f"There is no monitor {name!r}; see `fairdash monitor list`."
            ) from None

    def monitors(self) -> list[str]:
        """Return the texts of all monitors, in no order of meaning."""
        return [path.read_text() for path in sorted(self._folder.glob("*.json"))]

    def delete_monitor(self, name: str) -> None:
        """Delete a monitor with what it has seen; ValueError if there is none."""
        self.monitor(name)
        with suppress(FileNotFoundError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{sha256(name.encode()).hexdigest()[:32]}.json"
