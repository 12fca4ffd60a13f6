"""What is computed of a table once, by its digest."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash.datasets import (
    Cut,
    RoleGuess,
    Roles,
    check_table,
    column_facts,
    count_values,
    guess_features,
    left_out_reasons,
    prepare,
    rank_roles,
)
from fairdash.ui.widgets.state import store

_TABLES = 4  # of each kind kept in memory
_STEPS = {"preparation", "types"}
_LEFT_OUT = {"target", "positive", "sensitive_feature", *_STEPS}


def prepared_table(digest: str, roles: Roles) -> pd.DataFrame:
    """Return a table after the changes its roles ask for.

    Raises ValueError if a change does not fit the table.
    """
    if not roles.preparation and not roles.types:
        return store().table(digest)
    return _prepared(digest, _steps(roles), roles).copy(deep=False)


def _steps(roles: Roles) -> str:
    return roles.model_dump_json(include=_STEPS)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _prepared(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return prepare(store().table(digest), _roles)


def file_of(digest: str) -> str:
    """Return the name that a table's file has now."""
    names = {table.sha256: table.name for table in store().tables()}
    return names.get(digest, "")


@st.cache_resource(max_entries=8, show_spinner="Guessing roles…")
def guess_of(digest: str, file: str) -> RoleGuess | str:
    """Return the guess for a table with its runners-up, or why there is none."""
    try:
        return rank_roles(store().table(digest), file)
    except ValueError as error:
        return str(error)


@st.cache_resource(max_entries=_TABLES, show_spinner="Checking…")
def checks_of(
    digest: str, roles: str, columns: tuple[str, ...], _roles: Roles
) -> pd.DataFrame:
    """Return what `fairdash.datasets.check_table` finds."""
    return check_table(store().table(digest), _roles)


def facts_of(digest: str, roles: Roles) -> pd.DataFrame:
    """Return what cells of each column hold; ValueError if a change does not fit."""
    return _facts(digest, _steps(roles), roles)


@st.cache_resource(max_entries=_TABLES, show_spinner="Looking at columns…")
def _facts(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return column_facts(prepared_table(digest, _roles), _roles)


def unused_columns(digest: str, roles: Roles) -> dict[str, str]:
    """Return why each column without a role is excluded."""
    text = roles.model_dump_json(include=_LEFT_OUT)
    used = {roles.target, *roles.sensitive_columns(), *roles.features}
    used |= {score.column for score in roles.scores}
    reasons = _reasons(digest, text, roles) | roles.left_out
    return {name: why for name, why in reasons.items() if name not in used}


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _reasons(digest: str, roles: str, _roles: Roles) -> dict[str, str]:
    """Return why each column would be excluded, whatever was chosen."""
    free: dict[str, Any] = {"features": (), "crossed_with": (), "left_out": {}}
    return left_out_reasons(
        prepared_table(digest, _roles), _roles.model_copy(update=free)
    )


def proposed_features(
    digest: str,
    roles: Roles,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
) -> tuple[str, ...]:
    """Return the features, guessed anew under another outcome or sensitive column."""
    if (target, sensitive) == (roles.target, roles.sensitive_feature):
        return roles.features
    return _proposed(digest, _steps(roles), target, positive, sensitive, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner="Guessing features…")
def _proposed(
    digest: str,
    steps: str,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive: str,
    _roles: Roles,
) -> tuple[str, ...]:
    frame = prepared_table(digest, _roles)
    return tuple(guess_features(frame, target, positive, sensitive)[0])


def few_valued(digest: str, roles: Roles, most: int) -> list[str]:
    """Return the columns of a prepared table that have at most so many values."""
    return _few(digest, _steps(roles), most, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _few(digest: str, steps: str, most: int, _roles: Roles) -> list[str]:
    frame = prepared_table(digest, _roles)
    return [str(x) for x in frame if count_values(frame[x], most) <= most]
