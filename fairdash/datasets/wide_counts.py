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

from fairdash._columns import with_columns
from fairdash._record import Record
from fairdash._validation import as_frame, as_written, check_unique
from fairdash.datasets._roles import Roles
from fairdash.datasets.column_kinds import is_number
from fairdash.datasets.table_notes import WideNote, notes_of

PEOPLE = "people"
YES = "yes"
NO = "no"
# Words in names of columns for all people in question ...
_ASKED = ("applications", "applicants", "applicant", "applied", "applcn", "candidates")
# ... and for those with the outcome, with its name.
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
    """The meaning of columns of counts.

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
        Name of a published table that is recognised, else "".
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
        """The groups and columns of counts, in words for a page or a shell."""
        looks = f"This looks like {self.layout}. " if self.layout else ""
        pair = f"{self.groups[0].asked} and {self.groups[0].chosen}"
        names = ", ".join(group.name for group in self.groups)
        return (
            f"{looks}The groups stand in columns: {self.outcome} by {self.feature} "
            f"({names}), such as {pair}. An audit needs a row for each group."
        )


def find_wide_counts(frame: pd.DataFrame) -> WideCounts | None:
    """Return the counts by group that pairs of columns hold, None without a pair.

    The names of a pair differ only in what is counted: "applicants_women" and
    "admitted_women", APPLCNW and ADMSSNW. The words with most groups win, among equals
    the first.
    """
    words = {name: _words(name) for name in frame if isinstance(name, str)}
    best: WideCounts | None = None
    most_groups = _LEAST - 1
    for ending in _ASKED:
        asked_columns = dict(_rests(words, ending))
        if len(asked_columns) < _LEAST:
            continue
        for chosen in _CHOSEN:
            chosen_columns = dict(_rests(words, chosen))
            groups = [
                group
                for group, column in asked_columns.items()
                if group in chosen_columns
                and group
                and is_number(frame[chosen_columns[group]])
                and _is_count(frame[column])
            ]
            if len(groups) > most_groups:
                most_groups = len(groups)
                best = _wide_counts(
                    (ending, chosen), groups, asked_columns, chosen_columns
                )
    return best


def _wide_counts(
    pair: tuple[str, str],
    groups: list[str],
    asked_columns: dict[str, str],
    chosen_columns: dict[str, str],
) -> WideCounts:
    """Return what the columns of a pair of words count.

    ``groups`` are those with both columns; the columns of "" count all people.
    """
    is_ipeds = pair == _IPEDS
    names = {group: group for group in groups}
    if is_ipeds:
        names = {group: _LETTERS.get(group, group) for group in groups}
    return WideCounts(
        outcome=_CHOSEN[pair[1]],
        feature="sex" if set(names.values()) <= _SEXES else "group",
        groups=tuple(
            WideGroup(
                name=names[group],
                asked=asked_columns[group],
                chosen=chosen_columns[group],
            )
            for group in groups
        ),
        totals=tuple(
            columns[""] for columns in (asked_columns, chosen_columns) if "" in columns
        ),
        layout=IPEDS if is_ipeds else "",
    )


def _is_count(column: "pd.Series[Any]") -> bool:
    """Return whether a column holds numbers that are not yes and no of a person."""
    if not is_number(column):
        return False
    present = column.dropna()
    return not (len(present) and present.isin([0, 1]).all())


def _words(name: str) -> str:
    """Return the words of a name in lower case, with spaces between them."""
    return re.sub(r"[^0-9a-z]+", " ", name.lower()).strip()


def _rests(words_of: dict[str, str], stem: str) -> Iterator[tuple[str, str]]:
    """Yield the rest of each name that begins or ends with a word, and the name."""
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
    parts = []
    n_missing = 0
    for group in wide.groups:
        n_asked = _counts(frame, group.asked)
        chosen = _counts(frame, group.chosen)
        _check_part(n_asked, chosen, group)
        missing = np.isnan(n_asked) | np.isnan(chosen)
        n_missing += int(missing.sum())
        for answer, people in {YES: chosen, NO: n_asked - chosen}.items():
            new_columns = {
                wide.feature: group.name,
                wide.outcome: answer,
                PEOPLE: people,
            }
            part = with_columns(rest, new_columns)
            parts.append(part[~missing & (people > 0)])
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
    """Return a column of counts; ValueError unless whole numbers of 0 or more."""
    if name not in frame:
        raise ValueError(f"The table has no column {name!r} of counts.")
    numbers = pd.to_numeric(frame[name], errors="coerce")
    counts: NDArray[np.float64] = numbers.to_numpy(np.float64, na_value=np.nan)
    missing = frame[name].isna().to_numpy()
    with np.errstate(invalid="ignore"):
        is_count = np.isfinite(counts) & (counts >= 0) & (counts % 1 == 0)
    wrong = np.flatnonzero(~(missing | is_count))
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"{name!r} holds no whole number of 0 or more in {len(wrong):,} rows, "
            f"first row {first + 1} with "
            f"{as_written(frame[name].iloc[first])}. Correct these rows."
        )
    return counts


def _check_part(
    asked: NDArray[np.float64], chosen: NDArray[np.float64], group: WideGroup
) -> None:
    """Raise ValueError where more people have the outcome than there are."""
    wrong = np.flatnonzero(chosen > asked)
    if len(wrong):
        first = wrong[0]
        raise ValueError(
            f"{group.chosen!r} is larger than {group.asked!r} in {len(wrong):,} rows, "
            f"first row {first + 1} with {chosen[first]:,.0f} of {asked[first]:,.0f}. "
            "Correct these rows."
        )
