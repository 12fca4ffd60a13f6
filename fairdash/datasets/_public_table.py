"""What is known of a public table: its file, its roles and the filters of papers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fairdash.datasets._roles import Roles


def every_row(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as it is."""
    return table


@dataclass(frozen=True)
class Variant:
    """Rows of a public table that a paper uses.

    Attributes
    ----------
    rows : str
        Which rows these are, in words.
    n_rows : int
    keep : callable
        Takes the table and returns these rows of it.
    """

    rows: str
    n_rows: int
    keep: Callable[[pd.DataFrame], pd.DataFrame] = every_row


@dataclass(frozen=True)
class PublicTable:
    """A table at its publisher, and the ways papers filter it.

    Attributes
    ----------
    title, url, file : str
        The file at ``url`` is kept under the name ``file``.
    roles : Roles
    read : callable
        Takes the path of the file and returns the table before any filter.
    variants : mapping of str to Variant
        Filters by name; the first is the default.
    note : str
        What the reader must know: licence, outcome, what was left out.
    sha256 : str
        Of the file, where it is known.
    content : str
        `content_digest` of the table that ``read`` returns, where the file's sha256 is
        not known.
    """

    title: str
    url: str
    file: str
    roles: Roles
    read: Callable[[Path], pd.DataFrame]
    variants: Mapping[str, Variant]
    note: str
    sha256: str = ""
    content: str = ""
