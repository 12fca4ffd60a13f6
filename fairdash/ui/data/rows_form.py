"""Which rows? Conditions on columns, built by clicks, and what rows count for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pandas as pd
import streamlit as st
from pandas.api.types import is_numeric_dtype, is_object_dtype

from fairdash._escaping import plain, visible
from fairdash._wording import amount, count
from fairdash.datasets import Condition, Dataset, Roles, column_kinds

Menu: TypeAlias = Callable[[str], str]  # the label of a column in a menu
_MOST_VALUES = 200  # that a list offers
_FEW = 12  # numbers that are chosen by value
_ALL = "All of these"
_ANY = "Any of these"
_MISSING = {
    "keep": "Kept for models that take them",
    "impute": "Replaced for every model",
    "exclude": "Exclude rows that lack a feature",
}


@dataclass
class LiveCounts:
    """Lines below the three questions, filled in once the rows are counted."""

    lines: dict[str, Any] = field(default_factory=dict)

    def place(self, question: str) -> None:
        """Keep room for the counts of a question: rows, outcome or groups."""
        self.lines[question] = st.empty()

    def show(self, dataset: Dataset) -> None:
        """Say how many rows each question keeps and leaves out, with the reasons."""
        excluded = dataset.excluded
        n_read = dataset.n_read
        n_met = n_read - int(excluded.loc[excluded["about"] == "rows", "rows"].sum())
        n_positive = dataset.n_positive
        n_negative = dataset.n_people - n_positive
        noun = dataset.roles.noun
        sizes = [f"{name} {count(n)}" for name, n in dataset.group_sizes.items()]
        texts = {
            "rows": f"{count(n_met)} of {noun.counted(n_read)}",
            "outcome": f"{count(n_positive)} positive, {count(n_negative)} negative",
            "groups": ", ".join(sizes),
        }
        for question, line in self.lines.items():
            reasons = excluded[excluded["about"] == question]
            left_out = [
                f"{count(part.rows)} left out: {part.why}"
                for part in dataset.left_out(reasons.index)
            ]
            line.caption(plain(". ".join([texts[question], *left_out])))


def pick_conditions(
    frame: pd.DataFrame, roles: Roles, named: Menu, key: str
) -> tuple[tuple[Condition, ...], dict[str, tuple[str, ...]]]:
    """Draw the conditions that rows must meet; return ``rows`` and ``keep`` of roles.

    Conditions that clicks cannot build, as those of a file, stay until removed.
    """
    form = _Form.of(roles.conditions())
    columns = [
        str(name)
        for name, kind in frame.dtypes.items()
        # by its type first: to take 2,000 columns out of a table takes long
        if not is_object_dtype(kind) or not column_kinds.is_nested(frame[name])
    ]
    chosen = st.multiselect(
        "Only rows by",
        columns,
        [column for column in form.parts if column in columns],
        format_func=named,
        placeholder="all rows count",
        help="Choose columns, then the values that rows must have: only purchases, "
        "only first applications, only 2023.",
        key=f"{key} conditions",
    )
    parts = []
    for name in chosen:
        part = _pick_condition(frame[name], form.parts.get(name, ()), f"{key} {name}")
        if part is not None:
            parts.append(part)
    together = _ALL
    if len(chosen) > 1:
        together = st.segmented_control(
            "Rows must meet",
            [_ALL, _ANY],
            default=_ANY if form.any_of else _ALL,
            required=True,
            label_visibility="collapsed",
            key=f"{key} together",
        )
    rows = []
    for index, condition in enumerate(form.unbuildable):
        words = plain(f"Only rows with {condition}")
        if st.toggle(words, True, key=f"{key} other {index}"):
            rows.append(condition)
    if together == _ANY and len(parts) > 1:
        parts = [Condition(any_of=tuple(parts))]
    rows += parts
    # Unchanged conditions stay as an earlier version wrote them: other roles would be
    # another data set.
    if tuple(rows) == roles.conditions():
        return roles.rows, roles.keep
    return tuple(rows), {}


@dataclass(frozen=True)
class _Form:
    """Conditions as the form shows them: tests by column, and what it cannot show."""

    parts: dict[str, tuple[Condition, ...]]
    any_of: bool
    unbuildable: tuple[Condition, ...]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> "_Form":
        """Sort conditions into those that clicks can build, by column, and the rest."""
        any_of = len(conditions) == 1 and _tests(conditions[0]) is None
        listed = conditions[0].any_of if any_of else conditions
        parts: dict[str, tuple[Condition, ...]] = {}
        unbuildable = []
        for condition in listed:
            tests = _tests(condition)
            # The form has one test a column.
            if tests is None or tests[0].column in parts:
                unbuildable.append(condition)
            else:
                parts[tests[0].column] = tests
        # Alternatives cannot be taken apart: all of them are shown, or none.
        if any_of and (unbuildable or not parts):
            return cls({}, False, tuple(conditions))
        return cls(parts, any_of, tuple(unbuildable))


def _tests(condition: Condition) -> tuple[Condition, ...] | None:
    """Return a test of one column, and that it may be missing, as clicks build them.

    None for any other condition.
    """
    tests = condition.any_of or (condition,)
    first, *alternatives = tests
    if not first.column:
        return None
    empty = Condition(column=first.column, missing=True)
    if first.at_least is not None or first.at_most is not None:
        in_range = Condition(
            column=first.column, at_least=first.at_least, at_most=first.at_most
        )
        buildable = first == in_range
    else:
        buildable = first.lists_values or first == empty
    if not buildable or alternatives not in ([], [empty]):
        return None
    return tests


def _pick_condition(
    column: "pd.Series[Any]", present: Sequence[Condition], key: str
) -> Condition | None:
    name = str(column.name)
    """Draw the test of a column, and whether its value may be missing."""
    first = present[0] if present else None
    number = is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    many = number and column_kinds.count_values(column, _FEW) > _FEW
    # A range that a file gives stays a range, however few numbers the column has.
    has_range = first is not None and not first.lists_values and first.missing is None
    if many or has_range:
        test = _pick_range(column, first, key)
    else:
        test = _pick_values(column, first, key)
    if not column.hasnans:
        return test
    empty = Condition(column=name, missing=True)
    with_empty = st.checkbox(
        plain(f"{name} may be missing"), empty in present, key=f"{key} missing"
    )
    if not with_empty:
        return test
    if test is None:
        return empty
    return Condition(any_of=(test, empty))


def _pick_values(
    column: "pd.Series[Any]", present: Condition | None, key: str
) -> Condition | None:
    labels = column_kinds.listed_labels(column)[:_MOST_VALUES]
    current = present.among if present else ()
    values = st.multiselect(
        plain(f"{column.name} is"),
        labels,
        [value for value in current if value in labels],
        format_func=visible,
        placeholder="any of these values",
        key=f"{key} among",
    )
    if not values:
        return None
    return Condition(column=str(column.name), among=tuple(values))


def _pick_range(
    column: "pd.Series[Any]", present: Condition | None, key: str
) -> Condition | None:
    name = str(column.name)
    lowest, highest = column_kinds.ends(column)
    low_place, high_place = st.columns(2, gap="xsmall")
    low = low_place.number_input(
        plain(f"{name} from"),
        value=present.at_least if present else None,
        placeholder=amount(lowest),
        format="%g",
        key=f"{key} low",
    )
    high = high_place.number_input(
        "to",
        value=present.at_most if present else None,
        placeholder=amount(highest),
        format="%g",
        key=f"{key} high",
    )
    if low is None and high is None:
        return None
    return Condition(column=name, at_least=low, at_most=high)


@dataclass(frozen=True)
class StandsFor:
    """Columns that say what a row stands for: at most one of these, or none."""

    weight: str | None
    count: str | None
    unit: str | None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are chosen."""
        return tuple(filter(None, (self.weight, self.count, self.unit)))


def pick_stands_for(
    free: list[str], numbers: list[str], roles: Roles, named: Menu, key: str
) -> StandsFor:
    """Draw what a row stands for, and return the columns."""
    counted = pick_optional(
        "People in a row",
        numbers,
        roles.count,
        named=named,
        placeholder="each row is one person",
        help="Of a table of counts: how many people a row stands for. n is their sum, "
        "as if each row were repeated.",
        key=f"{key} count",
    )
    weight = pick_optional(
        "Sampling weight",
        numbers,
        roles.sample_weight,
        named=named,
        placeholder="every row counts once",
        help="How many people of the population a row stands for, not how often it was "
        "counted. Training, measures and thresholds use it; pages say what counts "
        "every row once.",
        key=f"{key} weight",
    )
    unit = pick_optional(
        "Rows of one person or household share",
        free,
        roles.unit,
        named=named,
        placeholder="nothing: each row is another case",
        help="An identifier that repeats. A split keeps its rows together.",
        key=f"{key} unit",
    )
    return StandsFor(weight, counted, unit)


def pick_missing(roles: Roles, key: str) -> str:
    """Draw what happens to rows without a feature, and return it."""
    return st.selectbox(
        "Missing numbers",
        list(_MISSING),
        index=list(_MISSING).index(roles.missing),
        format_func=_MISSING.__getitem__,
        help="Gradient boosting, LightGBM and XGBoost take missing numbers. "
        "Replaced: by the training median, and a column marks them.",
        key=f"{key} missing",
    )


def pick_optional(
    label: str,
    columns: list[str],
    current: str | None,
    *,
    named: Menu,
    placeholder: str,
    help: str,
    key: str,
) -> str | None:
    """Draw a choice of a column that can be left empty, and return it."""
    # Streamlit lets a choice be emptied only where its index begins as None. So what is
    # filled in goes through the session state.
    st.session_state.setdefault(key, current if current in columns else None)
    chosen: str | None = st.selectbox(
        label,
        columns,
        index=None,
        format_func=named,
        placeholder=placeholder,
        help=help,
        key=key,
    )
    return chosen
