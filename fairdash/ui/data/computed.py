"""Tables and guesses that are computed once and kept in memory, by digest of the file.

Streamlit leaves arguments that begin with an underscore out of the key of a cache.
Roles are such arguments: only those parts of them count that change the result.
"""

import pandas as pd
import streamlit as st

from fairdash.datasets import (
    Cut,
    Roles,
    check_table,
    column_kinds,
    guessing,
    remedies,
)
from fairdash.ui.widgets.state import store

_TABLES = 4  # of each kind kept in memory
_STEPS = {"preparation", "types"}  # of the roles: what changes the table


def prepared_table(digest: str, roles: Roles) -> pd.DataFrame:
    """Return a table after the changes its roles ask for.

    Raises ValueError if a change does not fit the table.
    """
    if not roles.preparation and not roles.types:
        return store().table(digest)
    # Shallow, so that a caller who adds a column does not change the table of others.
    return _prepared(digest, _steps(roles), roles).copy(deep=False)


def _steps(roles: Roles) -> str:
    """Return the part of a cache's key that stands for the changes of a table."""
    return roles.model_dump_json(include=_STEPS)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _prepared(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return remedies.prepare(store().table(digest), _roles)


def few_valued(digest: str, roles: Roles, most: int) -> list[str]:
    """Return the columns of a prepared table that have few values."""
    return _few_valued(digest, _steps(roles), most, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _few_valued(digest: str, steps: str, most: int, _roles: Roles) -> list[str]:
    frame = prepared_table(digest, _roles)
    return [
        str(name)
        for name in frame
        if column_kinds.count_values(frame[name], most) <= most
    ]


def file_of(digest: str) -> str:
    """Return the name that a table's file has now."""
    names = {table.sha256: table.name for table in store().tables()}
    return names.get(digest, "")


@st.cache_resource(max_entries=8, show_spinner="Guessing roles…")
def guess_of(digest: str, file: str) -> guessing.RoleGuess | str:
    """Return the guess for a table with its runners-up, or why there is none."""
    try:
        return guessing.rank_roles(store().table(digest), file)
    except ValueError as error:
        return str(error)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def zero_one_columns(digest: str) -> list[str]:
    """Return the columns of a table that hold yes and no."""
    return guessing.zero_one_columns(store().table(digest))


@st.cache_resource(max_entries=_TABLES, show_spinner="Checking…")
def checks_of(
    digest: str, roles: str, columns: tuple[str, ...], _roles: Roles
) -> pd.DataFrame:
    """Return what `fairdash.datasets.check_table` finds."""
    return check_table(store().table(digest), _roles)


def guessed_features(
    digest: str,
    roles: Roles,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the features guessed for an outcome, and why other columns are none."""
    return _features(digest, _steps(roles), target, positive, sensitive, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner="Guessing features…")
def _features(
    digest: str,
    steps: str,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
    _roles: Roles,
) -> tuple[tuple[str, ...], dict[str, str]]:
    frame = prepared_table(digest, _roles)
    features, reasons = guessing.guess_features(frame, target, positive, sensitive)
    return tuple(features), reasons
