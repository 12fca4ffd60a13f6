"""Rows that were searched for subgroups, and what that leaves of a guarantee.

A guarantee inside subgroups holds if the rows it is tested on had no part in choosing
these. So every search of rows that guarantees are tested on is kept with its table,
beside the definitions of subgroups that were there before it.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from fairdash._wording import count, listing, utc
from fairdash.datasets import Subgroups
from fairdash.results.rows import Rows
from fairdash.store import SearchRecord, Store

WAY_OUT = (
    "What a search of validation rows finds can be certified instead, or a run on "
    "another seed, of whose test rows this search saw a part."
)


def remember_search(
    rows: Rows,
    dataset_id: str,
    *,
    measure: str,
    columns: Sequence[str],
    found: Mapping[str, Sequence[str]],
) -> None:
    """Keep that rows were searched; see `fairdash.store.SearchRecord`."""
    store, dataset = rows.store, rows.dataset
    record = store.dataset_record(dataset_id)
    searched = np.zeros(record.n_rows, bool)
    searched[dataset.row_number[rows.where]] = True
    store.log_search(
        record.table_sha256,
        searched,
        measure=measure,
        columns=columns,
        found=found,
        named=lambda: _named(store, record.table_sha256),
    )


def searched_words(
    rows: Rows, dataset_id: str, columns: Collection[str], named: Subgroups | None
) -> str:
    """Return the sentence on searches of the rows that a guarantee is tested on.

    Parameters
    ----------
    columns : collection of str
        Of the subgroups of the guarantee. A search of others says nothing.
    named : Subgroups or None
        Their definition; None for subgroups that are chosen now.

    Returns
    -------
    str
        Nothing where no row was searched before; which subgroups the guarantee holds
        for where all searches came after ``named``; else that it may be void, and what
        can be certified instead.
    """
    store, record = rows.store, rows.store.dataset_record(dataset_id)
    table, mine = record.table_sha256, rows.dataset.row_number[rows.where]
    seen = np.zeros(record.n_rows, bool)
    after, before = list[SearchRecord](), list[SearchRecord]()
    for one in store.searches(table):
        looked = store.searched_rows(table, one.id, record.n_rows)
        if looked[mine].any() and not set(columns).isdisjoint(one.columns):
            known = named is not None and _definition(named) in one.named
            (after if known else before).append(one)
            seen |= looked
    if not (before or after):
        return ""
    n_seen = int(seen[mine].sum())
    part = f"{count(n_seen)} of the " if n_seen < len(mine) else "All "
    first = (before or after)[0]
    looked_at = (
        f"{part}{count(len(mine))} test rows were searched for subgroups on "
        f"{utc(first.created)}"
    )
    which = listing(columns)
    if not before:
        return (
            f"{looked_at}, so this guarantee holds for the subgroups chosen before "
            f"that, of {which}, and for none that the search found."
        )
    own = (
        name
        for one in before
        for name, named_by in one.found.items()
        if set(named_by) <= set(columns)
    )
    like = next(own, "")
    listed = f", which listed “{like}”" if like else ""
    return (
        f"{looked_at}, before the subgroups of {which} were chosen: if they were taken "
        f"from that search{listed}, this guarantee is void. {WAY_OUT}"
    )


def _named(store: Store, table: str) -> list[dict[str, Any]]:
    """Return the definitions of subgroups of all data sets of a table and their runs.

    Each once, in the order of their age.
    """
    found = []
    for data in store.datasets():
        if data.table_sha256 == table:
            found.append(_definition(data.subgroups))
            for run in store.runs(data.id):
                own = run.spec.get("subgroups", {})
                found.append(_definition(Subgroups.model_validate(own)))
    return [one for i, one in enumerate(found) if one not in found[:i]]


def _definition(subgroups: Subgroups) -> dict[str, Any]:
    """Return what puts rows in subgroups; the smallest size does not."""
    return subgroups.model_dump(mode="json", exclude={"min_size"})
