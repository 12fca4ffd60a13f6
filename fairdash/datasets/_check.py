"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._check_features import feature_findings
from fairdash.datasets._check_sizes import group_findings, subgroup_findings
from fairdash.datasets._check_values import value_findings
from fairdash.datasets._columns import example_rows
from fairdash.datasets._dataset import Dataset
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
from fairdash.datasets._rows import UsedRows, row_reasons
from fairdash.datasets._subgroups import Subgroups

MANY_REPEATS = 0.01
SEVERITIES = ("error", "warning", "note")


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
    so. Of large tables a random sample decides which columns may give the outcome or
    the group away; whether they do is found on all rows.
    """
    if subgroups is None:
        subgroups = Subgroups(columns=roles.subgroup_columns)
    return _listed(_find(frame, roles, subgroups))


def check_subgroups(dataset: Dataset, subgroups: Subgroups) -> pd.DataFrame:
    """List what is doubtful about subgroups, the last part of `check_table`.

    Parameters
    ----------
    dataset : Dataset
    subgroups : Subgroups

    Returns
    -------
    DataFrame
        As of `check_table`, which finds the rest with ``Subgroups()``; see
        `join_checks`.
    """
    used = UsedRows(
        dataset.frame,
        dataset.row_number,
        dataset.y,
        dataset.group,
        dataset.group_names,
    )
    return _listed(subgroup_findings(used, subgroups))


def join_checks(*tables: pd.DataFrame) -> pd.DataFrame:
    """Put findings together, the gravest first."""
    table = pd.concat(tables, ignore_index=True)
    rank = table["severity"].map(SEVERITIES.index)
    return table.iloc[rank.argsort(kind="stable")].reset_index(drop=True)


def _listed(problems: Iterable[Problem]) -> pd.DataFrame:
    ordered = sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    return pd.DataFrame(ordered, columns=list(Problem._fields))


def _find(frame: pd.DataFrame, roles: Roles, subgroups: Subgroups) -> Iterator[Problem]:
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
    reasons = list(row_reasons(frame, roles))
    flags = ~np.any([left_out for _, _, left_out in reasons], axis=0)
    used = UsedRows.of(frame, roles, flags)
    yield from feature_findings(used, roles, names)
    yield from value_findings(used, roles)
    yield from proxy_findings(used, roles, names)
    yield from group_findings(used, roles)
    yield from _repeated_rows(frame, roles, flags)
    yield from _excluded_rows(reasons, len(frame))
    yield from subgroup_findings(used, subgroups)


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


def _excluded_rows(
    reasons: list[tuple[str, str, NDArray[np.bool_]]], n_rows: int
) -> Iterator[Problem]:
    counted = np.zeros(n_rows, dtype=bool)
    for reason, column, flags in reasons:
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
                f"{left_out.sum():,} of {n_rows:,} rows are left out: {reason}{where}.",
                "Nothing needs doing if this is meant.",
            )
