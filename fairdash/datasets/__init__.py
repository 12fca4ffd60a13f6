"""Tables in: read, say what columns mean, encode, split, make subgroups."""

from fairdash.datasets._check import check_subgroups, check_table, join_checks
from fairdash.datasets._columns import count_values
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._decode import decode
from fairdash.datasets._encode import Encoded, encode
from fairdash.datasets._encoder import Encoder
from fairdash.datasets._fetch import fetch, fetch_table
from fairdash.datasets._format import (
    DECIMALS,
    DELIMITERS,
    ENCODINGS,
    THOUSANDS,
    TableFormat,
)
from fairdash.datasets._guess import guess_roles
from fairdash.datasets._guess_features import left_out_reasons
from fairdash.datasets._labels import Cut
from fairdash.datasets._load import load_table
from fairdash.datasets._meaning import guess_meaning
from fairdash.datasets._prepare import prepare
from fairdash.datasets._proxies import rank_proxies
from fairdash.datasets._public import PUBLIC
from fairdash.datasets._public_table import PublicTable, Variant
from fairdash.datasets._read import (
    TableFile,
    convert_table,
    read_table,
    sniff_table,
)
from fairdash.datasets._read_source import SeveralTablesError
from fairdash.datasets._remedies import (
    applied_remedies,
    apply_remedy,
    set_type,
    undo_remedy,
)
from fairdash.datasets._remedy import Remedy
from fairdash.datasets._roles import Roles
from fairdash.datasets._samples import SAMPLES, Sample, load_sample
from fairdash.datasets._split import (
    FRACTIONS,
    Split,
    split,
    subsample,
    training_rows,
)
from fairdash.datasets._subgroups import Subgroups, road_table_1
from fairdash.datasets._types import (
    COLUMN_KINDS,
    ColumnKind,
    as_kind,
    date_parts,
    infer_kind,
)

__all__ = [
    "COLUMN_KINDS",
    "DECIMALS",
    "DELIMITERS",
    "ENCODINGS",
    "FRACTIONS",
    "PUBLIC",
    "SAMPLES",
    "THOUSANDS",
    "ColumnKind",
    "Cut",
    "Dataset",
    "Encoded",
    "Encoder",
    "PublicTable",
    "Remedy",
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
    "convert_table",
    "count_values",
    "date_parts",
    "decode",
    "encode",
    "fetch",
    "fetch_table",
    "guess_meaning",
    "guess_roles",
    "infer_kind",
    "join_checks",
    "left_out_reasons",
    "load_sample",
    "load_table",
    "make_dataset",
    "prepare",
    "rank_proxies",
    "read_table",
    "road_table_1",
    "set_type",
    "sniff_table",
    "split",
    "subsample",
    "training_rows",
    "undo_remedy",
]
