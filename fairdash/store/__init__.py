"""What survives: data sets, runs, trials and artifacts."""

from fairdash.store._kept import Kept
from fairdash.store._records import (
    DatasetRecord,
    Draft,
    RunRecord,
    Snapshot,
    TrialRecord,
)
from fairdash.store._store import Store, home_folder, open_store
