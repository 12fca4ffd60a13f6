"""Findings about sizes: groups, subgroups and their outcomes with too few rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdash.datasets._columns import count_codes
from fairdash.datasets._giveaway import gives_group_away
from fairdash.datasets._problems import Problem
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._rows import UsedRows
from fairdash.datasets._subgroups import Subgroups

FEW_ROWS = 50
FEW_IN_CELL = 10
_OTHERS = "All others"


def subgroup_findings(used: UsedRows, subgroups: Subgroups) -> Iterator[Problem]:
    """Yield subgroups that are too small, or that hold one group each."""
    known = [name for name in subgroups.columns if name in used.table]
    for name in known:
        if gives_group_away(used.table[name], used.group):
            yield Problem(
                "warning",
                "subgroups by group",
                name,
                len(used.table),
                (),
                f"The subgroup column {name!r} tells the group of 99 % of the rows, so "
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
            int(flags.sum()),
            used.examples(flags),
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
    """Return the remedy that makes the small groups one, with the next if need be.

    None where that leaves one group, or groups are no values of a single column.
    """
    rest = [i for i, name in enumerate(names) if (roles.groups or {}).get(name) == ()]
    order = [int(i) for i in np.argsort(counts) if i not in rest]
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
    names, n_groups = list(label.cat.categories), len(used.group_names)
    cell = (code * n_groups + used.group) * 2 + used.y
    cell[code < 0] = -1
    cells = count_codes(cell, len(names) * n_groups * 2)
    cells = cells.reshape(len(names), n_groups, 2)
    sizes = cells.sum(axis=(1, 2))
    columns = ", ".join(subgroups.columns)
    action = (
        Remedy(kind="not_a_subgroup", column=subgroups.columns[-1])
        if len(subgroups.columns) > 1
        else None
    )
    small = sizes < subgroups.min_size
    thin = ~small & (cells.min(axis=(1, 2)) < FEW_IN_CELL)
    if small.any():
        yield Problem(
            "note",
            "small subgroups",
            columns,
            int(sizes[small].sum()),
            used.examples(np.append(small, False)[code]),
            f"{small.sum():,} of {len(names):,} subgroups have fewer than "
            f"{subgroups.min_size} rows: {_listed(names, sizes, small)}.",
            "Widen the bins or cross fewer columns; these are not estimated.",
            action,
        )
    if thin.any():
        fewest = cells.min(axis=(1, 2))
        yield Problem(
            "note",
            "small cells",
            columns,
            int(sizes[thin].sum()),
            used.examples(np.append(thin, False)[code]),
            f"In {thin.sum():,} of {len(names):,} subgroups a group has fewer than "
            f"{FEW_IN_CELL} rows of one outcome: {_listed(names, fewest, thin)}.",
            "Rates within an outcome are not estimable there; widen the bins or cross "
            "fewer columns.",
            action,
        )


def _listed(
    names: list[str], sizes: NDArray[np.int64], flags: NDArray[np.bool_]
) -> str:
    chosen = np.flatnonzero(flags)
    shown = ", ".join(f"{names[i]} ({sizes[i]:,} rows)" for i in chosen[:3])
    return f"{shown}{' and more' if len(chosen) > 3 else ''}"
