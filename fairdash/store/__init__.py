"""Storage of data sets, runs, trials and artifacts."""

from fairdash._lazy import load

__all__ = [
    "ID_LENGTH",
    "Artifact",
    "Backup",
    "Claim",
    "DatasetRecord",
    "Documents",
    "Draft",
    "Homes",
    "RunRecord",
    "ScoresRecord",
    "SessionFiles",
    "SessionRecords",
    "Snapshot",
    "Store",
    "StoreError",
    "TrialRecord",
    "Unreachable",
    "User",
    "back_up",
    "home_folder",
    "open_store",
    "private",
    "restore",
    "trouble",
    "write_file",
]

load("sqlalchemy")


from fairdash.store._artifacts import Artifact
from fairdash.store._backup import Backup, back_up
from fairdash.store._database import Claim
from fairdash.store._documents import Documents
from fairdash.store._errors import StoreError, Unreachable, trouble
from fairdash.store._files import private, write_file
from fairdash.store._homes import Homes
from fairdash.store._records import (
    DatasetRecord,
    Draft,
    RunRecord,
    ScoresRecord,
    Snapshot,
    TrialRecord,
)
from fairdash.store._restore import restore
from fairdash.store._sessions import SessionFiles, SessionRecords
from fairdash.store._store import Store, home_folder, open_store
from fairdash.store._tables import ID_LENGTH
from fairdash.store.server.users import User
