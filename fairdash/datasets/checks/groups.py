"""Findings about columns of groups, and about rows that are written several times.

They hold for any table: *Data* lists them among its checks, and audits from Python and
the command line say them beside their verdict.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import CROSS
from fairdash._wording import plural
from fairdash.datasets import column_kinds
from fairdash.datasets._problems import MOST_GROUPS, Problem, error
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._rows import repeated_rows
from fairdash.datasets.table_notes import notes_of

FEW_ROWS = 10  # in a group of one of many
FEWEST_WRITTEN = 50  # different rows; fewer may repeat by chance


def audit_problems(
    frame: pd.DataFrame, groups: Sequence[str], others: Iterable[str] = ()
) -> Iterator[Problem]:
    """Yield what is doubtful about the columns that an audit uses, and about the rows.

    Parameters
    ----------
    groups : sequence of str
        Columns of the groups.
    others : iterable of str
        Columns whose values matter: of decisions, outcomes and subgroups.
    """
    columns = list(dict.fromkeys([*groups, *others]))
    yield from header_findings(frame, columns)
    for name in columns:
        yield from spelling_findings(frame[name])
    for name in groups:
        yield from group_findings(frame[name])
    if len(groups) > 1:
        rows = frame[list(groups)].dropna()
        sizes = np.asarray(rows.groupby(list(groups), observed=True).size(), np.int64)
        yield from many_groups(CROSS.join(groups), sizes)
    yield from repetition_findings(frame)


def audit_remarks(
    frame: pd.DataFrame, groups: Sequence[str], others: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the findings of `audit_problems` as sentences with their remedies.

    Raises ValueError where a column makes no groups at all.
    """
    remarks = []
    for problem in audit_problems(frame, groups, others):
        text = f"{problem.message} {problem.remedy}"
        if problem.severity == "error":
            raise ValueError(text)
        remarks.append(text)
    return tuple(remarks)


def header_findings(frame: pd.DataFrame, columns: Collection[str]) -> Iterator[Problem]:
    """Yield the columns whose name stands twice in the header of the file."""
    for name, written in notes_of(frame).renamed.items():
        if name in columns or written in columns:
            yield Problem(
                "warning",
                "duplicate header",
                name,
                len(frame),
                f"The header has {written!r} more than once: {written!r} is the first "
                f"column of that name, {name!r} a later one.",
                "Use the one that is meant, or rename one in the file.",
            )


def spelling_findings(column: "pd.Series[Any]") -> Iterator[Problem]:
    """Yield that values differ by capitals or spaces only: each is a group."""
    if column_kinds.is_number(column) or column_kinds.is_nested(column):
        return
    codes, labels = column_kinds.label_codes(column)
    yield from spellings(str(column.name), codes, labels)


def spellings(
    name: str, codes: NDArray[np.int64], labels: Sequence[str]
) -> Iterator[Problem]:
    """Yield that labels differ by capitals or spaces only, with the usual spelling."""
    codes_by_spelling: dict[str, list[int]] = {}
    for code, label in enumerate(labels):
        plain = " ".join(label.lower().split())
        codes_by_spelling.setdefault(plain, []).append(code)
    if len(codes_by_spelling) == len(labels):
        return
    counts = column_kinds.count_codes(codes, len(labels))
    changes: dict[str, str] = {}
    for same in codes_by_spelling.values():
        usual = max(same, key=lambda code: int(counts[code]))
        for code in same:
            if code != usual:
                changes[labels[code]] = labels[usual]
    is_changed = [label in changes for label in labels]
    n_changed = column_kinds.by_code(is_changed, codes, missing=False).sum()
    old, new = next(iter(changes.items()))
    yield Problem(
        "warning",
        "spellings",
        name,
        int(n_changed),
        f"{name!r} has values that differ by capitals or spaces only, such as "
        f"{old!r} and {new!r}.",
        "Write each in its usual way.",
        Remedy(kind="recode", column=name, changes=changes),
    )


def group_findings(column: "pd.Series[Any]") -> Iterator[Problem]:
    """Yield why the values of a column make no groups, or too many to compare."""
    name = str(column.name)
    # Nested cells are refused elsewhere.
    if column_kinds.is_nested(column):
        return
    codes, labels = column_kinds.label_codes(column)
    sizes = column_kinds.count_codes(codes, len(labels))
    if len(labels) > MOST_GROUPS and 2 * len(labels) > sizes.sum():
        yield error(
            "too many groups",
            name,
            f"{name!r} makes {plural(len(labels), 'group')} of "
            f"{plural(int(sizes.sum()), 'row')}: it names rows, not groups.",
            "Choose another column, or put its values into ranges.",
            int(sizes.sum()),
        )
        return
    if len(labels) > 1 and column_kinds.infer_kind(column) == "date":
        yield Problem(
            "warning",
            "dates as groups",
            name,
            int(sizes.sum()),
            f"{name!r} holds dates, and each of {len(labels):,} is a group.",
            "Use its year, or ranges of it.",
        )
        return
    yield from many_groups(name, sizes)


def many_groups(feature: str, sizes: NDArray[np.int64]) -> Iterator[Problem]:
    """Yield that there are more groups than can be compared, and how many are small."""
    if len(sizes) <= MOST_GROUPS:
        return
    small = int((sizes < FEW_ROWS).sum())
    yield Problem(
        "warning",
        "many groups",
        feature,
        int(sizes.sum()),
        f"{feature!r} makes {len(sizes):,} groups, {small:,} of them with fewer than "
        f"{FEW_ROWS} rows.",
        "Put values together, cut numbers in ranges, or cross fewer columns.",
    )


def repetition_findings(frame: pd.DataFrame) -> Iterator[Problem]:
    """Yield that rows are written several times, where chance does not explain it."""
    flags = repeated_rows(frame)
    if not flags.any():
        return
    times = written_times(frame)
    if times > 1:
        message = f"Every row is written {times} times, or a multiple of it."
    elif _names_rows(frame[~flags]):
        message = (
            f"{flags.sum():,} of {len(frame):,} rows repeat an earlier row in every "
            "column, although a column tells all other rows apart."
        )
    else:
        return
    yield Problem(
        "warning",
        "repeated rows",
        "",
        int(flags.sum()),
        f"{message} Intervals are too narrow.",
        "Exclude repeated rows, or name the unit of each row.",
        Remedy(kind="drop_duplicates"),
    )


def written_times(frame: pd.DataFrame) -> int:
    """Return the largest k so that every different row is written a multiple of k.

    It is 1 where there are too few different rows to say.
    """
    plain = frame[[name for name in frame if not column_kinds.is_nested(frame[name])]]
    hashed = pd.util.hash_pandas_object(plain, index=False)
    counts = hashed.value_counts().to_numpy()
    if len(counts) < FEWEST_WRITTEN:
        return 1
    return int(np.gcd.reduce(counts))


def _names_rows(distinct: pd.DataFrame) -> bool:
    """Tell whether a column has another value in every row."""
    if len(distinct) < FEWEST_WRITTEN:
        return False
    columns = (distinct[name] for name in distinct)
    return any(
        not column_kinds.is_nested(column) and column.is_unique for column in columns
    )
