"""A first guess of what columns mean, for the analyst to correct."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._scores import ScoreColumn, ScoreKind
from fairdash.datasets._subgroups import FEW_VALUES
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
FEWEST_UNITS, REPEATED = 20, 0.05  # units, and further rows for each
SOME_ROWS = 1_000  # among which most columns tell no people apart
_MOST_GUESSED = 3
_AFTER = "known only after the decision"
COUNT_WORDS = listed("count")
MOST_CELLS, MOST_CELL_VALUES = 10_000, 200  # rows of a table of counts, values of each
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
    Of a wide table the columns that `looked_at` returns are read.
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
    target, group = layout.target(names), str(layout.group_column(names))
    rest = guess_rest(frame, target, group, layout.first(layout.count, names))
    roles = _with_layout(rest, layout, frame, after)
    outcomes, sensitive = _led_by(outcomes, target), _led_by(sensitive, group)
    return RoleGuess(roles, outcomes, sensitive, layout.name)


def _led_by(candidates: tuple[Candidate, ...], column: str) -> tuple[Candidate, ...]:
    """Return candidates with a column first; the score of the best is its own."""
    others = [each for each in candidates if each.column != column]
    return (Candidate(column, candidates[0].score), *others[:RUNNERS_UP])


def _with_layout(
    roles: Roles, layout: Layout, frame: pd.DataFrame, after: Sequence[Any]
) -> Roles:
    """Return guessed roles with what a layout says, where the values allow it."""
    names = list(map(str, frame))
    weight, unit, count = (
        layout.first(name, names) for name in (layout.weight, layout.unit, layout.count)
    )
    changes: dict[str, Any] = {
        "left_out": {**roles.left_out, **dict.fromkeys(map(str, after), _AFTER)},
        "sample_weight": weight,
        "count": count or roles.count,
        "unit": unit or (None if weight or count else roles.unit),
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
    steps = tuple(layout.missing_in(frame[list(dict.fromkeys(used))]))
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
    frame = frame[[n for n in frame if n in named or not is_nested(frame[n])]]
    steps = _choice_steps(frame[sensitive])
    frame = apply_steps(frame, steps, {})
    positive = guess_positive(frame[target])
    features, left_out = guess_features(frame, target, positive, sensitive)
    filters = [
        str(name)
        for name in frame.columns
        if pd.api.types.is_bool_dtype(frame[name]) and "filter" in words(str(name))
    ]
    name, meaning = guess_meaning(target, positive)
    scores = guess_scores(frame, (target, sensitive, *features), target, positive)
    scored = {score.column for score in scores}
    groups, cuts = guess_groups(frame[sensitive], second=bool(scores))
    others = [name for name in map(str, frame) if name not in named]
    people = count or guess_count(frame, others)
    if people != count and not words(str(people)) & COUNT_WORDS:
        people = None  # offered, not taken
    if people is None:
        described = _guess_subgroup_columns(frame, features)
    else:  # one row for each cell: every group has few
        features = [name for name in features if name != people]
        described = _subgroups_of_cells(
            {name: frame[name] for name in features}, frame[people]
        )
        groups = None
        scores = ()
    return Roles(
        target=target,
        positive=positive,
        sensitive_feature=sensitive,
        groups=groups,
        sensitive_cuts=cuts,
        features=tuple(features),
        subgroup_columns=described,
        scores=scores,
        count=people,
        unit=None
        if people
        else guess_unit(frame, [n for n in left_out if n not in scored], sensitive),
        keep=dict.fromkeys(filters, ("1",)),
        preparation=steps,
        types=_guess_ranges(frame, (sensitive, *features, *described)),
        positive_name=name,
        positive_is=meaning,
        test_rows="shared",
        guessed=True,
    )


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
    few = [n for n in features if count_values(frame[n], MOST_GROUPS) <= MOST_GROUPS]
    people: dict[str, str] = {}
    for name in few:
        if (about := concept(frame[name])) is not None:
            people.setdefault(about, name)
    others = [name for name in few if not is_number(frame[name])]
    chosen: list[str] = []
    n_rows = float(len(frame))
    for name in (*ages[:1], *people.values()):
        in_each = n_rows / min(frame[name].nunique(), FEW_VALUES)
        if not chosen or in_each >= FEWEST_GROUP_ROWS:
            chosen.append(name)
            n_rows = in_each
    return tuple(chosen or sorted(others, key=lambda n: -frame[n].nunique())[:1])


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
    made = {remedy.column for remedy in roles.preparation if remedy.columns}
    taken = {roles.target, roles.sensitive_feature, *roles.crossed_with} - made
    frame = frame[looked_at(frame, *taken)]
    free = [name for name in map(str, frame.columns) if name not in taken]
    if roles.count is not None:
        return {}
    joined = _offered_groups(frame, roles)
    more: dict[str, dict[str, Any]] = {}
    weights = (n for n in free if is_weight(frame, n) and is_number(frame[n]))
    if roles.sample_weight is None and (weight := next(weights, None)):
        more[f"Weight rows by {weight}"] = {"sample_weight": weight}
    if roles.sample_weight is None and (people := guess_count(frame, free)):
        more[f"A row is {people} people"] = {"count": people}
    group = roles.sensitive_feature
    if roles.unit is None and (unit := guess_unit(frame, free, group)):
        more[f"Rows share one {unit}"] = {"unit": unit}
    outcome = roles.target, roles.positive
    if not roles.scores and (scores := guess_scores(frame, taken, *outcome)):
        more[f"{scores[0].column} is a model's score"] = {"scores": scores[:1]}
    changed = {}
    for offer, change in more.items():
        (value,) = change.values()
        name = value if isinstance(value, str) else value[0].column
        features = tuple(column for column in roles.features if column != name)
        changed[offer] = roles.model_copy(update=change | {"features": features})
    return joined | changed


def _offered_groups(frame: pd.DataFrame, roles: Roles) -> dict[str, Roles]:
    made = {remedy.columns for remedy in roles.preparation}
    return {
        f"Groups from {', '.join(remedy.columns)}": with_groups_of(roles, remedy)
        for remedy in one_hot_sets(frame)
        if remedy.columns not in made and roles.target not in remedy.columns
    }


def guess_count(frame: pd.DataFrame, names: Iterable[str]) -> str | None:
    """Return the column that says how many people a row of a table of counts is.

    All other columns are categories whose rows are distinct, and the column is whole,
    not negative and not constant. Of several the one whose name says so. A column that
    numbers the rows is neither.
    """
    frame = frame[[name for name in frame if not is_nested(frame[name])]]
    if not 1 < len(frame) <= MOST_CELLS:
        return None
    frame = frame[[name for name in frame if not _numbers_rows(frame[name])]]
    n_values: dict[str, int] = {}
    many: list[str] = []
    for name in map(str, frame):
        # a column without values parts no cell, like one with a single value
        n_values[name] = max(1, int(frame[name].nunique()))
        most = MANY_VALUES if is_number(frame[name]) else MOST_CELL_VALUES
        if n_values[name] > most:
            many.append(name)
        if len(many) > 1:  # one of them describes a cell, but by too many values
            return None
    candidates = [
        name
        for name in names
        if name in n_values
        and set(many) <= {name}
        and _may_count(frame, name, n_values)
    ]
    named = [name for name in candidates if words(name) & COUNT_WORDS]
    return next(iter(named or candidates), None)


def _numbers_rows(column: "pd.Series[Any]") -> bool:
    """Tell whether a column holds 0, 1, 2, … or 1, 2, 3, … down the table."""
    if not is_number(column) or column.hasnans or column.iloc[0] not in (0, 1):
        return False
    return np.array_equal(column, np.arange(len(column)) + int(column.iloc[0]))


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

    Its name is an identifier, or whom a row is about settles the ``group``.
    """
    for name in names:
        if is_nested(frame[name]) or all_differ(frame[name]) or is_weight(frame, name):
            continue
        if words(name) & UNIT_WORDS or _tells_people(frame[name], frame.get(group)):
            n_rows, n_units = int(frame[name].count()), int(frame[name].nunique())
            if n_units >= FEWEST_UNITS and n_units * (1 + REPEATED) <= n_rows:
                return name
    return None


def _tells_people(column: "pd.Series[Any]", group: "pd.Series[Any] | None") -> bool:
    # Rows with one value are of one group, and those with the next value as often of
    # another as by chance: a year of birth settles who is young, but so does the next.
    fraction = is_number(column) and not is_whole(column.iloc[:SOME_ROWS])
    if fraction or group is None:  # until one is chosen
        return False
    for step in (max(1, len(column) // SOME_ROWS), 1):
        values, _ = pd.factorize(column.iloc[::step], sort=is_number(column))
        groups, labels = pd.factorize(group.iloc[::step])
        order = np.argsort(values, kind="stable")
        order = order[(values[order] >= 0) & (groups[order] >= 0)]
        same = np.diff(values[order]) == 0
        differ = np.diff(groups[order]) != 0
        if differ[same].any():
            return False
    chance = 1 - np.square(count_codes(groups, len(labels)) / len(groups)).sum()
    least = chance * min(same.sum(), (~same).sum())
    return bool(least >= FEWEST_UNITS and differ[~same].mean() >= chance / 2)


def guess_score(column: "pd.Series[Any]") -> ScoreColumn | None:
    """Return what a column of scores holds, None if it holds no numbers.

    Of a score other than a probability or a margin the threshold is proposed in the
    middle of its range: 5 of deciles.
    """
    if not is_number(column) or column.isna().any() or column.nunique() < 2:
        return None
    values = column.to_numpy(dtype=np.float64)
    low, high = float(values.min()), float(values.max())
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
    beside = truths(taken)[:1]
    taken = set(taken)
    for name in frame.columns:
        if str(name) in taken or not is_score(str(name), beside):
            continue
        score = guess_score(frame[name])
        score = score or guess_classes(frame[name], frame[target], positive)
        copies = (frame[earlier.column].equals(frame[name]) for earlier in scores)
        if score is not None and not any(copies):
            scores.append(score)
        if len(scores) == _MOST_GUESSED:
            break
    return tuple(scores)
