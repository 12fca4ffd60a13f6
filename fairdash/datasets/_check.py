"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._check_features import feature_findings
from fairdash.datasets._check_sizes import size_findings
from fairdash.datasets._check_values import value_findings
from fairdash.datasets._columns import example_rows
from fairdash.datasets._prepare import has_row_rule, prepare, repeated_rows
from fairdash.datasets._problems import (
    FEATURE_ERRORS,
    Problem,
    error,
    find_errors,
)
from fairdash.datasets._proxies import proxy_findings
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import row_reasons, used_rows
from fairdash.datasets._subgroups import Subgroups

MANY_REPEATS = 0.01


def check_table(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups | None = None
) -> pd.DataFrame:
    """List what is wrong, doubtful or worth knowing about a table and its roles.

    Parameters
    ----------
    frame : DataFrame
    roles : Roles
    subgroups : Subgroups, optional
        By default ``roles.subgroup_columns`` crossed.

    Returns
    -------
    DataFrame
        One row per finding, the gravest first: ``severity`` ("error": ``make_dataset``
        refuses the table; "warning": results may mislead; "note"), ``check``,
        ``column``, ``rows`` (how many are concerned), ``example_rows`` (their numbers,
        from 1 with the first row below the header), ``message``, ``remedy`` (in words)
        and ``action`` (the `Remedy` to pass to `apply_remedy`, or None where only a
        person can decide). Empty if there is nothing to say. Never raises for what the
        table holds.

    Notes
    -----
    Counts are over all rows. Only the ranking of proxies looks at a sample, and says
    so.
    """
    problems = list(_find(frame, roles, subgroups))
    order = ("error", "warning", "note")
    problems.sort(key=lambda problem: order.index(problem.severity))
    return pd.DataFrame(problems, columns=list(Problem._fields))


def _find(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups | None
) -> Iterator[Problem]:
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
    used = used_rows(frame, roles)
    table = frame if used.all() else frame[used]
    numbers = np.flatnonzero(used)
    columns = Subgroups(columns=roles.subgroup_columns) if subgroups is None else None
    yield from feature_findings(table, roles, numbers, names)
    yield from value_findings(table, roles, numbers)
    yield from proxy_findings(table, roles, names)
    yield from size_findings(table, roles, columns or subgroups or Subgroups(), numbers)
    yield from _repeated_rows(frame, roles, used)
    yield from _excluded_rows(frame, roles)


def _repeated_rows(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    if has_row_rule(roles):
        return  # they are among the rows left out
    flags = repeated_rows(frame) & used
    if not flags.any():
        return
    n = len(frame)
    many = flags.sum() > MANY_REPEATS * n and _room_for(frame, n)
    yield Problem(
        "warning" if many else "note",
        "repeated rows",
        "",
        int(flags.sum()),
        example_rows(flags),
        f"{flags.sum():,} of {n:,} rows repeat an earlier row in every column.",
        "Leave them out if one case is listed twice; keep them if they are different "
        "people with the same values.",
        Remedy(kind="drop_duplicates"),
    )


def _room_for(frame: pd.DataFrame, n: int) -> bool:
    """Tell whether the columns allow so many combinations that repeats are no chance.

    With n² equally likely combinations fewer than one repeat is expected.
    """
    room = 0.0
    for name in frame:
        room += np.log(max(frame[name].nunique(), 1))
        if room > 2 * np.log(n):
            return True
    return False


def _excluded_rows(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    counted = np.zeros(len(frame), dtype=bool)
    for reason, column, flags in row_reasons(frame, roles):
        left_out = flags & ~counted
        counted |= flags
        if left_out.any():
            where = f" ({column!r})" if column else ""
            yield Problem(
                "note",
                "rows left out",
                column,
                int(left_out.sum()),
                example_rows(left_out),
                f"{left_out.sum():,} of {len(frame):,} rows are left out: {reason}"
                f"{where}.",
                "Nothing needs doing if this is meant.",
            )
