"""Every column scored as outcome and as sensitive feature, and the best pair."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import column_kinds
from fairdash.datasets.checks.leakage import encodes_group
from fairdash.datasets.choices import n_choices, separator_of
from fairdash.datasets.guessing import words
from fairdash.datasets.guessing.features import bookkeeping

MOST_GROUPS = 20  # values of a sensitive column
MOST_CLASSES = 10  # values of an outcome that is text
MOST_NAMED_CLASSES = 40  # the same of a column with a name such as "target"
RUNNERS_UP = 2
CERTAIN = 10.0  # strength of a name that says nothing else
STRONG = 8.0  # strength of a name that is an outcome wherever it stands
STEM = 5  # letters of a word that a file is named after
RARE = 0.02  # share of rows of the second value
RANKED_ROWS, COMPARED = 1_000, 300  # rows and columns that associations are read from
NUMBERED = re.compile(r"(?P<stem>.*?[A-Za-z_.])[_.]?(?P<number>\d{1,4})")
YEAR_DUMMY = re.compile(r"(?i)(y|yr|year|d|t)_?\d{2,4}")
COMPARED_OUTCOMES = 12  # among which consequences are looked for
MOSTLY_FILLED, FEWEST_FILLED = 0.95, 0.02  # shares of the rows
ALONE, FEWEST_LIFT = 0.98, 0.2  # share of the filled rows with one value, and above all
FEWEST_LETTERS, JOINTS = 4, "_."  # of a name that others are made from
TRANSFORMS = {"l", "ln", "log", "z", "c", "d", "s", "sq", "sqrt", "lag", "std", "hr"}
# what speaks for a column as outcome and against it, in log-odds, as fitted by
# benchmarks/data/bench_guess.py --fit
OUTCOME_WEIGHTS = {
    "its name": 4.76,  # times the strength of the name, between 0 and 1
    "two values": 1.51,  # of a column whose name says outcome
    "the last column": 1.27,
    "the last column, with two values": 0.63,
    "the first column": 2.19,
    "the second column": 0.55,
    "goes with the other columns": 1.65,  # times three mean rank correlations
    "describes the case": -1.70,
    "where, when or how it was recorded": -2.30,
    "the same, but says outcome": 0.95,
    "describes the person": -1.96,
    "comes again in a later year": -1.74,
    "the file is named after it": 2.04,
}


@dataclass(frozen=True)
class Candidate:
    """A column as an outcome or as a sensitive feature.

    A higher score is likelier; comparable within one table and one role.
    """

    column: str
    score: float


@dataclass(frozen=True)
class Column:
    """What a guess goes by of one column, from a sample of rows."""

    name: str
    number: bool
    n_values: int  # or some number above `MOST_GROUPS`
    second: float  # share of the rows that have the second commonest value
    missing: float
    place: int  # from 0, among the columns that are no identifiers
    attribute: str | None  # that it holds, such as "sex"
    sensitive: float  # how strongly name and values say so
    dummy: bool = False  # one of a set that splits the rows: years, regions, types
    derived: bool = False  # made from another column: its logarithm, its square
    association: float = 0.0  # mean absolute rank correlation with the others
    earlier: bool = False  # comes again with a later year
    numbered: bool = False  # one of several persons: ``gender1`` beside ``gender2``
    output: bool = False  # of another model, by its name and those beside it


def rank_columns(
    frame: pd.DataFrame, file_name: str = ""
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Rank the columns of a table as outcomes and as sensitive features.

    Names are read by word stems of several languages, what else counts for an outcome
    stands in `OUTCOME_WEIGHTS`; few and common values count for a sensitive feature.
    Both are chosen together, so that they are not codings of one fact. The pair that is
    proposed comes first, then the next best of each.

    Raises ValueError if no column can be the outcome, or no other the sensitive
    feature.
    """
    columns = list(candidate_columns(frame))
    outcomes = _ranked(
        _as_outcome(column, evidence)
        for column, evidence in zip(
            columns, outcome_evidence(columns, file_name), strict=True
        )
    )
    if not outcomes:
        raise ValueError(
            "No column can be the outcome: each has one value, identifies rows, is a "
            "date or free text. Add a column that says what happened in each case."
        )
    outcomes = _without_consequences(frame, outcomes)
    sensitive = _ranked(map(_as_sensitive, columns))
    if not sensitive:
        raise ValueError(
            f"No column has between 2 and {MOST_GROUPS} values, so none can be the "
            "sensitive feature. Make one, for example age in two bands."
        )
    frame = frame.iloc[column_kinds.some_rows(len(frame))]
    best = max(
        (
            (o.score + s.score, o, s)
            for o, s in product(outcomes[:8], sensitive[:8])
            if o.column != s.column and not _same_fact(frame, o.column, s.column)
        ),
        key=lambda pair: pair[0],
        default=None,
    )
    if best is None:
        raise ValueError(
            "The only column that can be the outcome is also the only one to compare "
            "groups by. Add a column that says to which group a case belongs."
        )
    _, outcome, group = best
    return (
        _first(outcome, outcomes, group.column),
        _first(group, sensitive, outcome.column),
    )


def _first(
    chosen: Candidate, ranked: list[Candidate], taken: str
) -> tuple[Candidate, ...]:
    others = [c for c in ranked if c.column not in (chosen.column, taken)]
    return (chosen, *others[:RUNNERS_UP])


def _ranked(candidates: Iterator[Candidate | None]) -> list[Candidate]:
    return sorted(filter(None, candidates), key=lambda candidate: -candidate.score)


def _without_consequences(
    frame: pd.DataFrame, outcomes: list[Candidate]
) -> list[Candidate]:
    """Return outcomes without columns that follow from a likelier or coded one.

    A reason for a denial, or the rate of a loan that was granted, is filled in only
    where that outcome is; it is a consequence, whatever its name says.
    """
    sample = frame.iloc[column_kinds.some_rows(len(frame))]
    best = [candidate.column for candidate in outcomes[:COMPARED_OUTCOMES]]
    decisions = [name for name in best if _is_decision(sample[name])]
    consequences = {
        name
        for name in best
        for decision in decisions
        if decision != name and _filled_for_one(sample[name], sample[decision])
    }
    kept = [each for each in outcomes if each.column not in consequences]
    return kept or outcomes


def _is_decision(column: "pd.Series[Any]") -> bool:
    """Return whether a column has few values, one in nearly every row."""
    if column.notna().mean() < MOSTLY_FILLED:
        return False
    return column_kinds.count_values(column, MOST_CLASSES) <= MOST_CLASSES


def _filled_for_one(column: "pd.Series[Any]", decision: "pd.Series[Any]") -> bool:
    """Return whether a column is filled in for one value of a decision alone."""
    codes, labels = column_kinds.label_codes(decision)
    filled = column.notna().to_numpy()
    if not FEWEST_FILLED <= filled.mean() <= MOSTLY_FILLED:
        return False
    n_filled = column_kinds.count_codes(codes[filled], len(labels))
    n_rows = column_kinds.count_codes(codes, len(labels))
    one = int(n_filled.argmax())
    alone = n_filled[one] >= ALONE * max(1, n_filled.sum())
    lift = n_filled[one] / max(1, n_filled.sum()) - n_rows[one] / max(1, n_rows.sum())
    return bool(alone and lift >= FEWEST_LIFT)


def _same_fact(frame: pd.DataFrame, outcome: str, sensitive: str) -> bool:
    if column_kinds.count_values(frame[outcome], MOST_GROUPS) > MOST_GROUPS:
        return False
    codes, _ = column_kinds.label_codes(frame[outcome])
    return encodes_group(frame[sensitive], codes)


def candidate_columns(frame: pd.DataFrame) -> Iterator[Column]:
    """Yield what a guess goes by of every column that may have a role."""
    sample = frame.iloc[column_kinds.some_rows(len(frame))]
    columns: list[Column] = []
    for name in frame:
        values = sample[name]
        if (
            column_kinds.is_nested(values)
            or pd.api.types.is_datetime64_any_dtype(values)
            or column_kinds.is_identifier(frame[name])
            or (column_kinds.is_number(values) and column_kinds.is_unnamed(str(name)))
            or (bookkeeping(frame[name]) and str(name).lower() != "event")
        ):
            continue
        counts = values.value_counts()
        if len(counts) < 2:
            continue
        attribute, sensitive = words.sensitive_strength(values)
        n_values = len(counts)
        if attribute is not None and n_values > 2 and (mark := separator_of(values)):
            n_values = n_choices(values, mark)
        columns.append(
            Column(
                name=str(name),
                number=column_kinds.is_number(values),
                n_values=n_values,
                second=float(counts.iloc[1] / counts.sum()),
                missing=float(values.isna().mean()),
                place=len(columns),
                attribute=attribute,
                sensitive=sensitive,
            )
        )
    associations = _associations(sample, columns)
    names = {column.name for column in columns}
    truths = words.truths(names)[:1]
    derived = _derived(names)
    latest = _latest(names)
    dummies = _dummy_sets(sample, columns)
    for column, association in zip(columns, associations, strict=True):
        yield replace(
            column,
            association=association,
            dummy=column.name in dummies,
            derived=column.name in derived,
            earlier=_is_earlier(column.name, latest),
            numbered=_is_numbered(column.name, names),
            output=words.is_score(column.name, truths),
        )


def _associations(sample: pd.DataFrame, columns: list[Column]) -> list[float]:
    rows = sample.iloc[:: max(1, len(sample) // RANKED_ROWS)]
    ranks = np.zeros((len(columns), len(rows)))
    for place, column in enumerate(columns):
        values = rows[column.name]
        if not column.number:
            codes, _ = column_kinds.label_codes(values)
            values = pd.Series(codes, dtype=np.float64).where(codes >= 0)
        ranked = values.rank().to_numpy(dtype=np.float64, na_value=np.nan)
        ranked = np.nan_to_num(ranked - np.nansum(ranked) / max(1, values.count()))
        ranks[place] = ranked / (np.linalg.norm(ranked) or 1.0)
    strengths = np.abs(ranks @ ranks[:COMPARED].T)
    np.fill_diagonal(strengths, 0.0)
    return (strengths.sum(axis=1) / max(1, strengths.shape[1] - 1)).tolist()


def _dummy_sets(sample: pd.DataFrame, columns: list[Column]) -> set[str]:
    # A set has three columns or more side by side that together are 1 in half of the
    # rows, or two with one name and numbers; a dummy named after a year is one alone.
    dummies: set[str] = set()
    run: list[str] = []
    total: NDArray[np.float64] = np.zeros(len(sample))
    for column in [*columns, None]:
        values = None if column is None else _zero_one(sample, column)
        if values is not None and (total + values).max() <= 1:
            assert column is not None
            run.append(column.name)
            total = total + values
            continue
        if len(run) >= 3 and total.mean() >= 0.5:
            dummies |= set(run)
        if len(run) >= 2:
            stems = [m["stem"] for name in run if (m := NUMBERED.fullmatch(name))]
            dummies |= {
                name
                for name in run
                if (m := NUMBERED.fullmatch(name)) and stems.count(m["stem"]) >= 2
            }
        run = [] if column is None or values is None else [column.name]
        total = np.zeros(len(sample)) if values is None else values
    years = {
        c.name for c in columns if c.n_values == 2 and YEAR_DUMMY.fullmatch(c.name)
    }
    return dummies | years


def _zero_one(sample: pd.DataFrame, column: Column) -> NDArray[np.float64] | None:
    if column.n_values != 2 or not (column.number or sample[column.name].dtype == bool):
        return None
    values = sample[column.name].to_numpy(dtype=float, na_value=0.0)
    return values if set(np.unique(values)) <= {0.0, 1.0} else None


def _derived(names: set[str]) -> set[str]:
    """Return the names that begin with another one, or are a transform of it."""
    short = {name: name[: column_kinds.READ_LETTERS].lower() for name in names}
    long_names = {name for name in short.values() if len(name) >= FEWEST_LETTERS}
    bare = {name.lstrip(JOINTS) for name in long_names} - {""}
    begun = set(_begun(long_names))
    return {
        name
        for name, low in short.items()
        if low in begun or any(rest in bare for rest in _transformed(low))
    }


def _begun(names: set[str]) -> Iterator[str]:
    """Yield the names that begin with another one."""
    beginnings: list[str] = []
    for name in sorted(names):  # after all that it begins with
        while beginnings and not name.startswith(beginnings[-1]):
            beginnings.pop()
        if beginnings:
            yield name
        beginnings.append(name)


def _transformed(name: str) -> Iterator[str]:
    """Yield what a name may be a transform of: "log_age" of "age"."""
    for transform in TRANSFORMS:
        if name.startswith(transform) and name != transform:
            yield name[len(transform) :].lstrip(JOINTS)


def _latest(names: set[str]) -> dict[tuple[str, int], int]:
    """Return the largest number behind each stem, by its digits: year_99, year_2001."""
    latest: dict[tuple[str, int], int] = {}
    for name in names:
        if (numbered := NUMBERED.fullmatch(name)) is not None:
            key = numbered["stem"], len(numbered["number"])
            latest[key] = max(latest.get(key, 0), int(numbered["number"]))
    return latest


def _is_earlier(name: str, latest: dict[tuple[str, int], int]) -> bool:
    here = NUMBERED.fullmatch(name)
    if here is None or len(here["number"]) < 2:
        return False
    return latest[here["stem"], len(here["number"])] > int(here["number"])


def _is_numbered(name: str, names: set[str]) -> bool:
    twin = {"1": "2", "2": "1"}.get(name[-1:])
    return twin is not None and bool({f"{name[:-1]}{twin}", name[:-1]} & names)


def outcome_evidence(
    columns: Sequence[Column], file_name: str = ""
) -> Iterator[dict[str, float]]:
    """Yield what there is of each of `OUTCOME_WEIGHTS` in the columns of a table."""
    file = re.sub(r"[^a-z]", "", Path(file_name).stem.lower())
    names = [words.outcome_strength(column.name) for column in columns]
    described = [words.says(column.name, words.DESCRIPTION_WORDS) for column in columns]
    silent = not any(names) and not any(described)
    for column, named, describes in zip(columns, names, described, strict=True):
        context = words.says(column.name, words.CONTEXT_WORDS)
        two, last = column.n_values == 2, column.place == len(columns) - 1
        evidence = {
            "its name": named / 10,
            "two values": two and (named > 0 or silent),
            "the last column": last,
            "the last column, with two values": last and two,
            "the first column": column.place == 0,
            "the second column": column.place == 1,
            "goes with the other columns": 3 * column.association,
            "describes the case": describes,
            "where, when or how it was recorded": context,
            "the same, but says outcome": context and named >= STRONG,
            "describes the person": column.sensitive >= 5,
            "comes again in a later year": column.earlier,
            "the file is named after it": _share_in(file, column.name),
        }
        yield {name: float(amount) for name, amount in evidence.items()}


def _share_in(file: str, name: str) -> float:
    *said, whole, _ = words.name_words(name)
    shared = [word for word in said if len(word) >= 4 and word[:STEM] in file]
    return len("".join(shared)) / max(1, len(whole))


def may_be_outcome(column: Column) -> bool:
    """Tell whether it can be an outcome: no score, dummy, identifier or long text."""
    numbers = column.number and column.n_values > MOST_GROUPS
    if column.output or (numbers and "id" in words.name_words(column.name)):
        return False
    stem = column.name.rpartition("_")[0] if column.dummy else column.name
    named = words.strength(stem or column.name, words.OUTCOME_WORDS)
    if not column.number and column.n_values > MOST_CLASSES:
        return named >= CERTAIN and column.n_values <= MOST_NAMED_CLASSES
    return named >= STRONG or not column.dummy


def _as_outcome(column: Column, evidence: dict[str, float]) -> Candidate | None:
    if not may_be_outcome(column):
        return None
    score = sum(OUTCOME_WEIGHTS[name] * amount for name, amount in evidence.items())
    return Candidate(column.name, score)


def _as_sensitive(column: Column) -> Candidate | None:
    aged = column.attribute == "age" and column.number
    few = column.n_values <= MOST_GROUPS
    if column.output or not (few or aged) or (column.dummy and column.sensitive < 5):
        return None
    score = column.sensitive + 0.3 * (not column.number)
    if few:
        score += 1.0 + column.second
        score -= 3.0 * (column.second < RARE) + (column.second < 2 * RARE)
    score -= 2.0 * (column.derived and column.number) + column.numbered
    score -= 2.0 * (column.missing > 0.5)
    score -= (
        0.5 * words.strength(column.name, words.OUTCOME_WORDS) * (column.sensitive < 5)
    )
    return Candidate(column.name, score)
