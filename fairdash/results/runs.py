"""Runs as a table: status, progress, test metrics, when, and a note."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairdash._wording import ago, duration, time_left
from fairdash.methods import CATALOG
from fairdash.results.training import runtime, seconds_left
from fairdash.store import RunRecord, Snapshot, Store
from fairdash.sweep import BASELINE


def run_table(store: Store, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return one row per run.

    Columns: Run, Status (a list), Progress (percent, missing once it is over),
    Accuracy (percent), DI, Worst-1-DI, Seeds, Started and Note.
    """
    return pd.DataFrame([_row(store, run) for run in runs])


def methods_of(run: RunRecord) -> list[str]:
    """Return the labels of the methods of a run."""
    keys = [entry["method"] for entry in run.spec.get("methods", [])]
    return [CATALOG[key].label if key in CATALOG else key for key in keys]


def _headline(run: RunRecord) -> dict[str, Any]:
    """Return the test metrics of the method the run was about, or nothing."""
    done = [entry for entry in run.summary if entry["finished"]]
    asked = [entry for entry in done if entry["method"] != BASELINE]
    return next(iter([*asked, *done]), {})


def _row(store: Store, run: RunRecord) -> dict[str, Any]:
    metrics = _headline(run)
    accuracy = metrics.get("test_accuracy")
    going = None if run.over else store.snapshot(run.id, curves=False)
    return {
        "Run": run.name,
        "Status": [run.status],
        "Progress": None if going is None else 100 * going.share,
        "Accuracy": None if accuracy is None else 100 * accuracy,
        "DI": metrics.get("test_demographic_parity_difference"),
        "Worst-1-DI": metrics.get("test_worst_1_di"),
        "Seeds": len(run.spec.get("seeds", [0])),
        "Started": ago(run.started or run.created),
        "Note": _note(store, run, going),
    }


def _note(store: Store, run: RunRecord, going: Snapshot | None) -> str:
    if run.status == "failed":
        return (run.error or "").strip().rsplit("\n", 1)[-1]
    if going is not None:
        left = seconds_left(store, going)
        return time_left(left) if left is not None else "waiting"
    seconds = runtime(run)
    text = duration(seconds) if seconds is not None else ""
    return f"after {text}" if run.status == "cancelled" and text else text
