"""Searches for subgroups: what was looked at in which rows of a table, and when."""

import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash.store._files import Files

_FACTS, _ROWS = "facts.json", "rows.npy"


@dataclass(frozen=True)
class SearchRecord:
    """A search for subgroups on rows that guarantees are tested on.

    Attributes
    ----------
    created : float
        When it was made first, in seconds since 1970.
    columns : list of str
        Columns searched.
    found : dict of str to list of str
        The columns of every subgroup listed, by its words.
    named : list of dict
        Definitions of subgroups that runs or data sets of the table had by then.
    """

    id: str
    created: float
    measure: str
    columns: list[str]
    found: dict[str, list[str]]
    named: list[dict[str, Any]]


class SearchStore:
    """Searches by table, so that every run and split with some of its rows sees them.

    Each is a folder: complete or absent, and never changed.
    """

    def __init__(self, files: Files) -> None:
        self._files, self._home = files, files.home / "searches"

    def log_search(
        self,
        table: str,
        rows: NDArray[np.bool_],
        *,
        measure: str,
        columns: Sequence[str],
        found: Mapping[str, Sequence[str]],
        named: Callable[[], Sequence[Mapping[str, Any]]],
        created: float | None = None,
    ) -> None:
        """Keep a search; of one that is made again the first stays.

        ``rows``, (n_rows,), tells which rows of the table were searched; the others are
        as in `SearchRecord`, ``named`` asked of a new search alone, ``created`` now
        unless it was made before, elsewhere.
        """
        buffer = io.BytesIO()
        np.save(buffer, np.packbits(rows), allow_pickle=False)
        asked = json.dumps([measure, list(columns), found]).encode()
        key = sha256(asked + buffer.getvalue()).hexdigest()[:16]
        folder = self._home / table / key
        if self._files.exists(folder):
            return
        by_words = {name: list(mine) for name, mine in found.items()}
        told = list(columns), by_words, [*map(dict, named())]
        created = time.time() if created is None else created
        facts = asdict(SearchRecord(key, created, measure, *told))
        files: dict[str, bytes | Path] = {
            _FACTS: json.dumps(facts).encode(),
            _ROWS: buffer.getvalue(),
        }
        self._files.write(folder, files)

    def searches(self, table: str) -> list[SearchRecord]:
        """Return the searches of rows of a table, the first one first."""
        folders = self._files.listed("searches", within=table)
        texts = (self._files.intact(one / _FACTS).read_text() for one in folders)
        found = [SearchRecord(**json.loads(text)) for text in texts]
        return sorted(found, key=lambda one: one.created)

    def searched_rows(self, table: str, key: str, n_rows: int) -> NDArray[np.bool_]:
        """Return which of the ``n_rows`` rows of a table a search looked at."""
        path = self._files.intact(self._home / table / key / _ROWS)
        bits = np.load(path, allow_pickle=False)
        return np.unpackbits(bits, count=n_rows).astype(bool)
