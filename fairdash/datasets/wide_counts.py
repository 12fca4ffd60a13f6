"""Counts of groups in columns, as applicants and admitted by sex, become rows.

Agencies publish one row for each college or bank, with a column of applicants and one
of admitted for each group. `rows_of_counts` makes a table of counts of it: a row for
each group and outcome, which `Roles.count` counts.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._record import Record
from fairdash._validation import as_frame, as_written, check_unique
from fairdash.datasets._roles import Roles
from fairdash.datasets.column_kinds import is_number
from fairdash.datasets.table_notes import WideNote, notes_of

PEOPLE = "people"
YES, NO = "yes", "no"
# of names of columns: who was asked about, and what became of them
_ASKED = ("applications", "applicants", "applicant", "applied", "applcn", "candidates")
_CHOSEN = {
    "admssn": "admitted",
    "admissions": "admitted",
    "admitted": "admitted",
    "admits": "admitted",
    "accepted": "accepted",
    "approved": "approved",
    "hired": "hired",
    "invited": "invited",
    "offered": "offered",
    "promoted": "promoted",
    "selected": "selected",
}
_IPEDS = ("applcn", "admssn")
IPEDS = "IPEDS, admissions of colleges"
_LETTERS = {"m": "men", "w": "women", "an": "another gender", "un": "unknown gender"}
_SEXES = {
    "m", "w", "f", "men", "women", "man", "woman", "male", "female", "males", "females",
    *_LETTERS.values(),
}  # fmt: skip
_LEAST = 2  # groups


class WideGroup(Record):
    """A group whose counts stand in two columns.

    Attributes
    ----------
    name : str
    asked : str
        Column of how many people were asked about, such as applicants.
    chosen : str
        Column of how many of them had the outcome.
    """

    name: str
    asked: str
    chosen: str


class WideCounts(Record):
    """What the columns of counts mean.

    Attributes
    ----------
    outcome : str
        Name of the new column of outcomes, "yes" or "no".
    feature : str
        Name of the new column of groups.
    groups : tuple of WideGroup
    totals : tuple of str
        Columns of all groups together, which are left out.
    layout : str
        Of a published table that is recognised, else "".
    """

    outcome: str
    feature: str
    groups: tuple[WideGroup, ...]
    totals: tuple[str, ...] = ()
    layout: str = ""

    def _check(self) -> None:
        names = [group.name for group in self.groups]
        if len(set(names)) < max(_LEAST, len(names)):
            raise ValueError(
                f"`groups` must be two or more of different names, got {names}."
            )

    @property
    def roles(self) -> Roles:
        """The roles of the table of counts that `rows_of_counts` makes."""
        return Roles(
            target=self.outcome,
            positive=YES,
            sensitive_feature=self.feature,
            features=(),
            count=PEOPLE,
            positive_name=self.outcome,
            positive_is="favourable",
        )

    @property
    def sentence(self) -> str:
        """What was found, for a page or a shell."""
        looks = f"This looks like {self.layout}. " if self.layout else ""
        pair = f"{self.groups[0].asked} and {self.groups[0].chosen}"
        names = ", ".join(group.name for group in self.groups)
        return (
            f"{looks}The groups stand in columns: {self.outcome} by {self.feature} "
            f"({names}), such as {pair}. An audit needs a row for each group."
        )


def find_wide_counts(frame: pd.DataFrame) -> WideCounts | None:
    """Return what pairs of columns count by group, None where there are none.

    The names of a pair differ in what is counted only: "applicants_women" and
    "admitted_women", APPLCNW and ADMSSNW.
    """
    words = {name: _words(name) for name in frame if isinstance(name, str)}
    best: WideCounts | None = None
    for asked in _ASKED:
        whole = dict(_rests(words, asked))
        if len(whole) < _LEAST:
            continue
        for chosen, outcome in _CHOSEN.items():
            part = dict(_rests(words, chosen))
            shared = [
                rest
                for rest in whole
                if rest in part
                and rest
                and is_number(frame[part[rest]])
                and _is_count(frame[whole[rest]])
            ]
            if len(shared) < max(_LEAST, len(best.groups) + 1 if best else 0):
                continue
            ipeds = (asked, chosen) == _IPEDS
            names = [_LETTERS.get(rest, rest) if ipeds else rest for rest in shared]
            best = WideCounts(
                outcome=outcome,
                feature="sex" if set(names) <= _SEXES else "group",
                groups=tuple(
                    WideGroup(name=name, asked=whole[rest], chosen=part[rest])
                    for name, rest in zip(names, shared, strict=True)
                ),
                totals=tuple(rests[""] for rests in (whole, part) if "" in rests),
                layout=IPEDS if ipeds else "",
            )
    return best


def _is_count(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds numbers that are not yes and no of a person."""
    if not is_number(column):
        return False
    present = column.dropna()
    return not (len(present) and present.isin([0, 1]).all())


def _words(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", " ", name.lower()).strip()


def _rests(words_of: dict[str, str], stem: str) -> Iterator[tuple[str, str]]:
    """Yield what names say beside a word they begin or end with, with the name."""
    for name, words in words_of.items():
        if words.startswith(stem):
            yield words.removeprefix(stem).strip(), name
        elif words.endswith(stem):
            yield words.removesuffix(stem).strip(), name


def rows_of_counts(frame: pd.DataFrame, wide: WideCounts | None = None) -> pd.DataFrame:
    """Return a table of counts: a row for each row, group and outcome.

    Other columns are repeated. A count that is missing, and one of nobody, makes no
    row; those missing are counted in the notes of the table (`notes_of`).

    Parameters
    ----------
    wide : WideCounts, optional
        By default what `find_wide_counts` returns.

    Returns
    -------
    DataFrame with the other columns, those of group and outcome, and "people"

    Raises
    ------
    ValueError
        If no columns of counts are recognised, one holds no whole numbers, more people
        have the outcome than were asked about, or a new name is taken.
    """
    frame = as_frame("frame", frame)
    check_unique(frame)
    wide = wide or find_wide_counts(frame)
    if wide is None:
        raise ValueError(
            "No two groups have a column of applicants and one of admitted each, such "
            "as applicants_men and admitted_men. Rename the columns, or give `wide`."
        )
    counted = [name for group in wide.groups for name in (group.asked, group.chosen)]
    rest = frame.drop(columns=[*counted, *wide.totals])
    taken = [name for name in (wide.feature, wide.outcome, PEOPLE) if name in rest]
    if taken:
        raise ValueError(
            f"The table has a column {taken[0]!r} already. Rename it, so that the "
            "counts get theirs."
        )
    parts, n_missing = [], 0
    for group in wide.groups:
        asked, chosen = _counts(frame, group.asked), _counts(frame, group.chosen)
        _check_part(asked, chosen, group)
        known = ~(np.isnan(asked) | np.isnan(chosen))
        n_missing += int((~known).sum())
        for answer, people in ((YES, chosen), (NO, asked - chosen)):
            new: dict[str, Any] = {
                wide.feature: group.name,
                wide.outcome: answer,
                PEOPLE: people,
            }
            parts.append(rest.assign(**new)[known & (people > 0)])
    table = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    if table.empty:
        raise ValueError("All counts are missing or 0, so nobody is counted.")
    table[PEOPLE] = table[PEOPLE].astype(np.int64)
    note = WideNote(
        feature=wide.feature,
        n_rows=len(frame),
        n_counts=len(frame) * len(wide.groups),
        n_missing=n_missing,
    )
    return notes_of(frame).model_copy(update={"wide": note}).put(table)


def _counts(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
    if name not in frame:
        raise ValueError(f"The table has no column {name!r} of counts.")
    numbers = pd.to_numeric(frame[name], errors="coerce")
    counts: NDArray[np.float64] = numbers.to_numpy(np.float64, na_value=np.nan)
    missing = frame[name].isna().to_numpy()
    with np.errstate(invalid="ignore"):
        fits = missing | (np.isfinite(counts) & (counts >= 0) & (counts % 1 == 0))
    wrong = np.flatnonzero(~fits)
    if len(wrong):
        raise ValueError(
            f"{name!r} holds no whole number of 0 or more in {len(wrong):,} rows, "
            f"first row {wrong[0] + 1} with "
            f"{as_written(frame[name].iloc[wrong[0]])}. Correct these rows."
        )
    return counts


def _check_part(
    asked: NDArray[np.float64], chosen: NDArray[np.float64], group: WideGroup
) -> None:
    wrong = np.flatnonzero(chosen > asked)
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"{group.chosen!r} is larger than {group.asked!r} in {len(wrong):,} rows, "
            f"first row {first + 1} with {chosen[first]:,.0f} of {asked[first]:,.0f}. "
            "Correct these rows."
        )
