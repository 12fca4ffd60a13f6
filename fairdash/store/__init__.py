"""What survives: data sets, runs, trials and artifacts."""

from fairdash.store._artifacts import Artifact
from fairdash.store._records import (
    TERMINAL,
    DatasetRecord,
    Draft,
    Progress,
    RunRecord,
    Snapshot,
    TableRecord,
    TrialRecord,
)
from fairdash.store._store import Store, home_folder, open_store

__all__ = [
    "TERMINAL",
    "Artifact",
    "DatasetRecord",
    "Draft",
    "Progress",
    "RunRecord",
    "Snapshot",
    "Store",
    "TableRecord",
    "TrialRecord",
    "home_folder",
    "open_store",
]
