"""What is computed of a table once, by its digest: of a wide one apart from pages."""

from collections.abc import Callable
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from fairdash.datasets import (
    MOST_CELLS,
    Cut,
    RoleGuess,
    Roles,
    Subgroups,
    check_table,
    column_facts,
    count_values,
    describe_apart,
    features_after,
    guess_rest,
    left_out_reasons,
    prepare,
    rank_roles,
    takes_long,
)
from fairdash.ui.widgets.state import store

_TABLES = 4  # of each kind kept in memory
_STEPS = {"preparation", "types"}
_GUESSED = {"target", "positive", "sensitive_feature", *_STEPS}

Value = TypeVar("Value")


def _described(
    digest: str, roles: Roles | None, describe: Callable[..., Value], *arguments: Any
) -> Value:
    """Return ``describe(table, *arguments)``, the table as roles prepare it."""
    frame = store().table(digest)
    if takes_long(frame) and frame.size <= MOST_CELLS:
        path = store().table_path(digest)
        return describe_apart(
            path, describe, *arguments, roles=roles, owner=str(store().home)
        )
    prepared = frame if roles is None else prepared_table(digest, roles)
    return describe(prepared, *arguments)


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
        return _described(digest, None, rank_roles, file)
    except ValueError as error:
        return str(error)


def guessed_rest(digest: str, target: str, sensitive: str) -> Roles:
    """Return a guess of the roles beside two columns."""
    return _described(digest, None, guess_rest, target, sensitive)


@st.cache_resource(max_entries=_TABLES, show_spinner="Checking…")
def checks_of(
    digest: str,
    roles: str,
    columns: tuple[str, ...],
    subgroups: Subgroups,
    _roles: Roles,
) -> pd.DataFrame:
    """Return what `fairdash.datasets.check_table` finds."""
    return _described(digest, None, check_table, _roles, subgroups)


def facts_of(digest: str, roles: Roles) -> pd.DataFrame:
    """Return what cells of each column hold; ValueError if a change does not fit."""
    return _facts(digest, _steps(roles), roles)


@st.cache_resource(max_entries=_TABLES, show_spinner="Looking at columns…")
def _facts(digest: str, steps: str, _roles: Roles) -> pd.DataFrame:
    return _described(digest, _roles, column_facts, _roles)


def _guessed(roles: Roles) -> str:
    return roles.model_dump_json(include=_GUESSED)


def unused_columns(digest: str, roles: Roles) -> dict[str, str]:
    """Return why each column without a role is excluded."""
    text = _guessed(roles)
    used = {roles.target, *roles.sensitive_columns(), *roles.features}
    used |= {score.column for score in roles.scores}
    reasons = _reasons(digest, text, roles) | roles.left_out
    return {name: why for name, why in reasons.items() if name not in used}


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _reasons(digest: str, roles: str, _roles: Roles) -> dict[str, str]:
    """Return why each column would be excluded, whatever was chosen."""
    free: dict[str, Any] = {"features": (), "crossed_with": (), "left_out": {}}
    guess = guess_of(digest, file_of(digest)) if _roles.guessed else ""
    if isinstance(guess, RoleGuess) and _guessed(guess.roles) == roles:
        names = map(str, store().table(digest))
        return {name: guess.left_out.get(name, "") for name in names}
    return _described(digest, _roles, left_out_reasons, _roles.model_copy(update=free))


def proposed_features(
    digest: str,
    roles: Roles,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive_columns: tuple[str, ...],
) -> tuple[str, ...]:
    """Return the features under another outcome or other sensitive columns."""
    if (target, {*sensitive_columns}) == (roles.target, {*roles.sensitive_columns()}):
        return roles.features
    text = roles.model_dump_json(include={*_GUESSED, "features", "crossed_with"})
    return _proposed(digest, text, target, positive, sensitive_columns, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner="Guessing features…")
def _proposed(
    digest: str,
    roles: str,
    target: str,
    positive: str | tuple[str, ...] | Cut,
    sensitive_columns: tuple[str, ...],
    _roles: Roles,
) -> tuple[str, ...]:
    after = _roles, target, positive, sensitive_columns
    return _described(digest, _roles, features_after, *after)


def few_valued(digest: str, roles: Roles, most: int) -> list[str]:
    """Return the columns of a prepared table that have at most so many values."""
    return _few(digest, _steps(roles), most, roles)


@st.cache_resource(max_entries=_TABLES, show_spinner=False)
def _few(digest: str, steps: str, most: int, _roles: Roles) -> list[str]:
    frame = prepared_table(digest, _roles)
    return [str(x) for x in frame if count_values(frame[x], most) <= most]
