"""Checks of the rows: repeated ones, small groups, and what was not looked at."""

from collections.abc import Iterator

from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._rows import has_row_rule, repeated_rows
from fairdash.datasets.checks.examined import Examined
from fairdash.datasets.checks.groups import (
    group_findings,
    repetition_findings,
    written_times,
)
from fairdash.datasets.column_kinds import SCREEN_COLUMNS

FEW_ROWS = 50
FEW_IN_CELL = 10


def width_findings(table: Examined) -> Iterator[Problem]:
    """Say what the guess and the checks left out of a wide table."""
    roles = table.roles
    n_used = len(roles.columns())
    n_columns = len(table.frame.columns)
    if n_used > SCREEN_COLUMNS:
        message = (
            f"{n_used:,} columns have a role. The first {SCREEN_COLUMNS} were "
            "looked at for values that give the outcome away or look missing."
        )
        remedy = "Exclude features that you do not need, to have all of them checked."
    elif roles.guessed and n_columns > SCREEN_COLUMNS:
        message = (
            f"The table has {n_columns:,} columns. The guess looked at "
            f"{SCREEN_COLUMNS} of them, and the others are no features."
        )
        remedy = "Add those that you need to the features."
    else:
        return
    yield Problem("note", "wide table", "", 0, message, remedy)


def repeated_findings(table: Examined) -> Iterator[Problem]:
    """Yield that rows repeat earlier ones in every column."""
    if has_row_rule(table.roles):
        return  # they are among the rows excluded
    frame = table.frame
    used = table.flags
    flags = repeated_rows(frame) & used
    n_repeated = int(flags.sum())
    if not n_repeated:
        return
    # A table written twice repeats half of its rows, or more.
    if 2 * n_repeated >= used.sum() and written_times(frame[used]) > 1:
        yield from repetition_findings(frame[used])
        return
    yield Problem(
        "note",
        "repeated rows",
        "",
        n_repeated,
        f"{n_repeated:,} of {len(frame):,} rows repeat an earlier row in every column.",
        "Exclude them if one case is listed twice; keep them if they are different "
        "people with the same values.",
        Remedy(kind="drop_duplicates"),
    )


def date_findings(table: Examined) -> Iterator[Problem]:
    """Yield the columns of groups whose values are dates."""
    roles = table.roles
    for name in roles.sensitive_columns():
        if name == roles.sensitive_feature and roles.groups is not None:
            continue  # somebody chose the groups
        for problem in group_findings(table.used.table[name]):
            if problem.check == "dates as groups":
                yield problem


def small_group_findings(table: Examined) -> Iterator[Problem]:
    """Yield the groups with too few rows, or too few of an outcome."""
    used = table.used
    for position, name in enumerate(used.group_names):
        rows = used.group == position
        n_rows = int(rows.sum())
        n_positive = int(used.y[rows].sum())
        fewest = min(n_positive, n_rows - n_positive)
        if n_rows >= FEW_ROWS and fewest >= FEW_IN_CELL:
            continue
        why = f"has {n_rows:,} rows"
        if n_rows >= FEW_ROWS:
            why += f" and {fewest:,} of one outcome"
        yield Problem(
            "warning",
            "small group",
            table.roles.sensitive_feature,
            n_rows,
            f"The group {name!r} {why}, too few for a rate with a useful interval.",
            "Put it together with another group.",
        )
