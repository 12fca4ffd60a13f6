"""Which rows of a table count in an audit, and which do not, by reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import RowCounts
from fairdash._validation import (
    as_written,
    check_one_of,
    check_unique,
    value_labels,
)
from fairdash._wording import listing, plural, value_spans
from fairdash.audits.tables.question import TableQuestion
from fairdash.datasets import (
    Condition,
    audit_remarks,
    column_kinds,
    notes_of,
    read_weights,
)

MOST_VALUES = 5  # that a sentence names


class Excluded(NamedTuple):
    """Rows that do not count, under the first reason that excludes them."""

    reason: str
    column: str
    rows: int


class CountedValue(NamedTuple):
    """A value of the decision or the outcome: how many rows have it, as what."""

    option: str  # "decision" or "outcome"
    column: str
    value: str
    rows: int
    positive: bool


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows that count, and how many do not.

    Attributes
    ----------
    frame : DataFrame
        All columns of the rows that count.
    number : array of int
        Their rows in the table, from 0.
    features : tuple of str
        Columns of the groups.
    decided, actual : array of bool or None
    remarks : tuple of str
        What is joined, and what is doubtful about the table, with the remedy: a group
        in two spellings, dates as groups, rows that are written several times.
    decision_values : tuple of CountedValue
        Every value of the decision and the outcome among the rows that count.
    people : RowCounts, optional
        How many each row stands for; every number of rows counts them then.
    """

    frame: pd.DataFrame
    number: NDArray[np.int64]
    features: tuple[str, ...]
    decided: NDArray[np.bool_] | None
    actual: NDArray[np.bool_] | None
    excluded: tuple[Excluded, ...]
    remarks: tuple[str, ...] = ()
    decision_values: tuple[CountedValue, ...] = ()
    people: RowCounts | None = None

    @property
    def n(self) -> int:
        """How many rows count, or how many people they stand for."""
        return len(self.frame) if self.people is None else self.people.people

    def weights(self, question: TableQuestion) -> Any:
        """Return the people or the sampling weight of each row, None without either."""
        if self.people is not None or question.weight is None:
            return self.people
        return self.frame[question.weight].array

    @property
    def crossed(self) -> list[tuple[str, ...]]:
        """Each column of groups, then all of several."""
        columns: list[tuple[str, ...]] = [(name,) for name in self.features]
        if len(columns) > 1:
            columns.append(self.features)
        return columns

    @property
    def words(self) -> str:
        """The sample, the excluded rows and why, and values that count as others do."""
        words = excluded_words(self.excluded)
        merged = merged_words(self.decision_values)
        if merged:
            words = f"{words}. {merged}"
        drawn = notes_of(self.frame).drawn
        return words if drawn is None else f"{drawn.sentence} {words}"

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return a column of finite scores; ValueError names the first other row."""
        column = self.frame[name]
        scores = pd.to_numeric(column, errors="coerce").to_numpy(float, na_value=np.nan)
        wrong = np.flatnonzero(~np.isfinite(scores))
        if len(wrong):
            raise ValueError(
                f"Column {name!r} must hold finite numbers; {len(wrong):,} rows do "
                f"not, first row {self.number[wrong[0]] + 1} with "
                f"{as_written(column.iloc[wrong[0]])}. Choose another column, or "
                "exclude these rows."
            )
        return scores


def excluded_words(excluded: Sequence[Excluded]) -> str:
    """Return "3 rows excluded: 1 with no value in race, 2 with another sex"."""
    text = f"{plural(sum(part.rows for part in excluded), 'row')} excluded"
    reasons = [f"{part.rows:,} with {part.reason}" for part in excluded]
    return f"{text}: {', '.join(reasons)}" if reasons else text


def merged_words(values: Sequence[CountedValue]) -> str:
    """Say which values count as not positive, where these are two or more.

    "Of hired only yes counts as positive; no (335 rows) and later (28 rows) both count
    as not positive": whoever reads "0 rows excluded" must not take the third value for
    one that was left out.
    """
    texts = []
    for option in dict.fromkeys(value.option for value in values):
        of_option = [value for value in values if value.option == option]
        negative = [
            f"{value.value} ({plural(value.rows, 'row')})"
            for value in of_option
            if not value.positive
        ]
        if len(negative) < 2:
            continue
        positive = listing(value.value for value in of_option if value.positive)
        named = negative[:MOST_VALUES]
        n_more = len(negative) - MOST_VALUES
        if n_more > 0:
            named.append(f"{n_more} more values")
        texts.append(
            f"Of {of_option[0].column} only {positive} counts as positive; "
            f"{listing(named)} count as not positive"
        )
    return ". ".join(texts)


def count_rows(
    frame: pd.DataFrame,
    question: TableQuestion,
    needed: Sequence[str] = (),
    *,
    may_be_absent: bool = False,
) -> CountedRows:
    """Return the rows that have all that a question needs, and count the others.

    A row without a value in the outcome, the decision, the score, a column of groups,
    the unit or the weight does not count, nor in another column ``needed``, nor one
    whose group was not chosen. The same rows count for every column of groups, so that
    their numbers can be compared. The value of a decision or an outcome must occur,
    unless it ``may_be_absent``, as from a batch in which nobody is accepted.

    Raises
    ------
    ValueError
        When there is no such column or value, or two of a name, a column of groups
        names rows, no row is left, or a weight is no number or negative.
    """
    check_unique(frame)
    frame, question = question.prepared(frame)
    names = [str(column) for column in frame]
    people = None
    if question.count is not None:
        check_one_of("--count", question.count, names)
        people = RowCounts.of(question.count, frame[question.count].array)
    # A row is counted under the first reason that excludes it, so this order is that
    # of the reasons in every text: rows that were not asked about, values without
    # which nothing can be measured, then groups.
    counter = _Counter(len(frame), people)
    for condition in question.rows:
        holds = pd.Series(condition.holds(frame), frame.index)
        counter.exclude(_other_than(condition), ", ".join(condition.columns()), holds)
    outcome = Sides.of_option(
        "--outcome", question.outcome, frame, question, may_be_absent
    )
    decision = Sides.of_option(
        "--decision", question.decision, frame, question, may_be_absent
    )
    _check_negatives(question, [outcome, decision], frame)
    actual = None if outcome is None else outcome.flags(frame, counter)
    decided = None if decision is None else decision.flags(frame, counter)
    for option, name in (
        ("--score", question.score),
        ("--unit", question.unit),
        ("--weight", question.weight),
        *(("column", name) for name in needed),
    ):
        if name is not None:
            check_one_of(option, name, names)
            counter.exclude(f"no value in {name}", name, frame[name].notna())
    features = [_group(text, frame, counter) for text in question.groups]
    remarks = _remarks(frame, question, features)

    counts = counter.counts
    if not counts.any():
        raise ValueError(f"No row is left: {excluded_words(counter.excluded)}.")
    number = np.flatnonzero(counts)
    counted = frame[counts]
    if question.weight is not None:
        read_weights(counted[question.weight], number)
    return CountedRows(
        frame=counted.reset_index(drop=True),
        number=number,
        features=tuple(features),
        decided=None if decided is None else decided[counts],
        actual=None if actual is None else actual[counts],
        excluded=tuple(counter.excluded),
        remarks=remarks,
        decision_values=(
            *_values("decision", decision, counted, counter),
            *_values("outcome", outcome, counted, counter),
        ),
        people=counter.people_who_count(),
    )


def _remarks(
    frame: pd.DataFrame, question: TableQuestion, features: list[str]
) -> tuple[str, ...]:
    """Return what is doubtful about the table, each remark with its remedy."""
    columns = []
    for option, text in (
        ("--decision", question.decision),
        ("--outcome", question.outcome),
    ):
        if text is not None:
            column, _ = named_value(option, text, frame)
            columns.append(column)
    columns += question.subgroups
    for name in question.subgroups:
        check_one_of("subgroups", name, list(map(str, frame)))
    # `CountedRows.words` says how the sample was drawn.
    notes = notes_of(frame).model_copy(update={"drawn": None})
    return (*notes.sentences, *audit_remarks(frame, features, columns))


def named_value(option: str, text: str, frame: pd.DataFrame) -> tuple[str, str]:
    """Return column and value of "column=value"; either may hold a "=" of its own."""
    names = [str(column) for column in frame]
    parts = text.split("=")
    for n in range(1, len(parts) + 1):
        name = "=".join(parts[:n])
        if name in names:
            return name, "=".join(parts[n:])
    check_one_of(option, parts[0], names)
    raise AssertionError("a name that is no column is refused")


class _Counter:
    """Which rows still count, and how many were excluded for which reason."""

    def __init__(self, n_rows: int, people: RowCounts | None = None) -> None:
        self.counts = np.ones(n_rows, dtype=bool)
        self.people = people
        self.excluded: list[Excluded] = []
        if people is not None:
            self.counts &= np.asarray(people) > 0

    def people_who_count(self) -> RowCounts | None:
        """Return the people of the rows that still count; None without counts."""
        if self.people is None:
            return None
        return np.asarray(self.people)[self.counts].view(RowCounts)

    def exclude(self, reason: str, column: str, holds: "pd.Series[bool]") -> None:
        """Exclude the rows that count so far and for which ``holds`` is false."""
        excluded = self.counts & ~holds.to_numpy(bool)
        if not excluded.any():
            return
        n = excluded.sum() if self.people is None else self.people[excluded].sum()
        self.excluded.append(Excluded(reason, column, int(n)))
        self.counts &= ~excluded


@dataclass(frozen=True)
class Sides:
    """The values of a column that are positive, and those that are not.

    Without ``negative`` all others are not positive.
    """

    column: str
    positive: tuple[str, ...]
    negative: tuple[str, ...] = ()

    @classmethod
    def of_option(
        cls,
        option: str,
        text: str | None,
        frame: pd.DataFrame,
        question: TableQuestion,
        may_be_absent: bool,
    ) -> Self | None:
        """Return the sides that "column=value" and the negative values name.

        None without a text. The values need not occur if they ``may_be_absent``.
        """
        if text is None:
            return None
        name, positive_text = named_value(option, text, frame)
        labels = set(value_labels(frame[name]).dropna().unique())
        positive = _listed(option, name, positive_text, labels, may_be_absent)
        negative: list[str] = []
        for negative_text in question.negative:
            column, values = named_value("--negative", negative_text, frame)
            if column == name:
                negative += _listed("--negative", name, values, labels, may_be_absent)
        shared = sorted(set(positive) & set(negative))
        if shared:
            raise ValueError(
                f"{shared} of {name!r} count as positive and as negative; remove them "
                f"from `{option}` or from `--negative`."
            )
        return cls(name, tuple(positive), tuple(negative))

    def flags(self, frame: pd.DataFrame, counter: "_Counter") -> NDArray[np.bool_]:
        """Return which rows are positive; exclude those that are on no side."""
        labels = value_labels(frame[self.column])
        counter.exclude(f"no value in {self.column}", self.column, labels.notna())
        if self.negative:
            has_side = labels.isin([*self.positive, *self.negative])
            without_side = labels[counter.counts & ~has_side.to_numpy(bool)].unique()
            values = column_kinds.sorted_labels(set(without_side))
            reason = f"another {self.column} ({value_spans(values)})"
            counter.exclude(reason, self.column, has_side)
        return labels.isin(self.positive).to_numpy(bool)


def _listed(
    option: str, name: str, text: str, labels: set[str], may_be_absent: bool
) -> list[str]:
    """Return the values that a text names: itself, or several with commas."""
    values = [text] if text in labels else [part.strip() for part in text.split(",")]
    for value in values:
        if value not in labels and not may_be_absent:
            examples = ", ".join(column_kinds.sorted_labels(labels)[:5])
            raise ValueError(
                f"`{option}` must name a value of {name!r}, such as {examples}: "
                f"{option} {name}=VALUE. It has no {value!r}."
            )
    return values


def _check_negatives(
    question: TableQuestion, sides: Sequence[Sides | None], frame: pd.DataFrame
) -> None:
    """Raise ValueError where a negative value is of no column that decides."""
    columns = [side.column for side in sides if side is not None]
    for text in question.negative:
        column, _ = named_value("--negative", text, frame)
        if column not in columns:
            raise ValueError(
                f"`--negative {text}` is about {column!r}, which is neither the "
                "decision nor the outcome. Name a value of one of these."
            )


def _other_than(condition: Condition) -> str:
    """Return the reason that excludes a row from a condition."""
    if condition.lists_values:
        return f"another {condition.column}"
    return f"no match for {condition}"


def _values(
    option: str, sides: Sides | None, frame: pd.DataFrame, counter: "_Counter"
) -> Iterator[CountedValue]:
    """Yield every value of a decision or an outcome, the positive ones first."""
    if sides is None:
        return
    labels = value_labels(frame[sides.column])
    people = counter.people_who_count()
    weight = np.ones(len(labels)) if people is None else np.asarray(people)
    sizes = pd.Series(weight).groupby(labels.to_numpy()).sum()
    negative = sorted(set(sizes.index) - set(sides.positive))
    for label in [*sides.positive, *negative]:
        rows = int(sizes.get(label, 0))
        yield CountedValue(option, sides.column, label, rows, label in sides.positive)


def _group(text: str, frame: pd.DataFrame, counter: _Counter) -> str:
    """Return the column that "column=a,b" names; exclude rows of other groups."""
    name, values_text = named_value("--group", text, frame)
    values = value_labels(frame[name])
    counter.exclude(f"no value in {name}", name, values.notna())
    if values_text:
        chosen = [value.strip() for value in values_text.split(",")]
        for value in chosen:
            check_one_of(f"--group {name}", value, set(values.dropna().unique()))
        counter.exclude(f"another {name}", name, values.isin(chosen))
    return name
