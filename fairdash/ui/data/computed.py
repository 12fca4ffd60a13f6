"""Tables and guesses that are computed once and kept in memory, by digest of the file.

Streamlit leaves arguments that begin with an underscore out of the key of a cache.
Roles are such arguments: only those parts of them count that change the result.
"""

import pandas as pd
import streamlit as st

from fairdash.datasets import (
    Cut,
    Roles,
    WideCounts,
    check_table,
    find_wide_counts,
    guessing,
    overviews,
    remedies,
)
from fairdash.ui.widgets.state import store

_TABLES = 4  # of each kind kept in memory


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
    return roles.model_dump_json(include=overviews.STEPS)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _prepared(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return remedies.prepare(store().table(digest), _roles)


def few_valued(digest: str, roles: Roles) -> tuple[str, ...]:
    """Return the columns of a prepared table that have few values."""
    overview = kept_overview(digest)
    if overview is not None and overview.is_prepared_as(roles):
        return overview.few_valued
    return _few_valued(digest, _steps(roles), roles)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _few_valued(digest: str, steps: str, _roles: Roles) -> tuple[str, ...]:
    return overviews.few_valued_columns(prepared_table(digest, _roles))


def file_of(digest: str) -> str:
    """Return the name that a table's file has now."""
    names = {table.sha256: table.name for table in store().tables()}
    return names.get(digest, "")


@st.cache_resource(max_entries=8, show_spinner="Guessing roles…")
def guess_of(digest: str, file: str) -> guessing.RoleGuess | str:
    """Return the guess for a table with its runners-up, or why there is none."""
    return store().overview(digest, isolated=True).guess


def kept_overview(digest: str) -> overviews.Overview | None:
    """Return what was computed with the guess for a table, None where none was made."""
    if not store().has_overview(digest):
        return None
    return store().overview(digest, isolated=True)


def zero_one_columns(digest: str) -> tuple[str, ...]:
    """Return the columns of a table that hold yes and no."""
    overview = kept_overview(digest)
    return _zero_one_columns(digest) if overview is None else overview.zero_one


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _zero_one_columns(digest: str) -> tuple[str, ...]:
    return tuple(guessing.zero_one_columns(store().table(digest)))


def wide_counts(digest: str) -> WideCounts | None:
    """Return the counts of groups that stand in columns, None where none do."""
    overview = kept_overview(digest)
    if overview is not None and not overview.has_wide_counts:
        return None
    return _wide_counts(digest)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _wide_counts(digest: str) -> WideCounts | None:
    return find_wide_counts(store().table(digest))


def offered_roles(digest: str, roles: Roles) -> dict[str, Roles]:
    """Return what `fairdash.datasets.guessing.more_roles` offers beside roles."""
    overview = kept_overview(digest)
    if overview is not None:
        offers = overview.offers_beside(roles)
        if offers is not None:
            return offers
    return _offered_roles(digest, roles.model_dump_json(), roles)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _offered_roles(digest: str, roles: str, _roles: Roles) -> dict[str, Roles]:
    return guessing.more_roles(store().table(digest), _roles)


def checks_of(digest: str, roles: Roles) -> pd.DataFrame:
    """Return what `fairdash.datasets.check_table` finds."""
    overview = kept_overview(digest)
    if overview is not None and overview.is_checked_as(roles):
        return overview.checks()
    # roles that could only be guessed in part may not pass validation again
    text = roles.model_dump_json(exclude=overviews.UNCHECKED)
    return _checks(digest, text, roles.columns(), roles).copy(deep=False)


@st.cache_resource(max_entries=_TABLES, show_spinner="Checking…")
def _checks(
    digest: str, roles: str, columns: tuple[str, ...], _roles: Roles
) -> pd.DataFrame:
    return check_table(store().table(digest), _roles)


def guessed_features(
    digest: str,
    roles: Roles,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the features guessed for an outcome, and why other columns are none."""
    overview = kept_overview(digest)
    if overview is not None and overview.is_prepared_as(roles):
        features = overview.features_for(target, positive, sensitive)
        if features is not None:
            return features, overview.reasons
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
