"""The public tables: where they come from, how they are filtered, what columns mean."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fairdash.datasets._roles import Roles
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets.reading.format import TableFormat
from fairdash.datasets.reading.read import read_table

TABLES = tomllib.loads(Path(__file__).with_name("public.toml").read_text("utf-8"))
PERSONAL = ["name", "first", "last", "dob", "c_case_number", "r_case_number"]


@dataclass(frozen=True)
class Variant:
    """Rows of a public table that a paper uses.

    ``rows`` says which; ``keep`` takes the table and returns these rows of it.
    """

    rows: str
    n_rows: int
    keep: Callable[[pd.DataFrame], pd.DataFrame] = pd.DataFrame.copy


@dataclass(frozen=True)
class PublicTable:
    """A table at its publisher, and the ways papers filter it.

    Attributes
    ----------
    title, url, file : str
        The file at ``url`` is kept under the name ``file``.
    read : callable
        Takes the path of the file and returns the table before any filter.
    variants : mapping of str to Variant
        Filters by name; the first is the default.
    note : str
        Facts to know before use: licence, outcome, rows that were excluded.
    sha256 : str
        Digest of the file, where it is known.
    content : str
        `content_digest` of the whole numbers that ``read`` returns, where the file's
        sha256 is not known.
    age_bins : Subgroups, optional
        The subgroups of the ROAD paper, where it has results on the table.
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
    age_bins: Subgroups | None = None

    @property
    def subgroups(self) -> Subgroups:
        """Return the subgroups of the paper, or those that the roles describe."""
        return self.age_bins or Subgroups(columns=self.roles.subgroup_columns)


def read_adult(path: Path) -> pd.DataFrame:
    """Return both parts of Adult under one another, with the names of UCI."""
    plain = TableFormat(header=False, spaces=True)
    test = TableFormat(header=False, spaces=True, skipped=1)
    parts = [
        read_table(path, sheet="adult.data", table_format=plain),
        read_table(path, sheet="adult.test", table_format=test),
    ]
    table = _named(pd.concat(parts, ignore_index=True), "adult", path)
    # labels of the test part end in a point
    return table.assign(income=table["income"].str.rstrip("."))


def read_german(path: Path) -> pd.DataFrame:
    """Return German credit with names, and sex as personal_status tells it."""
    plain = TableFormat(delimiter=" ", spaces=True, header=False)
    table = _named(read_table(path, table_format=plain), "german", path)
    women = table["personal_status"].isin(["A92", "A95"])
    return table.assign(sex=women.map({True: "female", False: "male"}))


def read_compas(path: Path) -> pd.DataFrame:
    """Return the COMPAS records without names and case numbers."""
    # decile_score and priors_count come twice in the file, with the same values
    table = read_table(path)
    return table.drop(columns=[name for name in PERSONAL if name in table])


def read_credit(path: Path) -> pd.DataFrame:
    """Return the clients with names for X1 to X23 and Y, all as whole numbers."""
    table = _named(read_table(path), "credit", path)
    numbers = table.apply(pd.to_numeric, errors="coerce")
    if not (numbers % 1 == 0).all(axis=None):
        raise ValueError(f"{path.name} has a cell that is no whole number.")
    return numbers.astype("int64")


def propublica(table: pd.DataFrame) -> pd.DataFrame:
    """Return the COMPAS rows of ProPublica's analysis."""
    screened = table["days_b_screening_arrest"].between(-30, 30)
    scored = (table["is_recid"] != -1) & (table["score_text"] != "N/A")
    used = screened & scored & (table["c_charge_degree"] != "O")
    return table[used & table["score_text"].notna()]


def propublica_with_charge(table: pd.DataFrame) -> pd.DataFrame:
    """Return those of `propublica` whose charge is described."""
    return propublica(table).dropna(subset=["c_charge_desc"])


def _named(table: pd.DataFrame, name: str, path: Path) -> pd.DataFrame:
    names = TABLES[name]["columns"]
    if table.shape[1] != len(names):
        message = f"{path.name} has {table.shape[1]} columns where {len(names)}"
        raise ValueError(f"{message} were expected: it is another table.")
    return table.set_axis(names, axis=1)


READERS = {
    "adult": read_adult,
    "compas": read_compas,
    "german": read_german,
    "credit": read_credit,
}
FILTERS: dict[tuple[str, str], Callable[[pd.DataFrame], pd.DataFrame]] = {
    ("adult", "complete"): pd.DataFrame.dropna,
    ("compas", "road"): propublica_with_charge,
    ("compas", "propublica"): propublica,
}


def _table(name: str, facts: dict[str, Any]) -> PublicTable:
    bins = facts.get("age_bins")
    variants = {}
    for variant, rows in facts["variants"].items():
        keep = FILTERS.get((name, variant), pd.DataFrame.copy)
        variants[variant] = Variant(**rows, keep=keep)
    return PublicTable(
        title=facts["title"],
        url=facts["url"],
        file=facts["file"],
        roles=Roles.model_validate(facts["roles"]),
        read=READERS.get(name, read_table),
        variants=variants,
        note=facts["note"],
        sha256=facts.get("sha256", ""),
        content=facts.get("content", ""),
        age_bins=None if bins is None else Subgroups.model_validate(bins),
    )


PUBLIC = {name: _table(name, facts) for name, facts in TABLES.items()}
