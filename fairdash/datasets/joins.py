"""A second table joined to a first: columns of people that stand in another file."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of, check_unique
from fairdash._wording import listing, plural
from fairdash.datasets.column_kinds import (
    by_code,
    example_rows,
    is_nested,
    label_codes,
)
from fairdash.datasets.table_notes import JoinedTable, notes_of

MOST_EXAMPLES = 3


def join_tables(
    frame: pd.DataFrame,
    other: pd.DataFrame,
    by: Sequence[str],
    *,
    name: str,
    table: str = "",
) -> pd.DataFrame:
    """Add the columns of a second table to the rows whose keys it has.

    Many rows may have one key, as several loans of a person; in the second table a key
    stands once. So no row is doubled and none goes: rows without a match lack the new
    columns, and are counted in the notes of the table (`notes_of`).

    Parameters
    ----------
    frame, other : DataFrame
        The rows, and the table with further columns.
    by : sequence of str
        Columns of keys, which both tables have; "id=person" where the second calls
        ``id`` person. Values are equal if their labels are: 1, 1.0 and "1".
    name : str
        Name of the second table, for messages and notes. A column of a name that the
        first has too gets it in brackets.
    table : str
        Digest of the second table where a store keeps it, for `join_again`.

    Raises
    ------
    ValueError
        If a key is no column of both tables, stands twice in the second, or no row has
        a match.
    """
    check_unique(frame)
    check_unique(other)
    pairs = [_pair(text, frame, other, name) for text in by]
    if not pairs:
        raise ValueError(
            f"Name the columns that {name} is joined by, such as an id of the person."
        )
    keys = [key for key, _ in pairs]
    other_keys = [key for _, key in pairs]
    codes, other_codes = _codes(frame, other, pairs)
    _check_single(other, other_codes, other_keys, name)
    positions = _positions(codes, other_codes)
    matched = positions >= 0
    if not matched.any():
        raise ValueError(_no_match(frame, other, pairs, name))
    added = other.drop(columns=other_keys)
    added.columns = [_free_name(str(column), frame, name) for column in added.columns]
    # A row without a match takes the first row's values, which are then blanked.
    values = added.take(np.where(matched, positions, 0)).set_axis(frame.index)
    if not matched.all():
        values = values.where(pd.Series(matched, index=frame.index), axis=0)
    joined = pd.concat([frame, values], axis=1)
    note = JoinedTable(
        name=name,
        by=tuple(keys),
        other_by=tuple(other_keys),
        columns=tuple(map(str, added)),
        table=table,
        n_rows=len(frame),
        n_unmatched=int((~matched).sum()),
        n_unused=len(other) - len(np.unique(positions[matched])),
    )
    notes = notes_of(frame)
    return notes.model_copy(update={"joined": (*notes.joined, note)}).put(joined)


def join_again(
    frame: pd.DataFrame,
    joined: Sequence[JoinedTable],
    needed: Collection[str],
    read: Callable[[str], pd.DataFrame],
    *,
    name: str,
) -> pd.DataFrame:
    """Join to new rows the tables that the rows before them were joined with.

    A table is joined if one of its columns is needed and the new rows lack it. A column
    that they have already stays as it is.

    Parameters
    ----------
    joined : sequence of JoinedTable
        Notes of the rows before, see `notes_of`.
    needed : collection of str
    read : callable
        Returns a kept table by its digest; ValueError where it is not kept.
    name : str
        Name of the new rows, for messages.

    Raises
    ------
    ValueError
        Where the new rows have no key, the second table is not kept, or no row has a
        match: with the column that is missing and the way out.
    """
    for note in joined:
        missing = [c for c in note.columns if c in needed and c not in frame]
        if not missing:
            continue
        lack = f"{name} has no column {missing[0]!r}"
        origin = f"Before, it came from {note.name}, joined by {listing(note.by)}"
        keys = [key for key in note.by if key not in frame]
        if keys:
            raise ValueError(
                f"{lack}. {origin}, and {keys[0]!r} is missing as well. Add "
                f"{keys[0]!r}, so that {note.name} is joined here too, or add "
                f"{missing[0]!r}."
            )
        try:
            if not note.table:
                raise ValueError(f"{note.name} was not kept.")
            second_table = read(note.table)
        except ValueError as error:
            raise ValueError(
                f"{lack}. {origin}, and that table is not kept here. Join it first: "
                "“Join a second file” on Data, or `join_tables` in Python."
            ) from error
        # The columns get the names that they had in the table before.
        non_keys = [
            column for column in second_table if str(column) not in note.other_by
        ]
        second_table = second_table.rename(
            columns=dict(zip(non_keys, note.columns, strict=True))
        )
        key_pairs = zip(note.by, note.other_by, strict=True)
        by = [f"{key}={other_key}" for key, other_key in key_pairs]
        frame = join_tables(frame, second_table, by, name=note.name, table=note.table)
    return frame


def _pair(
    text: str, frame: pd.DataFrame, other: pd.DataFrame, name: str
) -> tuple[str, str]:
    """Return the key in each table that a text such as "id" or "id=person" names."""
    if text in frame:  # the name of a column may hold a "="
        key = text
        other_key = text
    else:
        key, sign, renamed = text.partition("=")
        other_key = renamed if sign else key
    check_one_of("by", key, list(map(str, frame)))
    if other_key not in other:
        columns = [str(column) for column in other][:20]
        raise ValueError(
            f"{name} has no column {other_key!r} to join by. Choose one of {columns}; "
            f"write {key}=COLUMN where it has another name there."
        )
    for column in (frame[key], other[other_key]):
        if is_nested(column):
            raise ValueError(f"{column.name!r} holds lists or records, and no keys.")
    return key, other_key


def _codes(
    frame: pd.DataFrame, other: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number for the key of each row, the same in both tables; -1: missing."""
    n_rows = len(frame)
    combined: NDArray[np.int64] = np.zeros(n_rows + len(other), dtype=np.int64)
    missing = np.zeros(len(combined), dtype=bool)
    for key, other_key in pairs:
        codes, labels = label_codes(frame[key])
        other_codes, other_labels = label_codes(other[other_key])
        code_of = {label: code for code, label in enumerate(labels)}
        for label in other_labels:
            code_of.setdefault(label, len(code_of))
        shared_codes = [code_of[label] for label in other_labels]
        other_codes = by_code(shared_codes, other_codes, missing=-1)
        all_codes = np.concatenate([codes, other_codes]).astype(np.int64)
        missing |= all_codes < 0
        # Numbered anew after each column, so that many keys do not overflow.
        combined = combined * (len(code_of) + 1) + all_codes
        _, combined = np.unique(combined, return_inverse=True)
    combined = np.where(missing, -1, combined)
    return combined[:n_rows], combined[n_rows:]


def _positions(
    codes: NDArray[np.int64], other_codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the row of the second table for each row of the first, -1 without one."""
    size = max(int(codes.max(initial=-1)), int(other_codes.max(initial=-1))) + 2
    row_of = np.full(size, -1, dtype=np.int64)
    present = np.flatnonzero(other_codes >= 0)
    row_of[other_codes[present]] = present
    return row_of[codes]  # the last entry answers to -1


def _check_single(
    other: pd.DataFrame, codes: NDArray[np.int64], keys: list[str], name: str
) -> None:
    """Raise ValueError when several rows of the second table have one key."""
    present = codes[codes >= 0]
    repeated = np.flatnonzero(np.bincount(present) > 1)
    if not len(repeated):
        return
    flags = codes == repeated[0]
    first = other.loc[flags, keys].iloc[0]
    values = listing(f"{key} = {first[key]}" for key in keys)
    raise ValueError(
        f"{plural(len(repeated), 'key')} of {name} in more than one row, such as "
        f"{values} in the rows {list(example_rows(flags))}: it is not clear whose "
        f"values a row gets. Keep one row for each {' and '.join(keys)}, or join by "
        "further columns."
    )


def _no_match(
    frame: pd.DataFrame,
    other: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    name: str,
) -> str:
    """Return the message of a join without a match, with examples of the keys."""
    key, other_key = pairs[0]
    examples = _example_labels(frame[key])
    other_examples = _example_labels(other[other_key])
    return (
        f"No row has a match in {name}: {key!r} is {examples} here, and {other_key!r} "
        f"is {other_examples} there. Choose other keys, or write them alike."
    )


def _example_labels(column: "pd.Series[Any]") -> str:
    """Return the first labels of a column in words."""
    _, labels = label_codes(column)
    return ", ".join(labels[:MOST_EXAMPLES]) or "nothing"


def _free_name(column: str, frame: pd.DataFrame, name: str) -> Any:
    """Return the name of a joined column, with its table's where it is taken."""
    return f"{column} ({name})" if column in frame else column
