"""A first guess of what columns mean, for the analyst to correct."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets.choices import separator_of
from fairdash.datasets.column_kinds import (
    ColumnKind,
    count_values,
    is_nested,
    range_labels,
    words,
)
from fairdash.datasets.guessing.counts import named_count
from fairdash.datasets.guessing.features import guess_features
from fairdash.datasets.guessing.groups import MANY_VALUES, guess_groups
from fairdash.datasets.guessing.layouts import Layout, layout_of
from fairdash.datasets.guessing.positive import guess_positive
from fairdash.datasets.guessing.ranking import RUNNERS_UP, Candidate, rank_columns
from fairdash.datasets.guessing.scores import guess_scores
from fairdash.datasets.guessing.subgroup_columns import (
    guess_subgroup_columns,
    subgroups_of_cells,
)
from fairdash.datasets.guessing.units import guess_unit
from fairdash.datasets.guessing.wide import looked_at
from fairdash.datasets.guessing.words import guess_meaning
from fairdash.datasets.remedies import apply_steps

_CONSEQUENCE = "known only after the decision"


@dataclass(frozen=True)
class RoleGuess:
    """Guessed roles, and what else outcome and sensitive feature could be.

    ``roles`` are with the first of each: the column chosen; then come at most two
    runners-up. ``layout`` is the public layout that the table has, if any.
    """

    roles: Roles
    outcomes: tuple[Candidate, ...]
    sensitive: tuple[Candidate, ...]
    layout: str = ""


def rank_roles(frame: pd.DataFrame, file_name: str = "") -> RoleGuess:
    """Guess the roles of a table, with the runners-up.

    The name of its file says more: ``churn.csv`` is about a column such as "Churned".
    In a wide table only the columns that `looked_at` returns are read.
    """
    frame = frame[looked_at(frame)]
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    layout = layout_of(frame)
    if layout is not None:
        return _rank_in_layout(frame, layout, file_name)
    outcomes, sensitive = rank_columns(frame, file_name)
    roles = guess_rest(frame, outcomes[0].column, sensitive[0].column)
    return RoleGuess(roles, outcomes, sensitive)


def _rank_in_layout(frame: pd.DataFrame, layout: Layout, file_name: str) -> RoleGuess:
    """Guess the roles of a table with a public layout; see `rank_roles`."""
    consequences = [name for name in frame if layout.is_consequence(str(name))]
    frame = frame.drop(columns=consequences)
    outcomes, sensitive = rank_columns(frame, file_name)
    names = list(map(str, frame))
    target = layout.target(names)
    group = str(layout.group_column(names))
    count = layout.first(layout.count, names)
    roles = guess_rest(frame, target, group, count)
    return RoleGuess(
        roles=_with_layout(roles, layout, frame, consequences),
        outcomes=_led_by(outcomes, target),
        sensitive=_led_by(sensitive, group),
        layout=layout.name,
    )


def _led_by(candidates: tuple[Candidate, ...], column: str) -> tuple[Candidate, ...]:
    """Return candidates with a column first, which takes the score of the best."""
    peers = [candidate for candidate in candidates if candidate.column != column]
    return (Candidate(column, candidates[0].score), *peers[:RUNNERS_UP])


def _with_layout(
    roles: Roles, layout: Layout, frame: pd.DataFrame, consequences: Sequence[Any]
) -> Roles:
    """Return guessed roles with what a layout says, where the values allow it."""
    names = list(map(str, frame))
    weight = layout.first(layout.weight, names)
    unit = layout.first(layout.unit, names)
    count = layout.first(layout.count, names)
    # A row that stands for several people has no unit, unless the layout names one.
    guessed_unit = None if weight or count else roles.unit
    left_out = roles.left_out | dict.fromkeys(map(str, consequences), _CONSEQUENCE)
    changes: dict[str, Any] = {
        "left_out": left_out,
        "sample_weight": weight,
        "count": count or roles.count,
        "unit": unit or guessed_unit,
    }
    sides = layout.sides(frame[roles.target])
    if sides is not None:
        positive, negative = sides
        # A single value stands alone where all others count as 0.
        is_single = len(positive) == 1 and not negative
        changes["positive"] = positive[0] if is_single else positive
        changes["negative"] = negative
        changes["positive_name"] = layout.positive_name
        changes["positive_is"] = layout.positive_is
    groups = layout.groups_in(frame[roles.sensitive_feature])
    if groups is not None:
        changes["groups"] = groups
    used = [roles.sensitive_feature, *roles.features, *roles.subgroup_columns]
    distinct = list(dict.fromkeys(used))
    steps = layout.missing_in(frame[distinct])
    changes["preparation"] = (*roles.preparation, *steps)
    taken = {weight, unit, count}
    for field in ("features", "subgroup_columns"):
        columns = getattr(roles, field)
        changes[field] = tuple(name for name in columns if name not in taken)
    return Roles.model_validate({**vars(roles), **changes})


def guess_roles(frame: pd.DataFrame, file_name: str = "") -> Roles:
    """Guess outcome, sensitive feature, features and subgroup columns.

    See `rank_columns`, `guess_positive`, `guess_groups` and `guess_features`. A column
    of True and False whose name says filter becomes a row filter, and an identifier
    that repeats the unit. Raises ValueError if no column can be the outcome, or no
    second one the sensitive feature.
    """
    return rank_roles(frame, file_name).roles


def guess_rest(
    frame: pd.DataFrame, target: str, sensitive: str, count: str | None = None
) -> Roles:
    """Guess all but the outcome and the sensitive feature, which are known.

    ``count`` is the column that says how many people a row is, if that is known too.
    """
    named = (target, sensitive)
    frame = frame[looked_at(frame, *named)]
    usable = [name for name in frame if name in named or not is_nested(frame[name])]
    frame = frame[usable]
    steps = _choice_steps(frame[sensitive])
    frame = apply_steps(frame, steps, {})
    positive = guess_positive(frame[target])
    positive_name, positive_is = guess_meaning(target, positive)
    features, left_out = guess_features(frame, target, positive, sensitive)
    scores = guess_scores(frame, (*named, *features), target, positive)
    groups, cuts = guess_groups(frame[sensitive], second=bool(scores))
    people = count or named_count(frame, named)
    if people is None:
        subgroup_columns = guess_subgroup_columns(frame, features)
        score_columns = {score.column for score in scores}
        unused = [name for name in left_out if name not in score_columns]
        unit = guess_unit(frame, unused, sensitive)
    else:
        # Each cell is one row, so that counts of rows say nothing about groups.
        groups = None
        scores = ()
        unit = None
        features = [name for name in features if name != people]
        subgroup_columns = subgroups_of_cells(frame[features], frame[people])
    return Roles(
        target=target,
        positive=positive,
        sensitive_feature=sensitive,
        groups=groups,
        sensitive_cuts=cuts,
        features=tuple(features),
        subgroup_columns=subgroup_columns,
        scores=scores,
        count=people,
        unit=unit,
        keep=_guess_filters(frame),
        preparation=steps,
        types=_guess_ranges(frame, (sensitive, *features, *subgroup_columns)),
        positive_name=positive_name,
        positive_is=positive_is,
        test_rows="shared",
        guessed=True,
    )


def _guess_filters(frame: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """Return the rows to keep: those with 1 in a column that says filter."""
    return {
        str(name): ("1",)
        for name in frame.columns
        if pd.api.types.is_bool_dtype(frame[name]) and "filter" in words(str(name))
    }


def _choice_steps(column: "pd.Series[Any]") -> tuple[Remedy, ...]:
    """Return the step that makes groups of a multiple choice, such as White;Asian."""
    if count_values(column, MANY_VALUES) <= 2:
        return ()
    separator = separator_of(column)
    if separator is None:
        return ()
    name = str(column.name)
    return (Remedy(kind="single_choice", column=name, separator=separator),)


def _guess_ranges(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, ColumnKind]:
    """Return the columns that are read as ranges, such as 25-34 or 65+."""
    return {name: "range" for name in names if range_labels(frame[name]) is not None}
