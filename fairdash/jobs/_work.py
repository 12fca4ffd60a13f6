"""Ask for runs, and the work on them, the same in every process."""

import os
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairdash import sweep
from fairdash.datasets import Dataset, reading, sources
from fairdash.jobs.engine import CARD, ENGINE, take, wake_engine
from fairdash.methods import CATALOG
from fairdash.store import Homes, RunRecord, Store, StoreError, Unreachable

ERROR_LENGTH = 8_000  # characters of a traceback that are kept


@dataclass(frozen=True)
class Outcome:
    """Outcome of a trial: its metrics, or an error."""

    key: str
    row: dict[str, Any] | None = None
    seconds: float | None = None
    error: str | None = None


def begin(store: Store, run: RunRecord) -> list[sweep.planning.Stack]:
    """Mark a run as running and return what is left to do; so it resumes, too.

    Raises ValueError when a trial cannot be planned, say because its method is gone.
    """
    unfinished = store.unfinished(run.id)
    trials = [
        sweep.Trial(trial.key, trial.method, trial.params, trial.seed, data_key="")
        for trial in store.snapshot(run.id, curves=False).trials
        if trial.key in unfinished
    ]
    stacks = sweep.planning.plan(trials)
    store.set_status(run.id, "running")
    return stacks


def record(store: Store, run_id: str, outcomes: Iterable[Outcome]) -> None:
    """Write the outcomes of trials."""
    for outcome in outcomes:
        if outcome.row is None:
            error = outcome.error or "unknown error"
            store.fail_trial(run_id, outcome.key, error=error)
        else:
            seconds = outcome.seconds or 0.0
            store.put_trial(run_id, outcome.key, row=outcome.row, seconds=seconds)


def fail(store: Store, run_id: str, stack: sweep.planning.Stack, error: str) -> None:
    """Write that all trials of a stack have failed."""
    record(store, run_id, [Outcome(trial.key, error=error) for trial in stack.trials])


def end(store: Store, run_id: str) -> bool:
    """End a run whose trials are all over; return whether none of them failed."""
    failed = store.snapshot(run_id, curves=False).count("failed")
    store.set_status(run_id, "failed" if failed else "finished")
    return not failed


def work(
    store: Store, run: RunRecord, stack: sweep.planning.Stack, link: "StoreLink"
) -> list[Outcome] | None:
    """Train what is not on disk yet, keep it there, and measure all for the run.

    It may be repeated: what is on disk is not trained again. A stack that fails is
    tried model by model, so that a failing setting does not stop the others. Returns
    None when it was stopped.
    """
    spec = sweep.SweepSpec.of_run(run.spec)
    dataset = store.dataset(run.dataset_id)
    failed = []
    # What an earlier run, or this one before its worker died, has trained is on disk.
    missing = [t for t in stack.trials if not store.artifact(t.key).exists()]
    waiting = sweep.planning.plan(missing, max_models=len(missing))
    while waiting:
        part = waiting.pop(0)
        try:
            results = sweep.train_stack(
                part,
                dataset,
                scaling=spec.scaling,
                train_rows=spec.train_rows,
                report=link.report,
                stopped=link.stopped,
            )
        except Unreachable:  # says nothing about the models
            raise
        except Exception as error:  # whatever a method raises is what became of it
            if len(part.trials) > 1:
                waiting = part.split() + waiting
            else:
                message = describe(error)
                failed += [Outcome(trial.key, error=message) for trial in part.trials]
            continue
        if results is None:
            return None
        for result in results:
            keep(store, result, spec.train_rows)
    lost = {outcome.key for outcome in failed}
    keys = [trial.key for trial in stack.trials if trial.key not in lost]
    return failed + measure(store, dataset, stack, keys, spec)


def describe(error: BaseException) -> str:
    """Return the end of an error's traceback, which says what went wrong."""
    return "".join(traceback.format_exception(error))[-ERROR_LENGTH:]


def keep(store: Store, result: sweep.TrialResult, train_rows: int | None) -> None:
    """Keep the trained model of a trial."""
    trial = result.trial
    row = {
        "key": trial.key,
        "method": trial.method,
        "params": trial.params,
        "seed": trial.seed,
        "data_key": trial.data_key,
        "seconds": result.seconds,
    }
    if train_rows:
        row["train_rows"] = train_rows
    store.artifact(trial.key).write(
        row=row,
        scores=result.scores,
        history=result.history,
        network=result.network,
        ratio=result.ratio,
        ratio_history=result.ratio_history,
        weight_spread=result.weight_spread,
    )


def measure(
    store: Store,
    dataset: Dataset,
    stack: sweep.planning.Stack,
    keys: list[str],
    spec: sweep.SweepSpec,
) -> list[Outcome]:
    """Return the metrics of models on disk; one that is damaged fails alone."""
    damaged = []
    measured = []
    for key in keys:
        artifact = store.artifact(key)
        try:
            measured.append((key, artifact.row()["seconds"], artifact.scores()))
        except (ValueError, FileNotFoundError) as error:
            damaged.append(Outcome(key, error=describe(error)))
    if not measured:
        return damaged
    scores = np.stack([values for _, _, values in measured])
    drawn = CATALOG[stack.method].mixture
    metrics = sweep.score(dataset, stack.seed, scores, spec.subgroups, drawn=drawn)
    rows: list[dict[Any, Any]] = metrics.to_dict("records")
    return damaged + [
        Outcome(key, row=row, seconds=seconds)
        for (key, seconds, _), row in zip(measured, rows, strict=True)
    ]


LOOK_SECONDS = 0.2  # between two looks at the cancel mark


def submit(store: Store, spec: sweep.SweepSpec, *, name: str | None = None) -> str:
    """Queue a run and wake the engine; return the id of the run.

    Parameters and errors are those of `queue`.
    """
    run_id = queue(store, spec, name=name)
    wake(store)
    return run_id


def resume(store: Store, run_id: str, *, name: str | None = None) -> str:
    """Queue what is left of a run as a new run; return its id.

    It is of the rows that the run was of, which are stored by their digest: those at
    the path, or of the sample, may have changed. Raises ValueError when there is no
    such run, its rows are damaged, or nothing of it can be trained.
    """
    run = store.run(run_id)
    table = store.dataset_record(run.dataset_id).table_sha256
    spec = sweep.SweepSpec.of_run(run.spec)
    spec = spec.of_table(table, store.table_format(table))
    return queue(store, spec, name=name or run.name)


def keep_table(
    store: Store, spec: sweep.SweepSpec, file: Path | None
) -> sweep.SweepSpec:
    """Keep the file of a specification's data in the store, if one is given.

    Where the specification names its table by a digest, the file is the one with that
    digest; where it names a path or source, any file, which is taken instead. The
    specification returned is of data that the store has, or that lie where they say.
    Raises ValueError when the file is another one, a table named by a digest is neither
    given nor in the store, or the data are a sample.
    """
    data = spec.data
    if file is None:
        if data.table and all(data.table != table.sha256 for table in store.tables()):
            message = f"It names its table by the sha256 {data.table[:12]}…"
            raise ValueError(f"{message}; give that file with `--table FILE`.")
        return spec
    if data.sample:
        message = f"Its data are the sample {data.sample!r}"
        raise ValueError(f"{message}, which needs no `--table`.")
    if data.path or data.source:
        as_file = {"path": str(file), "source": None}
        return spec.model_copy(update={"data": data.model_copy(update=as_file)})
    assert data.table is not None, "data have one of four names"
    checked = reading.check_reading(data.table, file, data.table_format, file.name)
    store.add_table(file, file.name, **checked._asdict())
    return spec


def queue(
    store: Store,
    spec: sweep.SweepSpec,
    *,
    name: str | None = None,
    run_id: str | None = None,
    failed: Mapping[str, str] | None = None,
) -> str:
    """Queue a run for the next engine that wakes; return the id of the run.

    A sample or a file that it names is kept in the store first, so the run no longer
    depends on it. By default its title is its methods and its data set, and its id
    a new one; ``failed`` is as of `Store.add_run`. Raises
    ValueError when the specification does not fit the catalog or its data; nothing is
    queued.
    """
    dataset_id = keep_data(store, spec)
    dataset = store.dataset(dataset_id)
    dataset.label_subgroups(spec.subgroups)
    spec = spec.fitted_to(dataset)
    trials = sweep.expand(spec, dataset.key)
    if not name:
        labels = dict.fromkeys(CATALOG[grid.method].label for grid in spec.methods)
        name = f"{', '.join(labels)} on {spec.data.name}"
    return store.add_run(
        spec.model_dump(mode="json", exclude_none=True),
        trials,
        name=name,
        dataset_id=dataset_id,
        run_id=run_id,
        failed=failed,
    )


def keep_data(store: Store, spec: sweep.SweepSpec) -> str:
    """Keep the data set of a specification in the store; return its id."""
    data = spec.data
    if data.table is not None:
        return store.add_dataset(data.table, data.roles, data.name, spec.subgroups)
    is_file = data.source is None and not sources.is_address(data.path)
    copied = not is_file or data.sample_rows is not None
    with sweep.source_file(data) as (path, name):
        table = store.add_table(path, name if copied else path.name)
    return store.add_dataset(table, data.roles, name, spec.subgroups)


def cancel(store: Store, run_id: str) -> None:
    """Ask a run to stop: its stacks do so within an epoch, and keep nothing."""
    store.ask_cancel(run_id)
    wake(store)


def wake(store: Store) -> None:
    """Let open runs go on: in the engine, or here and now if ``FAIRDASH_INLINE=1``.

    That is the engine of the server, which may run on another machine.
    """
    if os.environ.get("FAIRDASH_INLINE") == "1":
        run_open(store)
    else:
        Homes.mark(store)
        wake_engine(store)


def run_open(store: Store, watch: Callable[[], object] = lambda: None) -> None:
    """Run all open runs to their end, unless an engine is at them.

    ``watch`` is called after every progress event.
    """
    lock = take(store.home / ENGINE)
    if lock is None:
        return
    with lock, store.database.claim() as claim:
        (store.home / CARD).unlink(missing_ok=True)  # the last engine's
        for run in store.open_runs() if claim else ():
            _run(store, run, watch)


class StoreLink:
    """A stack's line straight to the store.

    With ``watch``, which is called after every event, each event is written at once.
    Without, the last one of every trial a few times a second, and training goes on
    while the store is not reached.
    """

    def __init__(
        self, store: Store, run_id: str, watch: Callable[[], object] | None = None
    ) -> None:
        self.store = store
        self.run_id = run_id
        self.watch = watch
        # In a worker training goes on while the store is not reached; here and now
        # somebody waits for the error.
        self._tolerated = (StoreError,) if watch is None else ()
        self._events: dict[str, dict[str, Any]] = {}
        self._wrote = 0.0
        self._looked = 0.0
        self._cancelled = False

    def report(self, event: dict[str, Any]) -> None:
        """Write a progress event, now or when it is next asked whether to stop."""
        self._events[event["key"]] = event
        self._write()
        if self.watch is not None:
            self.watch()

    def _write(self) -> None:
        if self.watch is None and time.monotonic() - self._wrote < LOOK_SECONDS:
            return
        self._wrote = time.monotonic()
        with suppress(*self._tolerated):
            self.store.put_progress(self._events.values())
            self._events.clear()

    def stopped(self) -> bool:
        """Tell whether the run is marked to be cancelled."""
        if self._events:
            self._write()
        if time.monotonic() - self._looked >= LOOK_SECONDS:
            self._looked = time.monotonic()
            with suppress(*self._tolerated):
                run = self.store.run(self.run_id)
                self._cancelled = run.cancel_asked is not None
        return self._cancelled


def _run(store: Store, run: RunRecord, watch: Callable[[], object]) -> None:
    """Run what is left of a run, stack by stack, in this process."""
    try:
        stacks = begin(store, run)
    except ValueError as error:
        store.set_status(run.id, "failed", error=str(error))
        return
    for stack in stacks:
        link = StoreLink(store, run.id, watch)
        try:
            outcomes = None if link.stopped() else work(store, run, stack, link)
        except Unreachable:
            raise
        except Exception as error:  # a failing stack does not stop the others
            fail(store, run.id, stack, describe(error))
            continue
        if outcomes is None:
            store.set_status(run.id, "cancelled")
            return
        record(store, run.id, outcomes)
        watch()
    end(store, run.id)
