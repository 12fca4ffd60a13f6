"""Widely used public layouts: what their columns mean, recognised by several names."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from fairdash.datasets._roles import Remedy
from fairdash.datasets.column_kinds import is_number, label_codes

_FILE = Path(__file__).with_name("layouts.toml")


@dataclass(frozen=True)
class Layout:
    """The roles of a public layout; names are in lower case, and may hold stars.

    Attributes
    ----------
    columns : tuple of str
        All of which a table of this layout has.
    consequences : tuple of str
        Columns that are known only after the decision.
    missing : dict of str to tuple of str
        Codes that stand for no value, by column.
    """

    name: str
    columns: tuple[str, ...]
    outcome: str
    sensitive: tuple[str, ...]
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    positive_name: str = ""
    positive_is: Literal["favourable", "unfavourable"] | None = None
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    consequences: tuple[str, ...] = ()
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    weight: str | None = None
    unit: str | None = None
    count: str | None = None

    def fits(self, names: Sequence[str]) -> bool:
        """Tell whether a table with these columns has this layout."""
        needed = (*self.columns, self.outcome)
        return all(self.first(pattern, names) is not None for pattern in needed)

    @staticmethod
    def first(pattern: str | None, names: Iterable[str]) -> str | None:
        """Return the first of some names that a pattern is of, in any case."""
        if pattern is None:
            return None
        return next((n for n in names if fnmatchcase(n.lower(), pattern)), None)

    def target(self, names: Sequence[str]) -> str:
        """Return the outcome of a table that fits."""
        return str(self.first(self.outcome, names))

    def group_column(self, names: Sequence[str]) -> str | None:
        """Return the first sensitive column that is there."""
        found = (self.first(pattern, names) for pattern in self.sensitive)
        return next(filter(None, found), None)

    def is_consequence(self, name: str) -> bool:
        """Tell whether a column is known only after the decision."""
        return any(fnmatchcase(name.lower(), part) for part in self.consequences)

    def missing_in(self, frame: pd.DataFrame) -> Iterator[Remedy]:
        """Yield the steps that make its codes missing, where a column has them."""
        for name in map(str, frame):
            low = name.lower()
            listed = (x for part, x in self.missing.items() if fnmatchcase(low, part))
            codes = next(listed, ())
            if not codes or is_number(frame[name]):
                continue
            _, labels = label_codes(frame[name])
            present = tuple(code for code in codes if code in labels)
            if present:
                yield Remedy(kind="missing", column=name, values=present)

    def sides(
        self, column: "pd.Series[Any]"
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the positive and negative values that an outcome has.

        None where the layout names none, or the column lacks either side.
        """
        _, labels = label_codes(column)
        positive = tuple(value for value in self.positive if value in labels)
        negative = tuple(value for value in self.negative if value in labels)
        if not positive or (self.negative and not negative):
            return None
        return positive, negative

    def groups_in(self, column: "pd.Series[Any]") -> dict[str, tuple[str, ...]] | None:
        """Return the groups of the layout that a column has, None of fewer than two."""
        _, labels = label_codes(column)
        groups = {n: v for n, v in self.groups.items() if set(v) <= set(labels)}
        return groups if len(groups) > 1 else None


@lru_cache(maxsize=1)
def layouts() -> tuple[Layout, ...]:
    """Return all layouts that are known."""
    content = tomllib.loads(_FILE.read_text("utf-8"))
    return tuple(_layout(name, fields) for name, fields in content.items())


def _layout(name: str, fields: dict[str, Any]) -> Layout:
    tables = ("groups", "missing")
    by_name: dict[str, Any] = {
        table: {n: tuple(values) for n, values in fields.pop(table, {}).items()}
        for table in tables
    }
    listed: Any = {n: tuple(v) if isinstance(v, list) else v for n, v in fields.items()}
    return Layout(name=name, **by_name, **listed)


def layout_of(frame: pd.DataFrame) -> Layout | None:
    """Return the layout of a table by the names of its columns, None of another."""
    names = [str(name) for name in frame]
    fitting = (layout for layout in layouts() if layout.fits(names))
    return next((x for x in fitting if x.group_column(names) is not None), None)
