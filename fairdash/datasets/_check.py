"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import (
    count_labels,
    example_rows,
    is_number,
    label_codes,
)
from fairdash.datasets._encode import MIN_LEVEL_ROWS
from fairdash.datasets._giveaway import giveaway, gives_group_away, is_score
from fairdash.datasets._problems import (
    FEATURE_ERRORS,
    Problem,
    find_errors,
    group_codes,
    row_reasons,
    used_rows,
)
from fairdash.datasets._roles import Roles
from fairdash.datasets._subgroups import Subgroups

MANY_MISSING = 0.2
MANY_VALUES = 0.2
FEW_ROWS = 50


def check_table(frame: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """List what is wrong, doubtful or worth knowing about a table and its roles.

    Parameters
    ----------
    frame : DataFrame
    roles : Roles

    Returns
    -------
    DataFrame
        One row per finding, the gravest first: ``severity`` ("error": ``make_dataset``
        refuses the table; "warning": results may mislead; "note"), ``check``,
        ``column``, ``rows`` (how many are concerned), ``example_rows`` (their numbers,
        from 1 with the first row below the header), ``message``, ``remedy``. Empty if
        there is nothing to say. Never raises for what the table holds.
    """
    problems = list(find_errors(frame, roles))
    if all(problem.check in FEATURE_ERRORS for problem in problems):
        broken = {problem.column for problem in problems}
        names = [name for name in roles.features if name not in broken]
        used = used_rows(frame, roles)
        problems += _feature_findings(frame, roles, used, names)
        problems += _size_findings(frame, roles, used)
        problems += _excluded_rows(frame, roles)
    order = ("error", "warning", "note")
    problems.sort(key=lambda problem: order.index(problem.severity))
    return pd.DataFrame(problems, columns=list(Problem._fields))


def _feature_findings(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_], names: list[str]
) -> Iterator[Problem]:
    table = frame[used]
    target, labels = label_codes(table[roles.target])
    y = (target == labels.index(roles.positive)).astype(np.int8)
    group, _ = group_codes(table[roles.sensitive_feature], roles)
    for name in names:
        column = table[name]
        if column.nunique() < 2:
            yield Problem(
                "warning",
                "constant",
                name,
                len(column),
                (),
                f"The feature {name!r} has one value in all rows used: "
                f"{count_labels(column) or 'none'}.",
                "Remove it; it is dropped before training.",
            )
            continue
        reason = giveaway(column, y)
        if reason:
            yield Problem(
                "warning",
                "leak",
                name,
                len(column),
                (),
                f"The feature {name!r} may give the outcome away: {reason}.",
                "Remove it if it is known only after the outcome or made from it.",
            )
        if is_score(name):
            yield Problem(
                "warning",
                "model score",
                name,
                len(column),
                (),
                f"The name of the feature {name!r} says that it is the output of "
                "another model.",
                "Remove it unless the new model is meant to build on the old one.",
            )
        if gives_group_away(column, group):
            yield Problem(
                "warning",
                "proxy",
                name,
                len(column),
                (),
                f"The feature {name!r} tells the group of 99 % of the rows, so models "
                f"see the sensitive feature {roles.sensitive_feature!r} through it.",
                "Remove it unless this is meant.",
            )
        yield from _level_findings(frame, used, name)
        yield from _missing_findings(frame, used, name)


def _level_findings(
    frame: pd.DataFrame, used: NDArray[np.bool_], name: str
) -> Iterator[Problem]:
    if is_number(frame[name]):
        return
    codes, labels = label_codes(frame[name].where(used))
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    n_levels = np.count_nonzero(counts)
    if n_levels > max(MANY_VALUES * counts.sum(), 20):
        yield Problem(
            "warning",
            "many values",
            name,
            int(counts.sum()),
            (),
            f"The feature {name!r} has {n_levels:,} different values in "
            f"{counts.sum():,} rows: free text or an identifier.",
            "Remove it or put its values together.",
        )
        return
    rare = (counts > 0) & (counts < MIN_LEVEL_ROWS)
    if rare.any():
        flags = (codes >= 0) & rare[codes]
        yield Problem(
            "note",
            "rare levels",
            name,
            int(flags.sum()),
            example_rows(flags),
            f"{rare.sum():,} of {n_levels:,} values of {name!r} come in fewer than "
            f"{MIN_LEVEL_ROWS} rows.",
            "Nothing needs doing: they share the column (other).",
        )


def _missing_findings(
    frame: pd.DataFrame, used: NDArray[np.bool_], name: str
) -> Iterator[Problem]:
    flags = frame[name].isna().to_numpy() & used
    if not flags.any():
        return
    share = flags.sum() / used.sum()
    filled_in = "the training median" if is_number(frame[name]) else "a level (missing)"
    yield Problem(
        "warning" if share > MANY_MISSING else "note",
        "missing values",
        name,
        int(flags.sum()),
        example_rows(flags),
        f"The feature {name!r} is missing in {flags.sum():,} of {used.sum():,} rows.",
        f"They get {filled_in}; or leave these rows out, or remove the feature.",
    )


def _size_findings(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    group, names = group_codes(frame[roles.sensitive_feature], roles)
    counts = np.bincount(group[used], minlength=len(names))
    for position in np.flatnonzero((counts > 0) & (counts < FEW_ROWS)):
        flags = used & (group == position)
        yield Problem(
            "warning",
            "small group",
            roles.sensitive_feature,
            int(flags.sum()),
            example_rows(flags),
            f"The group {names[position]!r} has {counts[position]:,} rows, too few for "
            "a rate with a useful interval.",
            "Put it together with another group.",
        )
    if not roles.subgroup_columns:
        return
    label = Subgroups(columns=roles.subgroup_columns).label(frame[used])
    sizes = label.value_counts(sort=False)
    small = sizes[sizes < FEW_ROWS]
    if len(small):
        flags = np.zeros(len(frame), dtype=bool)
        flags[np.flatnonzero(used)] = label.isin(small.index).to_numpy()
        shown = ", ".join(f"{name} ({size} rows)" for name, size in small[:3].items())
        yield Problem(
            "note",
            "small subgroups",
            ", ".join(roles.subgroup_columns),
            int(small.sum()),
            example_rows(flags),
            f"{len(small)} of {len(sizes)} subgroups have fewer than {FEW_ROWS} rows: "
            f"{shown}{' and more' if len(small) > 3 else ''}.",
            "Widen the bins or cross fewer columns; these are not estimated.",
        )


def _excluded_rows(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    counted = np.zeros(len(frame), dtype=bool)
    for reason, column, flags in row_reasons(frame, roles):
        left_out = flags & ~counted
        counted |= flags
        if left_out.any():
            yield Problem(
                "note",
                "rows left out",
                column,
                int(left_out.sum()),
                example_rows(left_out),
                f"{left_out.sum():,} of {len(frame):,} rows are left out: {reason} "
                f"({column!r}).",
                "Nothing needs doing if this is meant.",
            )
