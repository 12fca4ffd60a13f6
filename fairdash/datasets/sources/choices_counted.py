"""Counts by each choice of some columns: one query where there are grouping sets."""

from collections.abc import Sequence
from itertools import combinations

import pyarrow as pa
from pyarrow import compute

from fairdash._validation import check_one_of
from fairdash.datasets.sources.address import Address, parse_address
from fairdash.datasets.sources.counted import (
    COUNT,
    MOST_CELLS,
    CountedSource,
    count_source,
    counted_table,
    free_name,
    source_columns,
)
from fairdash.datasets.sources.database import GroupingSets, count_sets

_HAS_SETS = {"duckdb", "postgresql"}
MOST_COLUMNS = 30  # that a choice is made of: Postgres marks no more


def count_choices(
    address: str | Address, base: Sequence[str], columns: Sequence[str], depth: int
) -> dict[tuple[str, ...], CountedSource]:
    """Count the rows of a source by some columns and each choice of others.

    DuckDB and Postgres answer all choices by one query with grouping sets; of SQLite
    and of Parquet files each choice is a query.

    Parameters
    ----------
    base : sequence of str
        Columns of every count, such as groups, decision and outcome.
    columns : sequence of str
        Of which ``depth`` at a time are added, or all where they are fewer.

    Returns
    -------
    dict of tuple of str to CountedSource
        By the columns that were added.

    Raises
    ------
    ValueError
        As `count_source` does; for more than 30 columns.
    """
    source = parse_address(address) if isinstance(address, str) else address
    if not 0 < len(columns) <= MOST_COLUMNS:
        raise ValueError(
            f"`columns`: name 1 to {MOST_COLUMNS} columns to search, got "
            f"{len(columns)}."
        )
    choices = tuple(combinations(columns, min(depth, len(columns))))
    if source.kind not in _HAS_SETS:
        return {choice: count_source(source, [*base, *choice]) for choice in choices}
    names = source_columns(source)
    for column in (*base, *columns):
        check_one_of("column", column, names)
    count = free_name(COUNT, names)
    sets = GroupingSets(
        tuple(base), tuple(columns), choices, free_name("choice", [*names, count])
    )
    most = MOST_CELLS * len(choices)
    table = pa.Table.from_batches(list(count_sets(source, sets, count, most + 1)))
    if table.num_rows > most:
        raise ValueError(
            f"{source.name} has more than {most:,} combinations of values in "
            f"{len(choices):,} choices of columns. Leave out those of many values."
        )
    counted = {}
    for choice in choices:
        is_of = compute.equal(table[sets.mark], sets.mark_of(choice))
        part = table.filter(is_of).select([*base, *choice, count])
        counted[choice] = counted_table(source.name, part, [*base, *choice], count)
    return counted
