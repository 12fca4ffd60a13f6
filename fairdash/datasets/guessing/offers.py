"""What further columns of a table may mean, offered beside the guessed roles."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from fairdash.datasets._roles import Roles
from fairdash.datasets.column_kinds import is_number
from fairdash.datasets.guessing.counts import guess_count
from fairdash.datasets.guessing.scores import guess_scores
from fairdash.datasets.guessing.several import one_hot_sets, with_groups_of
from fairdash.datasets.guessing.units import guess_unit
from fairdash.datasets.guessing.weights import is_weight
from fairdash.datasets.guessing.wide import looked_at


def more_roles(frame: pd.DataFrame, roles: Roles) -> dict[str, Roles]:
    """Return roles that names of further columns suggest, by what they would say.

    Groups in several 0/1 columns, a sampling weight, an identifier that repeats, a
    column of a model's scores.
    """
    if roles.count is not None:
        return {}
    derived = {remedy.column for remedy in roles.preparation if remedy.columns}
    taken = {roles.target, roles.sensitive_feature, *roles.crossed_with} - derived
    frame = frame[looked_at(frame, *taken)]
    free = [name for name in map(str, frame.columns) if name not in taken]
    offers = _offered_groups(frame, roles)

    def offer(text: str, column: str, **role: Any) -> None:
        features = tuple(name for name in roles.features if name != column)
        offers[text] = roles.model_copy(update={**role, "features": features})

    if roles.sample_weight is None:
        weight = _first_weight(frame, free)
        if weight is not None:
            offer(f"Weight rows by {weight}", weight, sample_weight=weight)
        people = guess_count(frame, free)
        if people is not None:
            offer(f"A row is {people} people", people, count=people)
    if roles.unit is None:
        unit = guess_unit(frame, free, roles.sensitive_feature)
        if unit is not None:
            offer(f"Rows share one {unit}", unit, unit=unit)
    if not roles.scores:
        scores = guess_scores(frame, taken, roles.target, roles.positive)
        for score in scores[:1]:
            text = f"{score.column} is a model's score"
            offer(text, score.column, scores=(score,))
    return offers


def _first_weight(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Return the first of some columns that weighs rows."""
    for name in names:
        if is_weight(frame, name) and is_number(frame[name]):
            return name
    return None


def _offered_groups(frame: pd.DataFrame, roles: Roles) -> dict[str, Roles]:
    """Return roles with groups from several 0/1 columns, where none were made yet."""
    prepared = {remedy.columns for remedy in roles.preparation}
    return {
        f"Groups from {', '.join(remedy.columns)}": with_groups_of(roles, remedy)
        for remedy in one_hot_sets(frame)
        if remedy.columns not in prepared and roles.target not in remedy.columns
    }
