"""Which rows of a table count in an audit, and which do not, by reason."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from fairdash._validation import (
    as_written,
    check_one_of,
    check_unique,
    value_label,
    value_labels,
)
from fairdash._wording import listing, plural
from fairdash.datasets import Subgroups, audit_remarks, notes_of, read_weights

MOST_VALUES = 5  # that a sentence names


class TableQuestion(BaseModel):
    """What is asked of a table.

    A column of groups is named with all its values or some: "race=White,Black". Neither
    a decision nor a score is needed where a model scores the rows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: tuple[str, ...] = Field(description="Columns of the groups.")
    decision: str | None = Field(default=None, description="Column=value: hired=yes.")
    score: str | None = Field(default=None, description="Column of scores, instead.")
    threshold: float | None = None
    outcome: str | None = Field(default=None, description="Column=value: repaid=yes.")
    unit: str | None = Field(default=None, description="Column of a row's unit.")
    weight: str | None = Field(default=None, description="Column of sampling weights.")
    subgroups: tuple[str, ...] = Field(
        default=(), description="Columns, crossed; numbers of many values in bins."
    )
    subgroup_widths: dict[str, float] = Field(
        default={}, description="Width of the bins of a number, such as age: 10."
    )
    subgroup_cuts: dict[str, tuple[float, ...]] = Field(
        default={}, description="Lower ends of the bins of a number, but the first."
    )
    measures: tuple[str, ...] = Field(
        default=(), description="Default: all; in a policy those with a limit."
    )
    reference: str | None = Field(default=None, description="Group to compare with.")
    favourable: bool = Field(default=True, description="A positive decision is good.")
    rows: dict[str, tuple[str | int | float | bool, ...]] = Field(
        default={}, description="Rows that count: a column and the values it may have."
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.groups)) < len(self.groups):
            raise ValueError("A column of `--group` is named twice; name each once.")
        if self.decision is not None and self.score is not None:
            raise ValueError("Give one of `--decision` and `--score`.")
        for name in (*self.subgroup_widths, *self.subgroup_cuts):
            if name not in self.subgroups:
                raise ValueError(
                    f"{name!r} has bins but makes no subgroups; add it to `subgroups`."
                )
        return self

    @property
    def inside(self) -> Subgroups | None:
        """The subgroups that are looked at; None without columns."""
        if not self.subgroups:
            return None
        return Subgroups(
            columns=self.subgroups,
            widths=self.subgroup_widths,
            cuts=self.subgroup_cuts,
        )

    @property
    def decided(self) -> str:
        """What a positive decision is, in sentences."""
        if self.decision:
            return f"decided {self.decision}"
        return f"predicted {self.outcome or 'positive'}"


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
        What is doubtful about the table, with the remedy: a group in two spellings,
        dates as groups, rows that are written several times and the like.
    decision_values : tuple of CountedValue
        Every value of the decision and the outcome among the rows that count.
    """

    frame: pd.DataFrame
    number: NDArray[np.int64]
    features: tuple[str, ...]
    decided: NDArray[np.bool_] | None
    actual: NDArray[np.bool_] | None
    excluded: tuple[Excluded, ...]
    remarks: tuple[str, ...] = ()
    decision_values: tuple[CountedValue, ...] = ()

    @property
    def crossed(self) -> list[tuple[str, ...]]:
        """Each column of groups, then all of several."""
        each: list[tuple[str, ...]] = [(name,) for name in self.features]
        return [*each, self.features] if len(each) > 1 else each

    @property
    def words(self) -> str:
        """What is a sample, excluded and why, and values that count as others do."""
        drawn = notes_of(self.frame).drawn
        words = excluded_words(self.excluded)
        merged = merged_words(self.decision_values)
        words = f"{words}. {merged}" if merged else words
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
        own = [value for value in values if value.option == option]
        others = [
            f"{value.value} ({plural(value.rows, 'row')})"
            for value in own
            if not value.positive
        ]
        if len(others) < 2:
            continue
        positive = listing(value.value for value in own if value.positive)
        shown = [*others[:MOST_VALUES]]
        if len(others) > MOST_VALUES:
            shown.append(f"{len(others) - MOST_VALUES} more values")
        texts.append(
            f"Of {own[0].column} only {positive} counts as positive; "
            f"{listing(shown)} count as not positive"
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
    names = [str(column) for column in frame]
    counter = _Counter(len(frame))
    for column, values in question.rows.items():
        check_one_of("rows", column, names)
        fits = value_labels(frame[column]).isin([*map(value_label, values)])
        counter.exclude(f"another {column}", column, fits)
    flags = {
        option: None
        if text is None
        else _flags(option, text, frame, counter, may_be_absent)
        for option, text in (
            ("--outcome", question.outcome),
            ("--decision", question.decision),
        )
    }
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
    if question.weight is not None:
        read_weights(frame.loc[counts, question.weight], np.flatnonzero(counts))
    decided, actual = (
        None if (flag := flags[option]) is None else flag[counts]
        for option in ("--decision", "--outcome")
    )
    return CountedRows(
        frame[counts].reset_index(drop=True),
        np.flatnonzero(counts),
        tuple(features),
        decided,
        actual,
        tuple(counter.excluded),
        remarks,
        (
            *_values("decision", question.decision, frame[counts]),
            *_values("outcome", question.outcome, frame[counts]),
        ),
    )


def _remarks(
    frame: pd.DataFrame, question: TableQuestion, features: list[str]
) -> tuple[str, ...]:
    chosen = (("--decision", question.decision), ("--outcome", question.outcome))
    others = [named_value(o, text, frame)[0] for o, text in chosen if text is not None]
    others += question.subgroups
    for name in question.subgroups:
        check_one_of("subgroups", name, list(map(str, frame)))
    return audit_remarks(frame, features, others)


def named_value(option: str, text: str, frame: pd.DataFrame) -> tuple[str, str]:
    """Return column and value of "column=value"; either may hold a "=" of its own."""
    names = [str(column) for column in frame]
    parts = text.split("=")
    for n in range(1, len(parts) + 1):
        if (name := "=".join(parts[:n])) in names:
            return name, "=".join(parts[n:])
    check_one_of(option, parts[0], names)
    raise AssertionError("a name that is no column is refused")


class _Counter:
    def __init__(self, n_rows: int) -> None:
        self.counts = np.ones(n_rows, dtype=bool)
        self.excluded: list[Excluded] = []

    def exclude(self, reason: str, column: str, fits: "pd.Series[bool]") -> None:
        gone = self.counts & ~fits.to_numpy(bool)
        if gone.any():
            self.excluded.append(Excluded(reason, column, int(gone.sum())))
            self.counts &= ~gone


def _flags(
    option: str,
    text: str,
    frame: pd.DataFrame,
    counter: _Counter,
    may_be_absent: bool,
) -> Any:
    name, value = named_value(option, text, frame)
    labels = value_labels(frame[name])
    if not may_be_absent and not (labels == value).any():
        examples = ", ".join(map(str, labels.dropna().unique()[:5]))
        raise ValueError(
            f"`{option}` must name a value of {name!r}, such as {examples}: "
            f"{option} {name}=VALUE."
        )
    counter.exclude(f"no value in {name}", name, labels.notna())
    return (labels == value).to_numpy(bool)


def _values(
    option: str, text: str | None, frame: pd.DataFrame
) -> Iterator[CountedValue]:
    if text is None:
        return
    name, value = named_value(option, text, frame)
    sizes = value_labels(frame[name]).value_counts()
    for label in [value, *sorted(set(sizes.index) - {value})]:
        rows = int(sizes.get(label, 0))
        yield CountedValue(option, name, label, rows, label == value)


def _group(text: str, frame: pd.DataFrame, counter: _Counter) -> str:
    name, listed = named_value("--group", text, frame)
    values = value_labels(frame[name])
    counter.exclude(f"no value in {name}", name, values.notna())
    if listed:
        chosen = [value.strip() for value in listed.split(",")]
        for value in chosen:
            check_one_of(f"--group {name}", value, set(values.dropna()))
        counter.exclude(f"another {name}", name, values.isin(chosen))
    return name
