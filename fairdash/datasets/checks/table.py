"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._problems import FEATURE_ERRORS, Problem, error, find_errors
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import UsedRows, has_row_rule, repeated_rows, used_rows
from fairdash.datasets.checks.features import value_findings
from fairdash.datasets.checks.groups import (
    group_findings,
    header_findings,
    repetition_findings,
    written_times,
)
from fairdash.datasets.checks.leakage import leak_findings
from fairdash.datasets.checks.proxies import proxy_findings
from fairdash.datasets.column_kinds import SCREEN_COLUMNS
from fairdash.datasets.remedies import prepare

SEVERITIES = ("error", "warning", "note")
FEW_ROWS = 50
FEW_IN_CELL = 10


def check_table(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """List what is wrong, doubtful or worth knowing about a table and its roles.

    Returns
    -------
    DataFrame
        One row per finding, the gravest first: ``severity`` ("error": ``make_dataset``
        refuses the table; "warning": results may mislead; "note"), ``check``,
        ``column``, ``rows`` (how many are concerned), ``message``, ``remedy`` (in
        words) and ``action`` (the `Remedy` to pass to `apply_remedy`, or None where
        only a person can decide). Empty if there is nothing to say, and while no
        outcome is chosen (""). Never raises for what the table holds.

    Notes
    -----
    Counts are over all rows. Of more than 20,000 rows a random sample decides which
    columns give the outcome or the group away. Of more than 200 columns with a role
    the first are looked at for what is doubtful, and a note says so; every error is
    found.
    """
    problems = list(_find(frame, roles)) if roles.target else []
    problems.sort(key=lambda problem: SEVERITIES.index(problem.severity))
    return pd.DataFrame(problems, columns=list(Problem._fields))


def readable_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Return findings as text and numbers, for the screen and for a file.

    ``Severity``, ``Check``, ``Column``, ``Rows``, ``Finding`` and ``One click``: what
    the remedy does, "" where there is none.
    """
    actions = [
        action.words() if isinstance(action, Remedy) else ""
        for action in checks["action"]
    ]
    return pd.DataFrame(
        {
            "Severity": checks["severity"],
            "Check": checks["check"],
            "Column": checks["column"],
            "Rows": checks["rows"],
            "Finding": checks["message"],
            "One click": actions,
        }
    )


def _find(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    if frame.columns.is_unique:  # else find_errors says so
        try:
            frame = prepare(frame, roles)
        except ValueError as refusal:
            remedy = "Undo the change, or change it."
            yield error("change does not fit", "", str(refusal), remedy)
            return
    errors = list(find_errors(frame, roles))
    yield from errors
    if not all(problem.check in FEATURE_ERRORS for problem in errors):
        return
    broken = {problem.column for problem in errors}
    names = [name for name in roles.features if name not in broken]
    flags = used_rows(frame, roles)
    used = UsedRows.of(frame, roles, flags)
    yield from leak_findings(used, names)
    yield from proxy_findings(used, roles, names)
    yield from value_findings(used, roles)
    yield from header_findings(frame, frozenset(roles.columns()))
    yield from _dates_as_groups(used, roles)
    yield from _small_groups(used, roles)
    yield from _repeated_rows(frame, roles, flags)
    yield from _not_looked_at(frame, roles)


def _not_looked_at(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Say what the guess and the checks left out of a wide table."""
    n_used, n_columns = len(roles.columns()), len(frame.columns)
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


def _repeated_rows(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    if has_row_rule(roles):
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


def _dates_as_groups(used: UsedRows, roles: Roles) -> Iterator[Problem]:
    for name in roles.sensitive_columns():
        declared = name == roles.sensitive_feature and roles.groups is not None
        if not declared:
            problems = group_findings(used.table[name])
            yield from (each for each in problems if each.check == "dates as groups")


def _small_groups(used: UsedRows, roles: Roles) -> Iterator[Problem]:
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
            roles.sensitive_feature,
            int(rows.sum()),
            f"The group {name!r} {why}, too few for a rate with a useful interval.",
            "Put it together with another group.",
        )
