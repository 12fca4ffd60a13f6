"""The content of a column: its labels, its kind, and how it reads as another."""

from fairdash.datasets.column_kinds.cells import (
    SCREEN_COLUMNS,
    SCREEN_ROWS,
    example_rows,
    is_nested,
    some_rows,
)
from fairdash.datasets.column_kinds.conversion import are_numbers, as_kind, date_parts
from fairdash.datasets.column_kinds.distinct import all_differ, count_values
from fairdash.datasets.column_kinds.kinds import (
    MOST_CODES,
    ColumnKind,
    infer_kind,
    is_coded,
    is_identifier,
    is_number,
    is_whole,
)
from fairdash.datasets.column_kinds.labels import (
    by_code,
    common_labels,
    count_codes,
    count_labels,
    ends,
    has_order,
    label_codes,
    listed_labels,
    range_labels,
    sorted_labels,
)
from fairdash.datasets.column_kinds.names import READ_LETTERS, is_age, is_unnamed, words

__all__ = [
    "MOST_CODES",
    "READ_LETTERS",
    "SCREEN_COLUMNS",
    "SCREEN_ROWS",
    "ColumnKind",
    "all_differ",
    "are_numbers",
    "as_kind",
    "by_code",
    "common_labels",
    "count_codes",
    "count_labels",
    "count_values",
    "date_parts",
    "ends",
    "example_rows",
    "has_order",
    "infer_kind",
    "is_age",
    "is_coded",
    "is_identifier",
    "is_nested",
    "is_number",
    "is_unnamed",
    "is_whole",
    "label_codes",
    "listed_labels",
    "range_labels",
    "some_rows",
    "sorted_labels",
    "words",
]
