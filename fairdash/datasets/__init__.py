"""Tables in: read, say what columns mean, encode, split, make subgroups."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "MISSING",
    "MOST_GROUPS",
    "OTHER",
    "PUBLIC",
    "PUBLISHED",
    "SAMPLES",
    "AddedScores",
    "Condition",
    "Cut",
    "Dataset",
    "DrawnRows",
    "Encoded",
    "Encoder",
    "ExcludedRows",
    "NumberEncoding",
    "Remedy",
    "Roles",
    "RowReason",
    "Sample",
    "ScoreColumn",
    "ScoreKind",
    "Subgroups",
    "TableNotes",
    "WideCounts",
    "audit_remarks",
    "check_table",
    "choices",
    "column_kinds",
    "default_width",
    "draws",
    "encode",
    "exclude_rows",
    "fetch",
    "fetch_table",
    "filter_reasons",
    "find_wide_counts",
    "group_labels",
    "guess_roles",
    "guessing",
    "has_bins",
    "join_again",
    "join_tables",
    "load_sample",
    "make_dataset",
    "notes_of",
    "outcomes",
    "overviews",
    "quantile_cuts",
    "read_conditions",
    "read_table",
    "read_units",
    "read_weights",
    "readable_checks",
    "reading",
    "remedies",
    "row_reasons",
    "rows_of_counts",
    "sources",
    "split",
    "training_rows",
]

if TYPE_CHECKING:
    from fairdash.datasets import (
        choices,
        column_kinds,
        draws,
        guessing,
        overviews,
        reading,
        remedies,
        sources,
    )
    from fairdash.datasets._dataset import (
        Dataset,
        make_dataset,
        read_units,
        read_weights,
    )
    from fairdash.datasets._encode import (
        MISSING,
        OTHER,
        Encoded,
        Encoder,
        NumberEncoding,
        encode,
    )
    from fairdash.datasets._named import (
        PUBLISHED,
        SAMPLES,
        Sample,
        fetch,
        fetch_table,
        load_sample,
    )
    from fairdash.datasets._problems import MOST_GROUPS
    from fairdash.datasets._public import PUBLIC
    from fairdash.datasets._remedy import Remedy
    from fairdash.datasets._roles import Roles
    from fairdash.datasets._rows import (
        ExcludedRows,
        RowReason,
        exclude_rows,
        filter_reasons,
        group_labels,
        outcomes,
        row_reasons,
    )
    from fairdash.datasets._scores import AddedScores, ScoreColumn, ScoreKind
    from fairdash.datasets._split import split, training_rows
    from fairdash.datasets._subgroups import Subgroups
    from fairdash.datasets._values import Cut
    from fairdash.datasets.bins import default_width, has_bins, quantile_cuts
    from fairdash.datasets.checks.groups import audit_remarks
    from fairdash.datasets.checks.table import check_table, readable_checks
    from fairdash.datasets.conditions import Condition, read_conditions
    from fairdash.datasets.guessing.roles import guess_roles
    from fairdash.datasets.joins import join_again, join_tables
    from fairdash.datasets.reading.read import read_table
    from fairdash.datasets.table_notes import DrawnRows, TableNotes, notes_of
    from fairdash.datasets.wide_counts import (
        WideCounts,
        find_wide_counts,
        rows_of_counts,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
