"""Layouts of widely used public tables, recognised by the names of their columns."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from fairdash.datasets._remedy import Remedy
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
        """Return whether a table with these columns has this layout."""
        needed = (*self.columns, self.outcome)
        return all(self.first(pattern, names) is not None for pattern in needed)

    @staticmethod
    def first(pattern: str | None, names: Iterable[str]) -> str | None:
        """Return the first of some names that matches a pattern, in any case."""
        if pattern is None:
            return None
        for name in names:
            if fnmatchcase(name.lower(), pattern):
                return name
        return None

    def target(self, names: Sequence[str]) -> str:
        """Return the outcome of a table that fits."""
        return str(self.first(self.outcome, names))

    def group_column(self, names: Sequence[str]) -> str | None:
        """Return the first sensitive column that is there."""
        for pattern in self.sensitive:
            name = self.first(pattern, names)
            if name:
                return name
        return None

    def is_consequence(self, name: str) -> bool:
        """Return whether a column is known only after the decision."""
        lower = name.lower()
        return any(fnmatchcase(lower, pattern) for pattern in self.consequences)

    def missing_in(self, frame: pd.DataFrame) -> Iterator[Remedy]:
        """Yield the steps that make its codes missing, where a column has them."""
        for name in map(str, frame):
            codes = self._missing_codes(name)
            if not codes or is_number(frame[name]):
                continue
            _, labels = label_codes(frame[name])
            present = tuple(code for code in codes if code in labels)
            if present:
                yield Remedy(kind="missing", column=name, values=present)

    def _missing_codes(self, name: str) -> tuple[str, ...]:
        """Return the codes that stand for no value in a column; none if unlisted."""
        for pattern, codes in self.missing.items():
            if fnmatchcase(name.lower(), pattern):
                return codes
        return ()

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
        groups = {
            name: values
            for name, values in self.groups.items()
            if set(values) <= set(labels)
        }
        return groups if len(groups) > 1 else None


@lru_cache(maxsize=1)
def layouts() -> tuple[Layout, ...]:
    """Return all layouts that are known."""
    content = tomllib.loads(_FILE.read_text("utf-8"))
    return tuple(_layout(name, fields) for name, fields in content.items())


def _layout(name: str, fields: dict[str, Any]) -> Layout:
    """Return a layout of the file; its lists become tuples, which nobody changes."""
    arguments: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            value = {label: tuple(values) for label, values in value.items()}
        elif isinstance(value, list):
            value = tuple(value)
        arguments[key] = value
    return Layout(name=name, **arguments)


def layout_of(frame: pd.DataFrame) -> Layout | None:
    """Return the layout of a table by the names of its columns, None for another."""
    names = [str(name) for name in frame]
    for layout in layouts():
        if layout.fits(names) and layout.group_column(names) is not None:
            return layout
    return None
