"""Checks of the rows: repeated ones, small groups, and what was not looked at."""

from collections.abc import Iterator

from fairdash.datasets._problems import Problem
from fairdash.datasets._roles import Remedy
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
    n_used, n_columns = len(roles.columns()), len(table.frame.columns)
    if n_used > SCREEN_COLUMNS:
        message = f"{n_used:,} columns have a role. The first {SCREEN_COLUMNS} were "
        message += "looked at for values that give the outcome away or look missing."
        remedy = "Exclude features that you do not need, to have all of them checked."
    elif roles.guessed and n_columns > SCREEN_COLUMNS:
        message = f"The table has {n_columns:,} columns. The guess looked at "
        message += f"{SCREEN_COLUMNS} of them, and the others are no features."
        remedy = "Add those that you need to the features."
    else:
        return
    yield Problem("note", "wide table", "", 0, message, remedy)


def repeated_findings(table: Examined) -> Iterator[Problem]:
    """Yield that rows repeat earlier ones in every column."""
    frame, used = table.frame, table.flags
    if has_row_rule(table.roles):
        return  # they are among the rows excluded
    flags = repeated_rows(frame) & used
    if not flags.any():
        return
    may_be_all = 2 * flags.sum() >= used.sum()
    if may_be_all and written_times(frame[used]) > 1:
        yield from repetition_findings(frame[used])
        return
    n = len(frame)
    yield Problem(
        "note",
        "repeated rows",
        "",
        int(flags.sum()),
        f"{flags.sum():,} of {n:,} rows repeat an earlier row in every column.",
        "Exclude them if one case is listed twice; keep them if they are different "
        "people with the same values.",
        Remedy(kind="drop_duplicates"),
    )


def date_findings(table: Examined) -> Iterator[Problem]:
    """Yield the columns of groups whose values are dates."""
    roles = table.roles
    for name in roles.sensitive_columns():
        declared = name == roles.sensitive_feature and roles.groups is not None
        if not declared:
            problems = group_findings(table.used.table[name])
            yield from (each for each in problems if each.check == "dates as groups")


def small_group_findings(table: Examined) -> Iterator[Problem]:
    """Yield the groups with too few rows, or too few of an outcome."""
    used = table.used
    for position, name in enumerate(used.group_names):
        rows = used.group == position
        n, positives = int(rows.sum()), int(used.y[rows].sum())
        fewest = min(positives, n - positives)
        if n >= FEW_ROWS and fewest >= FEW_IN_CELL:
            continue
        why = f"has {n:,} rows"
        if n >= FEW_ROWS:
            why += f" and {fewest:,} of one outcome"
        yield Problem(
            "warning",
            "small group",
            table.roles.sensitive_feature,
            int(rows.sum()),
            f"The group {name!r} {why}, too few for a rate with a useful interval.",
            "Put it together with another group.",
        )
