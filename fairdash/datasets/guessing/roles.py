"""A first guess of what columns mean, for the analyst to correct."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._scores import ScoreColumn, ScoreKind
from fairdash.datasets.bins import FEW_VALUES
from fairdash.datasets.choices import separator_of
from fairdash.datasets.column_kinds import (
    ColumnKind,
    all_differ,
    count_codes,
    count_values,
    is_age,
    is_nested,
    is_number,
    is_whole,
    label_codes,
    range_labels,
    words,
)
from fairdash.datasets.guessing.features import guess_features
from fairdash.datasets.guessing.groups import (
    FEWEST_GROUP_ROWS,
    MANY_VALUES,
    MOST_GROUPS,
    guess_groups,
)
from fairdash.datasets.guessing.layouts import Layout, layout_of
from fairdash.datasets.guessing.positive import guess_positive
from fairdash.datasets.guessing.ranking import (
    MOST_CLASSES,
    RUNNERS_UP,
    Candidate,
    rank_columns,
)
from fairdash.datasets.guessing.several import one_hot_sets, with_groups_of
from fairdash.datasets.guessing.weights import is_weight
from fairdash.datasets.guessing.wide import looked_at
from fairdash.datasets.guessing.words import (
    concept,
    guess_meaning,
    is_score,
    listed,
    truths,
)
from fairdash.datasets.remedies import apply_steps

UNIT_WORDS = listed("unit")
FEWEST_UNITS = 20
REPEATED = 0.05  # further rows for each unit
SOME_ROWS = 1_000  # among which most columns tell no people apart
_MOST_GUESSED = 3
_AFTER = "known only after the decision"
COUNT_WORDS = listed("count")
MOST_CELLS = 10_000  # rows of a table of counts
MOST_CELL_VALUES = 200  # of a column of text in it
FULLEST = 4  # at most so many cells for each row


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
        after = [name for name in frame if layout.is_consequence(str(name))]
        frame = frame.drop(columns=after)
    outcomes, sensitive = rank_columns(frame, file_name)
    if layout is None:
        roles = guess_rest(frame, outcomes[0].column, sensitive[0].column)
        return RoleGuess(roles, outcomes, sensitive)
    names = list(map(str, frame))
    target = layout.target(names)
    group = str(layout.group_column(names))
    count = layout.first(layout.count, names)
    rest = guess_rest(frame, target, group, count)
    return RoleGuess(
        roles=_with_layout(rest, layout, frame, after),
        outcomes=_led_by(outcomes, target),
        sensitive=_led_by(sensitive, group),
        layout=layout.name,
    )


def _led_by(candidates: tuple[Candidate, ...], column: str) -> tuple[Candidate, ...]:
    """Return candidates with a column first, which takes the score of the best."""
    peers = [candidate for candidate in candidates if candidate.column != column]
    return (Candidate(column, candidates[0].score), *peers[:RUNNERS_UP])


def _with_layout(
    roles: Roles, layout: Layout, frame: pd.DataFrame, after: Sequence[Any]
) -> Roles:
    """Return guessed roles with what a layout says, where the values allow it."""
    names = list(map(str, frame))
    weight = layout.first(layout.weight, names)
    unit = layout.first(layout.unit, names)
    count = layout.first(layout.count, names)
    # A row that stands for several people has no unit, unless the layout names one.
    guessed_unit = None if weight or count else roles.unit
    changes: dict[str, Any] = {
        "left_out": roles.left_out | dict.fromkeys(map(str, after), _AFTER),
        "sample_weight": weight,
        "count": count or roles.count,
        "unit": unit or guessed_unit,
    }
    sides = layout.sides(frame[roles.target])
    if sides is not None:
        positive, negative = sides
        several = bool(negative) or len(positive) > 1
        changes["positive"] = positive if several else positive[0]
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
    changes["features"] = tuple(name for name in roles.features if name not in taken)
    changes["subgroup_columns"] = tuple(
        name for name in roles.subgroup_columns if name not in taken
    )
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
    frame = frame[
        [name for name in frame if name in named or not is_nested(frame[name])]
    ]
    steps = _choice_steps(frame[sensitive])
    frame = apply_steps(frame, steps, {})
    positive = guess_positive(frame[target])
    features, left_out = guess_features(frame, target, positive, sensitive)
    positive_name, positive_is = guess_meaning(target, positive)
    scores = guess_scores(frame, (*named, *features), target, positive)
    groups, cuts = guess_groups(frame[sensitive], second=bool(scores))
    people = count or _named_count(frame, named)
    unit = None
    if people is None:
        subgroup_columns = _guess_subgroup_columns(frame, features)
        score_columns = {score.column for score in scores}
        unused = [name for name in left_out if name not in score_columns]
        unit = guess_unit(frame, unused, sensitive)
    else:
        # Each cell is one row, so that counts of rows say nothing about groups.
        features = [name for name in features if name != people]
        columns = {name: frame[name] for name in features}
        subgroup_columns = _subgroups_of_cells(columns, frame[people])
        groups = None
        scores = ()
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


def _named_count(frame: pd.DataFrame, named: Collection[str]) -> str | None:
    """Return the column of a table of counts whose name says that it counts people.

    A column that only its values make a count is offered by `more_roles`, not taken.
    """
    free = [name for name in map(str, frame) if name not in named]
    people = guess_count(frame, free)
    if people is None or not words(people) & COUNT_WORDS:
        return None
    return people


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


def _guess_subgroup_columns(
    frame: pd.DataFrame, features: list[str]
) -> tuple[str, ...]:
    """Return age, then one column of sex and one of ethnicity, of large subgroups.

    Without any, a category of few values.
    """
    ages = [name for name in features if is_age(name) and is_number(frame[name])]
    of_few_values = [
        name
        for name in features
        if count_values(frame[name], MOST_GROUPS) <= MOST_GROUPS
    ]
    by_attribute: dict[str, str] = {}
    for name in of_few_values:
        attribute = concept(frame[name])
        if attribute is not None:
            by_attribute.setdefault(attribute, name)
    chosen: list[str] = []
    n_rows = float(len(frame))  # of a subgroup, on average
    for name in (*ages[:1], *by_attribute.values()):
        n_parts = min(frame[name].nunique(), FEW_VALUES)
        if not chosen or n_rows / n_parts >= FEWEST_GROUP_ROWS:
            chosen.append(name)
            n_rows /= n_parts
    if chosen:
        return tuple(chosen)
    categories = [name for name in of_few_values if not is_number(frame[name])]
    most_values_first = sorted(categories, key=lambda name: -frame[name].nunique())
    return tuple(most_values_first[:1])


def _subgroups_of_cells(
    columns: Mapping[str, "pd.Series[Any]"], people: "pd.Series[Any]"
) -> tuple[str, ...]:
    """Return the column that parts the people of a table of counts, if any does.

    It is the first category of few values, each of which holds enough people on
    average, else the first such number; where none does, the one of the fewest values.
    """
    n_values = {name: int(column.nunique()) for name, column in columns.items()}
    most = min(float(people.sum()) / FEWEST_GROUP_ROWS, MANY_VALUES)
    large = [name for name, n in n_values.items() if n <= most]
    if large:
        return (min(large, key=lambda name: is_number(columns[name])),)
    return tuple(sorted(n_values, key=n_values.__getitem__)[:1])


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


def guess_count(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Return the column that says how many people a row of a table of counts is.

    All other columns are categories whose rows are distinct, and the column is whole,
    not negative and not constant. Where several are, the one whose name says so comes
    first. A column that numbers the rows is neither.
    """
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    if not 1 < len(frame) <= MOST_CELLS:
        return None
    frame = frame[[name for name in frame if not _numbers_rows(frame[name])]]
    n_values: dict[str, int] = {}
    many: list[str] = []
    for name in map(str, frame):
        # A column without values parts no cell, like one with a single value.
        n_values[name] = max(1, int(frame[name].nunique()))
        most = MANY_VALUES if is_number(frame[name]) else MOST_CELL_VALUES
        if n_values[name] > most:
            many.append(name)
        if len(many) > 1:  # one of them describes a cell, but by too many values
            return None
    possible = [
        name for name in names if name in n_values and (not many or many == [name])
    ]
    candidates = [name for name in possible if _may_count(frame, name, n_values)]
    named = [name for name in candidates if words(name) & COUNT_WORDS]
    return next(iter(named or candidates), None)


def _numbers_rows(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds 0, 1, 2, … or 1, 2, 3, … down the table."""
    if not is_number(column) or column.hasnans or column.iloc[0] not in (0, 1):
        return False
    first = int(column.iloc[0])
    return np.array_equal(column, np.arange(len(column)) + first)


def _may_count(frame: pd.DataFrame, name: str, n_values: Mapping[str, int]) -> bool:
    """Tell whether a column may count people; the others have few values each."""
    column = frame[name]
    if not is_number(column) or column.hasnans or not is_whole(column):
        return False
    if column.min() < 0 or column.min() == column.max() or len(n_values) < 2:
        return False
    # rows of a table of counts fill its cells; those of people leave most empty
    n_cells = math.prod(n for other, n in n_values.items() if other != name)
    if n_cells > FULLEST * len(frame):
        return False
    return not frame.drop(columns=name).duplicated().any()


def guess_unit(frame: pd.DataFrame, names: Iterable[str], group: str) -> str | None:
    """Return the first of some columns that says whose a row is, and repeats.

    Its name says identifier, or all rows with one of its values are of one ``group``.
    """
    for name in names:
        column = frame[name]
        if is_nested(column) or all_differ(column) or is_weight(frame, name):
            continue
        if words(name) & UNIT_WORDS or _tells_people(column, frame.get(group)):
            n_rows = int(column.count())
            n_units = int(column.nunique())
            if n_units >= FEWEST_UNITS and n_units * (1 + REPEATED) <= n_rows:
                return name
    return None


def _tells_people(column: "pd.Series[Any]", group: "pd.Series[Any] | None") -> bool:
    """Return whether each value of a column seems to be one person.

    Rows with one value are of one group, and rows with the next value are of another
    as often as by chance. A year of birth fails: it settles who is young, but so does
    the next year.
    """
    if group is None:  # none is chosen yet
        return False
    if is_number(column) and not is_whole(column.iloc[:SOME_ROWS]):
        return False
    # Some rows rule out most columns before all are sorted.
    for step in (max(1, len(column) // SOME_ROWS), 1):
        values, _ = pd.factorize(column.iloc[::step], sort=is_number(column))
        groups, labels = pd.factorize(group.iloc[::step])
        order = np.argsort(values, kind="stable")
        order = order[(values[order] >= 0) & (groups[order] >= 0)]
        same_value = np.diff(values[order]) == 0
        other_group = np.diff(groups[order]) != 0
        if other_group[same_value].any():
            return False
    shares = count_codes(groups, len(labels)) / len(groups)
    chance = 1 - np.square(shares).sum()  # that two rows are of two groups
    n_same = same_value.sum()
    n_next = (~same_value).sum()
    if chance * min(n_same, n_next) < FEWEST_UNITS:
        return False
    return bool(other_group[~same_value].mean() >= chance / 2)


def guess_score(column: "pd.Series[Any]") -> ScoreColumn | None:
    """Return what a column of scores holds, None if it holds no numbers.

    A score that is neither a probability nor a margin gets a threshold in the middle of
    its range: 5 for deciles.
    """
    if not is_number(column) or column.isna().any() or column.nunique() < 2:
        return None
    values = column.to_numpy(dtype=np.float64)
    low = float(values.min())
    high = float(values.max())
    name = str(column.name)
    if np.isin(values, (0, 1)).all():
        return ScoreColumn(column=name, kind="decision")
    if low >= -1 and high <= 1:
        kind: ScoreKind = "margin" if low < 0 else "probability"
        return ScoreColumn(column=name, kind=kind)
    middle = (low + high) / 2
    if (values % 1 == 0).all():
        middle = math.floor(middle)
    return ScoreColumn(column=name, kind="score", threshold=float(f"{middle:.4g}"))


def guess_classes(
    column: "pd.Series[Any]",
    outcome: "pd.Series[Any]",
    positive: str | tuple[str, ...] | Cut,
) -> ScoreColumn | None:
    """Return a column of predicted classes: each value is one of the outcome's.

    None if it has other values, or none in some rows.
    """
    if isinstance(positive, Cut) or is_nested(column) or column.isna().any():
        return None
    if count_values(column, MOST_CLASSES) > MOST_CLASSES:
        return None
    if not set(label_codes(column)[1]) <= set(label_codes(outcome)[1]):
        return None
    wanted = (positive,) if isinstance(positive, str) else positive
    return ScoreColumn(column=str(column.name), kind="decision", positive=wanted)


def guess_scores(
    frame: pd.DataFrame,
    taken: Collection[str],
    target: str,
    positive: str | tuple[str, ...] | Cut,
) -> tuple[ScoreColumn, ...]:
    """Return the columns whose names say that they are scores of a model."""
    scores: list[ScoreColumn] = []
    truth = truths(taken)[:1]
    taken = set(taken)
    for name in frame.columns:
        if str(name) in taken or not is_score(str(name), truth):
            continue
        column = frame[name]
        score = guess_score(column)
        if score is None:
            score = guess_classes(column, frame[target], positive)
        is_copy = any(frame[earlier.column].equals(column) for earlier in scores)
        if score is not None and not is_copy:
            scores.append(score)
        if len(scores) == _MOST_GUESSED:
            break
    return tuple(scores)
