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
RANKED_ROWS = 1_000  # from which associations between columns are read ...
COMPARED = 300  # ... with so many of the columns
NUMBERED = re.compile(r"(?P<stem>.*?[A-Za-z_.])[_.]?(?P<number>\d{1,4})")
YEAR_DUMMY = re.compile(r"(?i)(y|yr|year|d|t)_?\d{2,4}")
MOST_PAIRED = 8  # of each role, among which the best pair is looked for
COMPARED_OUTCOMES = 12  # among which consequences are looked for
MOSTLY_FILLED = 0.95  # share of the rows
FEWEST_FILLED = 0.02
ALONE = 0.98  # share of the filled rows that have one value of the decision
FEWEST_LIFT = 0.2  # by which it exceeds the share of that value in all rows
FEWEST_LETTERS = 4  # of a name that others are made from
JOINTS = "_."  # between such a name and its addition
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
    """The facts about a column that a guess goes by, from a sample of rows."""

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
    evidence_by_column = outcome_evidence(columns, file_name)
    outcomes = _ranked(map(_as_outcome, columns, evidence_by_column))
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
    best = _best_pair(frame, outcomes, sensitive)
    if best is None:
        raise ValueError(
            "The only column that can be the outcome is also the only one to compare "
            "groups by. Add a column that says to which group a case belongs."
        )
    outcome, group = best
    return (
        _first(outcome, outcomes, group.column),
        _first(group, sensitive, outcome.column),
    )


def _best_pair(
    frame: pd.DataFrame, outcomes: list[Candidate], sensitive: list[Candidate]
) -> tuple[Candidate, Candidate] | None:
    """Return the likeliest outcome and sensitive feature that are two facts."""
    sample = frame.iloc[column_kinds.some_rows(len(frame))]
    pairs = (
        (outcome, group)
        for outcome, group in product(outcomes[:MOST_PAIRED], sensitive[:MOST_PAIRED])
        if outcome.column != group.column
        and not _same_fact(sample, outcome.column, group.column)
    )
    return max(pairs, key=lambda pair: pair[0].score + pair[1].score, default=None)


def _first(
    chosen: Candidate, ranked: list[Candidate], taken: str
) -> tuple[Candidate, ...]:
    """Return the chosen candidate and its runners-up; ``taken`` has the other role."""
    unavailable = (chosen.column, taken)
    peers = [peer for peer in ranked if peer.column not in unavailable]
    return (chosen, *peers[:RUNNERS_UP])


def _ranked(candidates: Iterator[Candidate | None]) -> list[Candidate]:
    """Return candidates in order, the likeliest first; None is no candidate."""
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
    causes = [outcome for outcome in outcomes if outcome.column not in consequences]
    return causes or outcomes


def _is_decision(column: "pd.Series[Any]") -> bool:
    """Return whether a column has few values, one in nearly every row."""
    if column.notna().mean() < MOSTLY_FILLED:
        return False
    return column_kinds.count_values(column, MOST_CLASSES) <= MOST_CLASSES


def _filled_for_one(column: "pd.Series[Any]", decision: "pd.Series[Any]") -> bool:
    """Return whether a column is filled in only for one value of a decision."""
    codes, labels = column_kinds.label_codes(decision)
    filled = column.notna().to_numpy()
    if not FEWEST_FILLED <= filled.mean() <= MOSTLY_FILLED:
        return False
    n_filled = column_kinds.count_codes(codes[filled], len(labels))
    n_rows = column_kinds.count_codes(codes, len(labels))
    value = int(n_filled.argmax())
    total_filled = max(1, n_filled.sum())
    if n_filled[value] < ALONE * total_filled:
        return False
    # A value of nearly all rows is that of nearly all filled rows as well.
    lift = n_filled[value] / total_filled - n_rows[value] / max(1, n_rows.sum())
    return bool(lift >= FEWEST_LIFT)


def _same_fact(frame: pd.DataFrame, outcome: str, sensitive: str) -> bool:
    """Return whether one column is a coding of the other, such as sex and "is male"."""
    if column_kinds.count_values(frame[outcome], MOST_GROUPS) > MOST_GROUPS:
        return False
    codes, _ = column_kinds.label_codes(frame[outcome])
    return encodes_group(frame[sensitive], codes)


def candidate_columns(frame: pd.DataFrame) -> Iterator[Column]:
    """Yield the facts about every column that may have a role."""
    sample = frame.iloc[column_kinds.some_rows(len(frame))]
    columns: list[Column] = []
    for name in frame:
        values = sample[name]
        if not _may_have_role(frame[name], values):
            continue
        counts = values.value_counts()
        if len(counts) < 2:
            continue
        attribute, sensitive = words.sensitive_strength(values)
        n_values = len(counts)
        if attribute is not None and n_values > 2:
            # A multiple choice, such as "White;Asian", has fewer choices than values.
            mark = separator_of(values)
            n_values = n_choices(values, mark) if mark else n_values
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


def _may_have_role(column: "pd.Series[Any]", sample: "pd.Series[Any]") -> bool:
    """Return whether a column holds single values that are about a case.

    Dates, identifiers and what numbers the rows have no role.
    """
    name = str(column.name)
    if column_kinds.is_nested(sample) or pd.api.types.is_datetime64_any_dtype(sample):
        return False
    if column_kinds.is_identifier(column):
        return False
    if column_kinds.is_number(sample) and column_kinds.is_unnamed(name):
        return False
    # "event" alone is the outcome of a survival study.
    return name.lower() == "event" or not bookkeeping(column)


def _associations(sample: pd.DataFrame, columns: list[Column]) -> list[float]:
    """Return the mean absolute rank correlation of each column with the others."""
    rows = sample.iloc[:: max(1, len(sample) // RANKED_ROWS)]
    unit_ranks = np.zeros((len(columns), len(rows)))
    for index, column in enumerate(columns):
        values = rows[column.name]
        if not column.number:
            codes, _ = column_kinds.label_codes(values)
            values = pd.Series(codes, dtype=np.float64).where(codes >= 0)
        ranks = values.rank().to_numpy(dtype=np.float64, na_value=np.nan)
        mean = np.nansum(ranks) / max(1, values.count())
        # A missing value counts as the mean, so that it adds nothing to a product.
        centred = np.nan_to_num(ranks - mean)
        unit_ranks[index] = centred / (np.linalg.norm(centred) or 1.0)
    correlations = np.abs(unit_ranks @ unit_ranks[:COMPARED].T)
    np.fill_diagonal(correlations, 0.0)
    n_others = max(1, correlations.shape[1] - 1)
    return (correlations.sum(axis=1) / n_others).tolist()


def _dummy_sets(sample: pd.DataFrame, columns: list[Column]) -> set[str]:
    """Return the columns of sets that split the rows: years, regions, types.

    A set has three columns or more side by side that together are 1 in half of the
    rows, or two with one stem and a number. A dummy named after a year needs no set.
    """
    dummies: set[str] = set()
    run: list[str] = []
    total: NDArray[np.float64] = np.zeros(len(sample))
    for column in columns:
        values = _zero_one(sample, column)
        if values is not None and (total + values).max() <= 1:
            run.append(column.name)
            total = total + values
            continue
        dummies |= _dummies_of_run(run, total)
        run = []
        total = np.zeros(len(sample))
        if values is not None:
            run.append(column.name)
            total = values
    dummies |= _dummies_of_run(run, total)
    years = {
        column.name
        for column in columns
        if column.n_values == 2 and YEAR_DUMMY.fullmatch(column.name)
    }
    return dummies | years


def _dummies_of_run(run: list[str], total: NDArray[np.float64]) -> set[str]:
    """Return the dummies among columns side by side, of which one at most is 1.

    ``total`` is their sum in each row.
    """
    dummies: set[str] = set()
    if len(run) >= 3 and total.mean() >= 0.5:
        dummies |= set(run)
    matches = [NUMBERED.fullmatch(name) for name in run]
    stems = [match["stem"] for match in matches if match]
    for name, match in zip(run, matches, strict=True):
        if match and stems.count(match["stem"]) >= 2:
            dummies.add(name)
    return dummies


def _zero_one(sample: pd.DataFrame, column: Column) -> NDArray[np.float64] | None:
    """Return the values of a column of 0 and 1, missing as 0; None of another one."""
    if column.n_values != 2:
        return None
    cells = sample[column.name]
    if not column.number and cells.dtype != bool:
        return None
    values = cells.to_numpy(dtype=float, na_value=0.0)
    return values if set(np.unique(values)) <= {0.0, 1.0} else None


def _derived(names: set[str]) -> set[str]:
    """Return the names that begin with another one, or are a transform of it."""
    lowered = {name: name[: column_kinds.READ_LETTERS].lower() for name in names}
    long_names = {name for name in lowered.values() if len(name) >= FEWEST_LETTERS}
    bare = {name.lstrip(JOINTS) for name in long_names} - {""}
    begun = set(_begun(long_names))
    derived: set[str] = set()
    for name, lower in lowered.items():
        if lower in begun or not bare.isdisjoint(_transformed(lower)):
            derived.add(name)
    return derived


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
        match = NUMBERED.fullmatch(name)
        if match is None:
            continue
        key = match["stem"], len(match["number"])
        latest[key] = max(latest.get(key, 0), int(match["number"]))
    return latest


def _is_earlier(name: str, latest: dict[tuple[str, int], int]) -> bool:
    """Return whether a name comes again with a larger number: year_01, year_02."""
    match = NUMBERED.fullmatch(name)
    if match is None:
        return False
    digits = match["number"]
    if len(digits) < 2:  # one digit counts persons or questions, no years
        return False
    return latest[match["stem"], len(digits)] > int(digits)


def _is_numbered(name: str, names: set[str]) -> bool:
    """Return whether ``gender1`` has a twin ``gender2``, or ``gender`` beside it."""
    twin_digit = {"1": "2", "2": "1"}.get(name[-1:])
    if twin_digit is None:
        return False
    stem = name[:-1]
    return stem in names or f"{stem}{twin_digit}" in names


def outcome_evidence(
    columns: Sequence[Column], file_name: str = ""
) -> Iterator[dict[str, float]]:
    """Yield the evidence in each column, by the names of `OUTCOME_WEIGHTS`."""
    file = re.sub(r"[^a-z]", "", Path(file_name).stem.lower())
    strengths = [words.outcome_strength(column.name) for column in columns]
    describes = [words.says(column.name, words.DESCRIPTION_WORDS) for column in columns]
    # Without a telling name anywhere, two values speak for any column.
    no_name_tells = not any(strengths) and not any(describes)
    for column, strength, is_description in zip(
        columns, strengths, describes, strict=True
    ):
        is_context = words.says(column.name, words.CONTEXT_WORDS)
        is_binary = column.n_values == 2
        is_last = column.place == len(columns) - 1
        evidence = {
            "its name": strength / 10,
            "two values": is_binary and (strength > 0 or no_name_tells),
            "the last column": is_last,
            "the last column, with two values": is_last and is_binary,
            "the first column": column.place == 0,
            "the second column": column.place == 1,
            "goes with the other columns": 3 * column.association,
            "describes the case": is_description,
            "where, when or how it was recorded": is_context,
            "the same, but says outcome": is_context and strength >= STRONG,
            "describes the person": column.sensitive >= 5,
            "comes again in a later year": column.earlier,
            "the file is named after it": _share_in(file, column.name),
        }
        yield {name: float(amount) for name, amount in evidence.items()}


def _share_in(file: str, name: str) -> float:
    """Return the share of a name's letters in words that a file is named after."""
    *name_words, whole, _ = words.name_words(name)
    shared = [word for word in name_words if len(word) >= 4 and word[:STEM] in file]
    return len("".join(shared)) / max(1, len(whole))


def may_be_outcome(column: Column) -> bool:
    """Tell whether it can be an outcome: no score, dummy, identifier or long text."""
    is_quantity = column.number and column.n_values > MOST_GROUPS
    if column.output or (is_quantity and "id" in words.name_words(column.name)):
        return False
    name = column.name
    if column.dummy:
        # The ending says which value a dummy stands for: outcome_approved.
        name = name.rpartition("_")[0] or name
    strength = words.strength(name, words.OUTCOME_WORDS)
    if not column.number and column.n_values > MOST_CLASSES:
        return strength >= CERTAIN and column.n_values <= MOST_NAMED_CLASSES
    return strength >= STRONG or not column.dummy


def _as_outcome(column: Column, evidence: dict[str, float]) -> Candidate | None:
    """Return a column as an outcome, with the log-odds of its evidence as its score."""
    if not may_be_outcome(column):
        return None
    score = sum(OUTCOME_WEIGHTS[name] * amount for name, amount in evidence.items())
    return Candidate(column.name, score)


def _as_sensitive(column: Column) -> Candidate | None:
    """Return a column as a sensitive feature, None if it cannot be one."""
    is_age = column.attribute == "age" and column.number
    has_few_values = column.n_values <= MOST_GROUPS
    says_attribute = column.sensitive >= 5
    if column.output or not (has_few_values or is_age):
        return None
    if column.dummy and not says_attribute:
        return None
    score = column.sensitive
    if not column.number:
        score += 0.3
    if has_few_values:
        score += 1.0 + column.second
        # A rare second value makes a group of too few rows to compare.
        score -= 3.0 * (column.second < RARE) + (column.second < 2 * RARE)
    score -= 2.0 * (column.derived and column.number) + column.numbered
    if column.missing > 0.5:
        score -= 2.0
    if not says_attribute:
        score -= 0.5 * words.strength(column.name, words.OUTCOME_WORDS)
    return Candidate(column.name, score)
