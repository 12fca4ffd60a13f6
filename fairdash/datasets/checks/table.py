"""Everything an analyst should know about a table before trusting its results."""

from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from fairdash.datasets._columns import count_codes, flagged
from fairdash.datasets._dataset import Dataset
from fairdash.datasets._problems import FEATURE_ERRORS, Problem, error, find_errors
from fairdash.datasets._remedies import prepare
from fairdash.datasets._roles import Remedy, Roles
from fairdash.datasets._rows import (
    MISSING_GROUP,
    UsedRows,
    group_codes,
    has_row_rule,
    repeated_rows,
    row_reasons,
)
from fairdash.datasets._subgroups import Subgroups
from fairdash.datasets.checks.features import feature_findings, value_findings
from fairdash.datasets.checks.leakage import encodes_group, proxy_findings

MANY_REPEATS = 0.01
UNEQUAL, CHANCE = 0.05, 0.01  # difference of shares that is a finding, and its p
SEVERITIES = ("error", "warning", "note")
FEW_ROWS = 50
FEW_IN_CELL = 10
_OTHERS = "All others"


def check_table(
    frame: pd.DataFrame, roles: Roles, subgroups: Subgroups | None = None
) -> pd.DataFrame:
    """List what is wrong, doubtful or worth knowing about a table and its roles.

    Returns
    -------
    DataFrame
        One row per finding, the gravest first: ``severity`` ("error": ``make_dataset``
        refuses the table; "warning": results may mislead; "note"), ``check``,
        ``column``, ``rows`` (how many are concerned), ``example_rows`` (their numbers,
        from 1 with the first row below the header), ``message``, ``remedy`` (in words)
        and ``action`` (the `Remedy` to pass to `apply_remedy`, or None where only a
        person can decide). Empty if there is nothing to say, and while no outcome is
        chosen (""). Never raises for what the table holds.

    Notes
    -----
    Counts are over all rows. Of more than 20,000 rows a random sample decides which
    columns give the outcome or the group away, and how proxies rank.
    """
    if subgroups is None:
        subgroups = Subgroups(columns=roles.subgroup_columns)
    return _listed(_find(frame, roles, subgroups) if roles.target else ())


def check_subgroups(dataset: Dataset, subgroups: Subgroups) -> pd.DataFrame:
    """List what is doubtful about subgroups, the last part of `check_table`.

    As of `check_table`, which finds the rest with ``Subgroups()``; see `join_checks`.
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


def readable_checks(checks: pd.DataFrame) -> pd.DataFrame:
    """Return findings as text and numbers, for the screen and for a file.

    ``Severity``, ``Check``, ``Column``, ``Rows``, ``Finding``, ``One click`` (what the
    remedy does, "" where there is none) and ``First rows``.
    """
    actions = [
        action.words() if isinstance(action, Remedy) else ""
        for action in checks["action"]
    ]
    rows = [", ".join(f"{row:,}" for row in rows) for rows in checks["example_rows"]]
    return pd.DataFrame(
        {
            "Severity": checks["severity"],
            "Check": checks["check"],
            "Column": checks["column"],
            "Rows": checks["rows"],
            "Finding": checks["message"],
            "One click": actions,
            "First rows": rows,
        }
    )


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
    yield from _missing_by_group(frame, roles)
    yield from _repeated_rows(frame, roles, flags)
    yield from _excluded_rows(reasons, len(frame))
    yield from subgroup_findings(used, subgroups)


def _missing_by_group(frame: pd.DataFrame, roles: Roles) -> Iterator[Problem]:
    """Yield columns that are missing in some groups more often than in others."""
    group, names = group_codes(frame, roles)
    known = group >= 0
    n = np.bincount(group[known], minlength=len(names))
    for column in (roles.target, *roles.features):
        missing = frame[column].isna().to_numpy()
        counts = np.bincount(group[known], weights=missing[known], minlength=len(n))
        rows = np.stack([counts, n - counts])[:, n > 0]
        if rows.shape[1] < 2 or not rows.sum(axis=1).all():
            continue
        shares = rows[0] / rows.sum(axis=0)
        if np.ptp(shares) < UNEQUAL or chi2_contingency(rows).pvalue >= CHANCE:
            continue
        present = [name for name, size in zip(names, n, strict=True) if size]
        most, least = int(shares.argmax()), int(shares.argmin())
        what = "outcome" if column == roles.target else "feature"
        yield Problem(
            "warning",
            "missing by group",
            column,
            *flagged(missing),
            f"The {what} {column!r} is missing in {shares[most]:.0%} of the rows of "
            f"{present[most]!r} and in {shares[least]:.0%} of those of "
            f"{present[least]!r}, more than chance explains.",
            "Find out why: excluded rows or filled-in values change one group more "
            "than the other.",
        )


def _repeated_rows(
    frame: pd.DataFrame, roles: Roles, used: NDArray[np.bool_]
) -> Iterator[Problem]:
    if has_row_rule(roles):
        return  # they are among the rows excluded
    flags = repeated_rows(frame) & used
    if not flags.any():
        return
    n = len(frame)
    many = flags.sum() > MANY_REPEATS * n and _room_for(frame, n)
    yield Problem(
        "warning" if many else "note",
        "repeated rows",
        "",
        *flagged(flags),
        f"{flags.sum():,} of {n:,} rows repeat an earlier row in every column.",
        "Exclude them if one case is listed twice; keep them if they are different "
        "people with the same values.",
        Remedy(kind="drop_duplicates"),
    )


def _room_for(frame: pd.DataFrame, n: int) -> bool:
    """Tell whether n² combinations are possible, so that repeats are no chance."""
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
                "rows excluded",
                column,
                *flagged(left_out),
                f"{left_out.sum():,} of {n_rows:,} rows are excluded: {reason}{where}.",
                "Nothing needs doing if this is meant.",
            )


def subgroup_findings(used: UsedRows, subgroups: Subgroups) -> Iterator[Problem]:
    """Yield subgroups that are too small, or that hold one group each."""
    known = [name for name in subgroups.columns if name in used.table]
    for name in known:
        if encodes_group(used.table[name], used.group):
            yield Problem(
                "warning",
                "subgroups by group",
                name,
                len(used.table),
                (),
                f"The subgroup column {name!r} tells the group of 99% of the rows, so "
                "its subgroups hold one group each and have no gap.",
                "Take it out of the subgroups.",
                Remedy(kind="not_a_subgroup", column=name),
            )
    if known:
        for part in subgroups.parts():
            yield from _small(used, part)


def group_findings(used: UsedRows, roles: Roles) -> Iterator[Problem]:
    """Yield groups, and outcomes within groups, of too few rows."""
    y, group, names = used.y, used.group, used.group_names
    counts = np.bincount(group, minlength=len(names))
    positives = np.bincount(group, weights=y, minlength=len(names)).astype(np.int64)
    for position in np.flatnonzero(counts < FEW_ROWS):
        flags = group == position
        yield Problem(
            "warning",
            "small group",
            roles.sensitive_feature,
            *used.flagged(flags),
            f"The group {names[position]!r} has {counts[position]:,} rows, too few for "
            "a rate with a useful interval.",
            "Put it together with another group.",
            _merge(counts, names, roles),
        )
    cells = ((g, value) for g in np.flatnonzero(counts >= FEW_ROWS) for value in (1, 0))
    for position, value in cells:
        flags = (group == position) & (y == value)
        n = positives[position] if value else counts[position] - positives[position]
        if n < FEW_IN_CELL:
            yield Problem(
                "warning",
                "small cell",
                roles.sensitive_feature,
                int(n),
                used.examples(flags),
                f"Only {n:,} of {counts[position]:,} rows of the group "
                f"{names[position]!r} have the outcome {value}, too few for a rate "
                "within it.",
                "Put the group together with another one.",
            )


def _merge(
    counts: NDArray[np.int64], names: tuple[str, ...], roles: Roles
) -> Remedy | None:
    """Return the remedy that makes the small groups one, with the next if need be."""
    rest = [i for i, name in enumerate(names) if (roles.groups or {}).get(name) == ()]
    # rows without a value have none that could be named among those of a group
    missing = MISSING_GROUP if roles.sensitive_missing == "group" else None
    order = [
        int(i) for i in np.argsort(counts) if i not in rest and names[i] != missing
    ]
    if (counts[[*rest, *order]] >= FEW_ROWS).all():
        return None
    n_small = int((counts[order] < FEW_ROWS).sum())
    gone = order[: max(n_small, 1 if rest else 2)]
    if roles.sensitive_cuts or roles.crossed_with or len(gone) >= len(order):
        return None
    return Remedy(
        kind="merge_groups",
        column=roles.sensitive_feature,
        values=tuple(names[i] for i in gone),
        into=names[rest[0]] if rest else _OTHERS,
    )


def _small(used: UsedRows, subgroups: Subgroups) -> Iterator[Problem]:
    label = subgroups.label(used.table)
    code = label.cat.codes.to_numpy().astype(np.int64)
    names = list(label.cat.categories)
    sizes = count_codes(code, len(names))
    columns = ", ".join(subgroups.columns)
    action = (
        Remedy(kind="not_a_subgroup", column=subgroups.columns[-1])
        if len(subgroups.columns) > 1
        else None
    )
    small = sizes < subgroups.min_size
    if small.any():
        yield Problem(
            "note",
            "small subgroups",
            columns,
            int(sizes[small].sum()),
            used.examples(np.append(small, False)[code]),
            f"{small.sum():,} of {len(names):,} subgroups have fewer than "
            f"{subgroups.min_size} rows: {_some_sizes(names, sizes, small)}.",
            "Widen the bins or cross fewer columns; these are not estimated.",
            action,
        )


def _some_sizes(
    names: list[str], sizes: NDArray[np.int64], flags: NDArray[np.bool_]
) -> str:
    chosen = np.flatnonzero(flags)
    shown = ", ".join(f"{names[i]} ({sizes[i]:,} rows)" for i in chosen[:3])
    return f"{shown}{' and more' if len(chosen) > 3 else ''}"
