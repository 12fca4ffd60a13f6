"""Tables in: read, say what columns mean, encode, split, make subgroups."""

from fairdash.datasets._columns import (
    COLUMN_KINDS,
    ColumnKind,
    as_kind,
    common_labels,
    count_values,
    date_parts,
    infer_kind,
)
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._encode import Encoded, Encoder, encode
from fairdash.datasets._remedies import (
    applied_remedies,
    apply_remedy,
    choose_features,
    prepare,
    set_type,
    undo_remedy,
)
from fairdash.datasets._roles import Cut, Remedy, Roles
from fairdash.datasets._rows import group_labels
from fairdash.datasets._samples import SAMPLES, Sample, load_sample
from fairdash.datasets._split import (
    FRACTIONS,
    Split,
    split,
    subsample,
    training_rows,
)
from fairdash.datasets._subgroups import Subgroups, road_table_1
from fairdash.datasets.checks import (
    KIND_NAMES,
    check_subgroups,
    check_table,
    column_facts,
    column_table,
    edited_roles,
    join_checks,
    rank_proxies,
    readable_checks,
)
from fairdash.datasets.guess import (
    Candidate,
    RoleGuess,
    features_after,
    guess_groups,
    guess_meaning,
    guess_positive,
    guess_rest,
    guess_roles,
    left_out_reasons,
    rank_roles,
)
from fairdash.datasets.public.fetch import fetch, fetch_table
from fairdash.datasets.public.tables import PUBLIC, PublicTable, Variant
from fairdash.datasets.reading.format import (
    DECIMALS,
    DELIMITERS,
    ENCODINGS,
    THOUSANDS,
    TableFormat,
)
from fairdash.datasets.reading.parquet import load_table
from fairdash.datasets.reading.read import (
    TableFile,
    convert_table,
    read_table,
    sniff_table,
)
from fairdash.datasets.reading.source import SeveralTablesError

__all__ = [
    "COLUMN_KINDS",
    "DECIMALS",
    "DELIMITERS",
    "ENCODINGS",
    "FRACTIONS",
    "KIND_NAMES",
    "PUBLIC",
    "SAMPLES",
    "THOUSANDS",
    "Candidate",
    "ColumnKind",
    "Cut",
    "Dataset",
    "Encoded",
    "Encoder",
    "PublicTable",
    "Remedy",
    "RoleGuess",
    "Roles",
    "Sample",
    "SeveralTablesError",
    "Split",
    "Subgroups",
    "TableFile",
    "TableFormat",
    "Variant",
    "applied_remedies",
    "apply_remedy",
    "as_kind",
    "check_subgroups",
    "check_table",
    "choose_features",
    "column_facts",
    "column_table",
    "common_labels",
    "convert_table",
    "count_values",
    "date_parts",
    "edited_roles",
    "encode",
    "features_after",
    "fetch",
    "fetch_table",
    "group_labels",
    "guess_groups",
    "guess_meaning",
    "guess_positive",
    "guess_rest",
    "guess_roles",
    "infer_kind",
    "join_checks",
    "left_out_reasons",
    "load_sample",
    "load_table",
    "make_dataset",
    "prepare",
    "rank_proxies",
    "rank_roles",
    "read_table",
    "readable_checks",
    "road_table_1",
    "set_type",
    "sniff_table",
    "split",
    "subsample",
    "training_rows",
    "undo_remedy",
]
