"""Why a run waits: for what, and since when."""

import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fairdash._wording import duration, plural, size
from fairdash.jobs._engine import (
    CARD,
    START,
    engine_card,
    engine_lives,
    lacks_room,
    start_failed,
)
from fairdash.store import Snapshot, Store

Cause = Literal["disk", "engine", "cluster", "models", "processors", "database"]
SILENT_SECONDS = 15.0  # three times the sleep of an idle engine


@dataclass(frozen=True)
class Wait:
    """What a run waits for, and the words that say so."""

    cause: Cause
    words: str


FOR_DATABASE = Wait("database", "Waits for Postgres")


def why_waits(store: Store, snapshot: Snapshot) -> Wait | None:
    """Return what an open run waits for, None if it does not."""
    if wait := engine_waits_for(store.home):
        return wait
    if snapshot.count("running"):
        begins = snapshot.share == 0 and _crowded()
        words = "Waits for its first epoch: processors are busy"
        return Wait("processors", words) if begins else None
    peers = [run.id for run in store.open_runs() if run.id != snapshot.run.id]
    n = sum(store.snapshot(run, curves=False).count("running") for run in peers)
    return Wait("models", f"Waits behind {plural(n, 'other model')}") if n else None


def engine_waits_for(home: Path) -> Wait | None:
    """Return what keeps the engine of a home folder from training, or None."""
    if lacks_room(home):
        free = size(shutil.disk_usage(home).free)
        return Wait("disk", f"Waits for room on the disk, of which {free} are free")
    if start_failed(home):
        return Wait("engine", "Engine stopped by an error, see its log; it restarts")
    card, address = engine_card(home), os.environ.get("FAIRDASH_SCHEDULER")
    if card is None and address is not None:
        return Wait("cluster", f"Waits for the scheduler at {address}")
    if card is None:
        starts = engine_lives(home) and (home / START).exists()
        return _engine("Engine starting", home / START) if starts else None
    if _age(home / CARD) > SILENT_SECONDS:
        return _engine("Engine has not answered", home / CARD)
    absent = not card["threads"] and card["scheduler"]  # "": others' engine drives
    return Wait("cluster", f"Waits for a worker at {address}") if absent else None


def _engine(state: str, since: Path) -> Wait:
    why = ": processors are busy" if _crowded() else ""
    return Wait("engine", f"{state} for {duration(_age(since))}{why}")


def _crowded() -> bool:
    """Tell whether more has been to do in the last minute than processors can."""
    return os.getloadavg()[0] > (os.cpu_count() or 1) + 0.5


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:  # another engine has begun in this moment
        return 0.0
