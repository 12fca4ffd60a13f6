"""Every column scored as outcome and as sensitive feature, and the best pair."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from fairdash.datasets import column_kinds
from fairdash.datasets.checks.leakage import encodes_group
from fairdash.datasets.guessing import words
from fairdash.datasets.guessing.column_facts import Column, candidate_columns

MOST_GROUPS = 20  # values of a sensitive column
MOST_CLASSES = 10  # values of an outcome that is text
MOST_NAMED_CLASSES = 40  # the same of a column with a name such as "target"
RUNNERS_UP = 2
CERTAIN = 10.0  # strength of a name that says nothing else
STRONG = 8.0  # strength of a name that is an outcome wherever it stands
PERSONAL = 5.0  # how strongly a column says that it describes a person
SHORTEST = 4  # letters of a word that a file is named after ...
STEM = 5  # ... and those of them that the name of the file needs to have
RARE = 0.02  # share of rows of the second value
MOST_PAIRED = 8  # of each role, among which the best pair is looked for
COMPARED_OUTCOMES = 12  # among which consequences are looked for
MOSTLY_FILLED = 0.95  # share of the rows
FEWEST_FILLED = 0.02
ALONE = 0.98  # share of the filled rows that have one value of the decision
LEAST_LIFT = 0.2  # by which it exceeds the share of that value in all rows
# What speaks for a column as outcome and against it, in log-odds, as fitted by
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
    best: tuple[Candidate, Candidate] | None = None
    best_score = -math.inf
    for outcome, group in product(outcomes[:MOST_PAIRED], sensitive[:MOST_PAIRED]):
        score = outcome.score + group.score
        if score <= best_score or outcome.column == group.column:
            continue
        # Compared last: it reads the values of both columns.
        if not _same_fact(sample, outcome.column, group.column):
            best = (outcome, group)
            best_score = score
    return best


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
    consequences: set[str] = set()
    for name, decision in product(best, decisions):
        if decision != name and _filled_for_one(sample[name], sample[decision]):
            consequences.add(name)
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
    share_of_filled = n_filled[value] / max(1, n_filled.sum())
    if share_of_filled < ALONE:
        return False
    # A value of nearly all rows is that of nearly all filled rows as well.
    share_of_rows = n_rows[value] / max(1, n_rows.sum())
    return bool(share_of_filled - share_of_rows >= LEAST_LIFT)


def _same_fact(frame: pd.DataFrame, outcome: str, sensitive: str) -> bool:
    """Return whether one column is a coding of the other, such as sex and "is male"."""
    if column_kinds.count_values(frame[outcome], MOST_GROUPS) > MOST_GROUPS:
        return False
    codes, _ = column_kinds.label_codes(frame[outcome])
    return encodes_group(frame[sensitive], codes)


def outcome_evidence(
    columns: Sequence[Column], file_name: str = ""
) -> Iterator[dict[str, float]]:
    """Yield the evidence in each column, by the names of `OUTCOME_WEIGHTS`."""
    file_letters = re.sub(r"[^a-z]", "", Path(file_name).stem.lower())
    strengths = [words.outcome_strength(column.name) for column in columns]
    describes = [words.says(column.name, words.DESCRIPTION_WORDS) for column in columns]
    # Without a telling name anywhere, two values speak for any column.
    no_name_tells = not any(strengths) and not any(describes)
    for column, strength, is_description in zip(
        columns, strengths, describes, strict=True
    ):
        is_context = words.says(column.name, words.CONTEXT_WORDS)
        is_binary = column.n_values == 2
        is_last = column.index == len(columns) - 1
        evidence = {
            "its name": strength / 10,
            "two values": is_binary and (strength > 0 or no_name_tells),
            "the last column": is_last,
            "the last column, with two values": is_last and is_binary,
            "the first column": column.index == 0,
            "the second column": column.index == 1,
            "goes with the other columns": 3 * column.association,
            "describes the case": is_description,
            "where, when or how it was recorded": is_context,
            "the same, but says outcome": is_context and strength >= STRONG,
            "describes the person": column.sensitive_strength >= PERSONAL,
            "comes again in a later year": column.is_earlier,
            "the file is named after it": _share_in(file_letters, column.name),
        }
        yield {name: float(amount) for name, amount in evidence.items()}


def _share_in(file_letters: str, name: str) -> float:
    """Return the share of a name's letters in words that a file is named after."""
    *name_words, whole, _ = words.name_words(name)
    n_shared = 0
    for word in name_words:
        if len(word) >= SHORTEST and word[:STEM] in file_letters:
            n_shared += len(word)
    return n_shared / max(1, len(whole))


def may_be_outcome(column: Column) -> bool:
    """Tell whether it can be an outcome: no score, dummy, identifier or long text."""
    if column.is_output:
        return False
    is_quantity = column.is_number and column.n_values > MOST_GROUPS
    if is_quantity and "id" in words.name_words(column.name):
        return False
    name = column.name
    if column.is_dummy:
        # The ending says which value a dummy stands for: outcome_approved.
        name = name.rpartition("_")[0] or name
    strength = words.strength(name, words.OUTCOME_WORDS)
    if not column.is_number and column.n_values > MOST_CLASSES:
        return strength >= CERTAIN and column.n_values <= MOST_NAMED_CLASSES
    return strength >= STRONG or not column.is_dummy


def _as_outcome(column: Column, evidence: dict[str, float]) -> Candidate | None:
    """Return a column as an outcome, with the log-odds of its evidence as its score."""
    if not may_be_outcome(column):
        return None
    score = sum(OUTCOME_WEIGHTS[name] * amount for name, amount in evidence.items())
    return Candidate(column.name, score)


def _as_sensitive(column: Column) -> Candidate | None:
    """Return a column as a sensitive feature, None if it cannot be one."""
    is_age = column.attribute == "age" and column.is_number
    has_few_values = column.n_values <= MOST_GROUPS
    says_attribute = column.sensitive_strength >= PERSONAL
    if column.is_output or not (has_few_values or is_age):
        return None
    if column.is_dummy and not says_attribute:
        return None
    score = column.sensitive_strength
    if not column.is_number:
        score += 0.3
    if has_few_values:
        score += 1.0 + column.second_share
        # A rare second value makes a group of too few rows to compare.
        if column.second_share < RARE:
            score -= 4.0
        elif column.second_share < 2 * RARE:
            score -= 1.0
    if column.is_derived and column.is_number:
        score -= 2.0
    if column.is_numbered:
        score -= 1.0
    if column.missing_share > 0.5:
        score -= 2.0
    if not says_attribute:
        score -= 0.5 * words.strength(column.name, words.OUTCOME_WORDS)
    return Candidate(column.name, score)
