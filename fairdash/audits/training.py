"""Runs before, in and after training: cost, curves, all runs as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from fairdash import sweep
from fairdash._metric_names import PARITY, WORST
from fairdash._wording import clock_time, duration, plural, rounded, time_left
from fairdash.audits.pace import FOLLOWING, Pace, Span, makespan, n_workers
from fairdash.audits.progress import seconds_left, share_done
from fairdash.audits.question import ModelInQuestion
from fairdash.audits.sweeps import finished_sweep, is_sweep
from fairdash.audits.trials.models import single_values
from fairdash.audits.trials.sizes import rows_used
from fairdash.datasets import Dataset
from fairdash.methods import CATALOG
from fairdash.scored import ScoredModel
from fairdash.store import RunRecord, Snapshot, Store, TrialRecord

CURVES = ("loss", "validation_loss", "adversary_loss")
_KNOWN = 2.5  # ratio of the ends of a range from which on it is said as a range
_FEW = 5.0  # seconds
_ABOUT = 1.5  # factor within which a time that is said as one number has to hold


def main_trials(snapshot: Snapshot) -> list[TrialRecord]:
    """Return the trials of one setting over its seeds: that the reader asked for.

    That is the first beside the baseline.
    """
    remedies = [trial for trial in snapshot.trials if trial.method != sweep.BASELINE]
    first, *later = remedies or snapshot.trials
    same = [t for t in later if (t.method, t.params) == (first.method, first.params)]
    return [first, *same]


def curves(store: Store, trials: Sequence[TrialRecord | ScoredModel]) -> pd.DataFrame:
    """Return the curves of training, averaged over trials.

    One row per epoch: `CURVES`. Empty before the first event.
    """
    tables = pd.concat([_curve_table(store, trial) for trial in trials])
    return tables if tables.empty else tables.groupby("epoch").mean().reset_index()


def activity(snapshot: Snapshot) -> str:
    """Name the models that a run trains now, or say what it does instead."""
    running = [trial for trial in snapshot.trials if trial.status == "running"]
    if not running:
        return "Putting results together" if snapshot.count("finished") else "Queued"
    first, *later = dict.fromkeys(
        sweep.model_label(t.method, t.params) for t in running
    )
    words = f"Training {first}" + (f" and {len(later)} more" if later else "")
    current = next((trial.progress for trial in running if trial.progress), None)
    return f"{words}, epoch {current.epoch} of {current.n_epochs}" if current else words


def why_failed(store: Store, run: RunRecord) -> str:
    """Return the reason of the first trial of a run that failed, else of the run."""
    trials = store.snapshot(run.id, curves=False).trials
    reasons = (trial.reason for trial in trials if trial.reason)
    return next(reasons, run.error or "no reason was given")


def runtime(run: RunRecord) -> float | None:
    """Return how long a run that is over was at work, in seconds."""
    if run.finished is None:
        return None
    return run.finished - (run.started or run.created)


def is_finished(trial: TrialRecord | ScoredModel) -> bool:
    """Return whether a trial has finished, as all of a model to measure have."""
    return isinstance(trial, ScoredModel) or trial.status == "finished"


def _curve_table(store: Store, trial: TrialRecord | ScoredModel) -> pd.DataFrame:
    if isinstance(trial, ScoredModel):
        table = store.artifact(trial.source.key).history()
    elif trial.status == "finished":
        table = store.artifact(trial.key).history()
    elif trial.progress is not None:
        table = pd.DataFrame(trial.progress.curves)
    else:
        table = pd.DataFrame()
    names = [name for name in ("epoch", *CURVES) if name in table]
    return table[names].astype(float)


def run_table(store: Store, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return one row per run.

    Columns: Run, Status (a list), Progress (percent, unless all are over), Model,
    Accuracy (percent), Gap and Largest local gap (points), Seeds, Started and Note.
    Metrics are means over seeds on test rows, of the model named: the remedy of a run
    of one setting, the model that a sweep opens on.
    """
    table = pd.DataFrame([_row(store, run) for run in runs])
    return table if table["Progress"].notna().any() else table.drop(columns="Progress")


def _headline(store: Store, run: RunRecord) -> dict[str, Any]:
    """Return the means of one model of a run, with its label; none before it is over.

    Of a sweep it is the model that the Sweep page opens on: a mean over settings would
    be of no model.
    """
    if is_sweep(store, run.id):
        return _opened_on(store, run)
    done = [entry for entry in run.summary if entry["finished"]]
    means = min(done, key=lambda entry: entry["method"] == sweep.BASELINE, default={})
    method = CATALOG.get(means.get("method", ""))
    return {**means, "label": method.label if method else ""}


def _opened_on(store: Store, run: RunRecord) -> dict[str, Any]:
    models = finished_sweep(store, run.id) if run.over else None
    if models is None or not models.result.methods:
        return {}
    first = ModelInQuestion.of(store, run.id, models.models)
    place = models.ids.index(first.id)
    means = models.result.means.iloc[place].to_dict()
    means["label"] = models.result.labels[place]
    return {str(name): value for name, value in means.items()}


def _row(store: Store, run: RunRecord) -> dict[str, Any]:
    metrics = _headline(store, run)
    accuracy, gap, largest = (
        100 * metrics[name] if name in metrics else None
        for name in ("test_accuracy", f"test_{PARITY}", f"test_{WORST}")
    )
    going = None if run.over else store.snapshot(run.id, curves=False)
    return {
        "Run": run.name,
        "Status": [run.status],
        "Progress": None if going is None else 100 * share_done(store, going),
        "Model": metrics.get("label", ""),
        "Accuracy": accuracy,
        "Gap": gap,
        "Largest local gap": largest,
        "Seeds": len(run.spec.get("seeds", [0])),
        "Started": clock_time(run.started or run.created),
        "Note": _note(store, run, going),
    }


@lru_cache(maxsize=2000)
def trained_elsewhere(store: Store, run_id: str) -> bool:
    """Tell whether the models of a finished run came with a bundle, without a time."""
    trials = store.snapshot(run_id, curves=False).trials
    return not any(trial.seconds for trial in trials)


def _note(store: Store, run: RunRecord, going: Snapshot | None) -> str:
    if run.status == "failed":
        return (run.error or "").strip().rsplit("\n", 1)[-1]
    if going is not None:
        remaining = seconds_left(store, going)
        return time_left(remaining) if remaining is not None else "waiting"
    if run.status == "finished" and trained_elsewhere(store, run.id):
        return "trained elsewhere"
    seconds = runtime(run)
    text = duration(seconds) if seconds is not None else ""
    return f"after {text}" if run.status == "cancelled" and text else text


@dataclass(frozen=True)
class ExpectedCost:
    """The cost of a sweep.

    ``time`` is until the last model has finished, on this machine as busy as it is now.
    """

    total: int
    missing: int
    time: Span

    @property
    def seconds(self) -> float:
        """The expected time."""
        return self.time.seconds

    def words(self) -> str:
        """Say how many models, how many of them are there, and about how long."""
        models = plural(self.total, "model")
        if not self.missing:
            return f"{models}, all trained before: done in a moment."
        trained = self.total - self.missing
        models += f", {trained:,} of them trained before" if trained else ""
        workers = plural(n_workers(), "worker")
        return f"{models}: {self._long()} with {workers} here."

    @property
    def promise(self) -> Span:
        """The time that `words` promise, with the ends within which it has to lie."""
        if self._is_short:
            return Span(self.time.seconds, 0.0, _FEW)
        if self._is_known:
            return Span.within(self.time.seconds, _ABOUT)
        return self.time

    @property
    def _is_short(self) -> bool:
        return self.time.high <= _FEW

    @property
    def _is_known(self) -> bool:
        return self.time.high < _KNOWN * self.time.low

    def _long(self) -> str:
        if self._is_short:
            return "a few seconds"
        if self._is_known:
            return f"about {duration(self.time.seconds)}"
        return f"between {rounded(self.time.low)} and {rounded(self.time.high)}"


def expected_cost(store: Store, dataset_id: str, spec: sweep.SweepSpec) -> ExpectedCost:
    """Return the models a sweep asks for and about how long they take here.

    The pace is that of the models trained here last, see `fairdash.audits.pace`. Other
    processes that want a processor now make it longer, and runs that came before are
    waited for.
    """
    trials = sweep.expand(spec, store.dataset(dataset_id).key)
    missing = [t for t in trials if not store.artifact(t.key).exists()]
    if not missing:
        return ExpectedCost(len(trials), 0, Span(0.0, 0.0, 0.0))
    n_rows = rows_used(store, dataset_id, spec.train_rows)
    pace = Pace.of(store)
    spans = [
        pace.seconds(
            stack.method, stack.work(n_rows=n_rows), len(stack.trials), dataset_id
        )
        for stack in sweep.planning.plan(missing)
    ]
    expected, low, high = (
        makespan([getattr(span, end) for span in spans], n_workers())
        for end in ("seconds", "low", "high")
    )
    alone = Span(expected, low, high).times(1, FOLLOWING)
    until = alone.times(pace.slower(), _seconds_before(store))
    return ExpectedCost(len(trials), len(missing), until)


def _seconds_before(store: Store) -> float:
    """Return how long the runs take that workers are at now."""
    going = [run.id for run in store.runs() if not run.over]
    snapshots = [store.snapshot(run, curves=False) for run in going]
    remaining = [seconds_left(store, snapshot) for snapshot in snapshots]
    return sum(filter(None, remaining))


def missing_words(dataset: Dataset, grid: sweep.MethodGrid) -> str:
    """Say what a method sees of missing numbers; nothing where there are none."""
    if not dataset.missing_numbers:
        return ""
    takes = CATALOG[grid.method].takes_missing(single_values(grid.params))
    if takes and dataset.roles.missing == "keep":
        return "Missing numbers stay missing."
    return "Missing numbers are replaced by the training median and marked."
