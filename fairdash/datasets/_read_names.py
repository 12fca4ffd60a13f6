"""Names of columns: none empty, none twice but for copies of the same values."""

from typing import Any


def unique_names(header: list[str]) -> list[str]:
    """Return a name for every column: ``Unnamed: 0``, ``age``, ``age.1``."""
    names: list[str] = []
    taken = set(header)
    for position, name in enumerate(header):
        name = name or f"Unnamed: {position}"
        unique, copies = name, 0
        while unique in names or (copies and unique in taken):
            copies += 1
            unique = f"{name}.{copies}"
        names.append(unique)
    return names


class Copies:
    """Columns of one name, which must hold the same values.

    Parameters
    ----------
    header : list of str
        Of the file, with repeated names.
    file : str
        What messages call it.
    """

    def __init__(self, header: list[str], file: str) -> None:
        self._header, self._file = header, file
        self._pairs = [
            (header.index(name), position)
            for position, name in enumerate(header)
            if name and header.index(name) < position
        ]
        self._different: set[tuple[int, int]] = set()

    def compare(self, batch: Any) -> Any:
        """Look at the next rows and return them."""
        for one, two in self._pairs:
            if not batch.column(one).equals(batch.column(two)):
                self._different.add((one, two))
        return batch

    def check(self) -> None:
        """Raise ValueError when two columns of one name were different."""
        for one, two in sorted(self._different):
            raise ValueError(
                f"{self._file} has two different columns named {self._header[one]!r}, "
                f"at positions {one + 1} and {two + 1}; rename one of them."
            )
