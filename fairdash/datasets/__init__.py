"""Tables in: read, say what columns mean, encode, split, make subgroups."""

from fairdash.datasets._check import check_table
from fairdash.datasets._dataset import Dataset, make_dataset
from fairdash.datasets._encode import Encoded, Encoder, encode
from fairdash.datasets._guess import guess_roles
from fairdash.datasets._read import read_table
from fairdash.datasets._roles import Roles
from fairdash.datasets._samples import SAMPLES, Sample, load_sample
from fairdash.datasets._split import Split, split
from fairdash.datasets._subgroups import Subgroups, road_table_1

__all__ = [
    "SAMPLES",
    "Dataset",
    "Encoded",
    "Encoder",
    "Roles",
    "Sample",
    "Split",
    "Subgroups",
    "check_table",
    "encode",
    "guess_roles",
    "load_sample",
    "make_dataset",
    "read_table",
    "road_table_1",
    "split",
]
