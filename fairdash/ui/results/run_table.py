"""Runs as a table: status, progress, test metrics, when, and a note."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from fairdash._wording import ago, duration, time_left
from fairdash.methods import CATALOG
from fairdash.store import RunRecord, Snapshot
from fairdash.ui.results.results import BASELINE
from fairdash.ui.results.training import runtime, seconds_left
from fairdash.ui.widgets.state import store

_COLOURS = {
    "queued": "gray",
    "running": "blue",
    "finished": "green",
    "failed": "red",
    "cancelled": "gray",
}


def run_table(runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return one row per run, as `run_columns` shows it."""
    return pd.DataFrame([_row(run) for run in runs])


def run_columns(width: int) -> dict[str, Any]:
    """Return how the columns of `run_table` are shown; ``width`` is the name's."""
    config = st.column_config
    return {
        "Run": config.TextColumn(width=width),
        "Status": config.MultiselectColumn(
            options=list(_COLOURS), color=list(_COLOURS.values()), width="small"
        ),
        "Progress": config.ProgressColumn(
            format="%.0f%%", min_value=0, max_value=100, width="small"
        ),
        "Accuracy": config.NumberColumn(format="%.1f%%", width="small"),
        "DI": config.NumberColumn(format="%.3f", width="small"),
        "Worst-1-DI": config.NumberColumn(format="%.3f", width="small"),
        "Seeds": config.NumberColumn(width="small"),
        "Started": config.TextColumn(width="small"),
        "Note": config.TextColumn(width="small"),
    }


def headline(run: RunRecord) -> dict[str, Any]:
    """Return the test metrics of the method the run was about, or nothing."""
    done = [entry for entry in run.summary if entry["finished"]]
    asked = [entry for entry in done if entry["method"] != BASELINE]
    return next(iter([*asked, *done]), {})


def methods_of(run: RunRecord) -> list[str]:
    """Return the labels of the methods of a run."""
    keys = [entry["method"] for entry in run.spec.get("methods", [])]
    return [CATALOG[key].label if key in CATALOG else key for key in keys]


def _row(run: RunRecord) -> dict[str, Any]:
    metrics = headline(run)
    accuracy = metrics.get("test_accuracy")
    return {
        "Run": run.name,
        "Status": [run.status],
        "Progress": None if run.over else 100 * _snapshot(run).share,
        "Accuracy": None if accuracy is None else 100 * accuracy,
        "DI": metrics.get("test_demographic_parity_difference"),
        "Worst-1-DI": metrics.get("test_worst_1_di"),
        "Seeds": len(run.spec.get("seeds", [0])),
        "Started": ago(run.started or run.created),
        "Note": _note(run),
    }


def _note(run: RunRecord) -> str:
    if run.status == "failed":
        return (run.error or "").strip().rsplit("\n", 1)[-1]
    if not run.over:
        left = seconds_left(_snapshot(run))
        return time_left(left) if left is not None else "waiting"
    seconds = runtime(run)
    text = duration(seconds) if seconds is not None else ""
    return f"after {text}" if run.status == "cancelled" and text else text


def _snapshot(run: RunRecord) -> Snapshot:
    return store().snapshot(run.id, curves=False)
