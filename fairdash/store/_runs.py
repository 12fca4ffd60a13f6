"""Runs and their trials: asked for by a page, driven by one engine, read by all."""

import json
import time
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from fairdash.store import _records as records
from fairdash.store._artifacts import Artifact
from fairdash.store._database import (
    DATASETS,
    PROGRESS,
    RUN_TRIALS,
    RUNS,
    TRIALS,
    Database,
)
from fairdash.store._summaries import SummaryStore

RUN_RECORDS = sa.select(RUNS, DATASETS.c.name.label("dataset_name")).join(DATASETS)


class RunStore(SummaryStore):
    """The list of runs and their trials.

    A terminal state is never left again. Writes may be repeated any number of times in
    any order: finished stays so.
    """

    database: Database

    def add_run(
        self,
        spec: Mapping[str, Any],
        trials: Iterable[Any],
        name: str,
        dataset_id: str,
        run_id: str | None = None,
        failed: Mapping[str, str] | None = None,
    ) -> str:
        """Add a queued run with all its trials in one transaction; return its id.

        A trial has a key, a hash of everything that decides its result, a method,
        params and a seed, as `fairdash.sweep.Trial`.

        That is a new one, unless a run is moved here under the id it had. ``failed``
        says, by key, why trials of it did not come out there: none begins here.

        Raises ValueError when there is no such data set (any more).
        """
        run_id = run_id or uuid.uuid4().hex[:12]
        trials = list(trials)
        errors = failed or {}
        run = {
            "id": run_id,
            "name": name,
            "dataset_id": dataset_id,
            "spec": json.dumps(dict(spec)),
            "status": "queued",
            "created": time.time(),
        }
        models = [
            {
                "key": trial.key,
                "method": trial.method,
                "params": json.dumps(dict(trial.params)),
                "seed": trial.seed,
            }
            for trial in trials
        ]
        queued = [
            {
                "run_id": run_id,
                "key": key,
                "position": position,
                "status": "failed" if key in errors else "queued",
                "error": errors.get(key),
            }
            for position, key in enumerate(dict.fromkeys(t.key for t in trials))
        ]
        try:
            with self.database.writing() as connection:
                connection.execute(sa.insert(RUNS), run)
                self.database.upsert(connection, TRIALS, models)
                connection.execute(sa.insert(RUN_TRIALS), queued)
        except sa.exc.IntegrityError:
            message = f"There is no data set {dataset_id!r} in this store (any more)"
            raise ValueError(f"{message}; add its table again.") from None
        return run_id

    def runs(self, dataset_id: str | None = None) -> list[records.RunRecord]:
        """Return all runs, or those on one data set, newest first."""
        query = RUN_RECORDS.order_by(RUNS.c.created.desc())
        if dataset_id is not None:
            query = query.where(RUNS.c.dataset_id == dataset_id)
        return [run_record(row) for row in self.database.rows(query)]

    def open_runs(self) -> list[records.RunRecord]:
        """Return the runs that are not over, oldest first."""
        still = RUN_RECORDS.where(RUNS.c.status.not_in(records.TERMINAL))
        rows = self.database.rows(still.order_by(RUNS.c.created))
        return [run_record(row) for row in rows]

    def queue(self) -> records.Queue:
        """Return how many runs are not over, and how many of their models."""
        is_open = RUNS.c.status.not_in(records.TERMINAL)
        n_runs = sa.select(sa.func.count()).select_from(RUNS).where(is_open)
        n_models = (
            sa.select(sa.func.count())
            .select_from(RUN_TRIALS.join(RUNS, RUNS.c.id == RUN_TRIALS.c.run_id))
            .where(is_open, RUN_TRIALS.c.status == "queued")
        )
        with self.database.reading() as connection:
            runs = connection.execute(n_runs).scalar_one()
            models = connection.execute(n_models).scalar_one()
        return records.Queue(runs, models)

    def run(self, run_id: str) -> records.RunRecord:
        """Return one run; ValueError when there is no such run."""
        rows = self.database.rows(RUN_RECORDS.where(RUNS.c.id == run_id))
        if not rows:
            raise ValueError(f"There is no run {run_id!r} in this store.")
        return run_record(rows[0])

    def run_of(self, key: str) -> records.RunRecord:
        """Return the newest run that asked for a trial; ValueError when no run did."""
        runs = sa.select(RUN_TRIALS.c.run_id).where(RUN_TRIALS.c.key == key)
        query = RUN_RECORDS.where(RUNS.c.id.in_(runs))
        rows = self.database.rows(query.order_by(RUNS.c.created.desc()))
        if not rows:
            raise ValueError(f"No run asked for the trial {key!r} in this store.")
        return run_record(rows[0])

    def ask_cancel(self, run_id: str) -> None:
        """Mark an open run to be cancelled; the engine does it."""
        # The time of the first request stands.
        change = _open_run(run_id).where(RUNS.c.cancel_asked.is_(None))
        self.database.execute(change.values(cancel_asked=time.time()))

    def set_status(
        self, run_id: str, status: records.Status, *, error: str | None = None
    ) -> None:
        """Move an open run on; ending it also writes its summary."""
        change: dict[str, Any] = {"status": status, "error": error}
        with self.database.writing() as connection:
            if status == "running":
                change["started"] = sa.func.coalesce(RUNS.c.started, time.time())
            if status in records.TERMINAL:
                change["finished"] = time.time()
                change["summary"] = json.dumps(_summary(connection, run_id))
            connection.execute(_open_run(run_id).values(**change))

    def delete_run(self, run_id: str) -> None:
        """Delete a run, with the models and files that no other run uses.

        Raises ValueError when the run is still open.
        """
        record = self.run(run_id)
        if not record.over:
            message = f"Run {record.name!r} is still {record.status}; cancel it first."
            raise ValueError(message)
        used = sa.select(RUN_TRIALS.c.key).where(RUN_TRIALS.c.run_id == run_id)
        elsewhere = sa.select(RUN_TRIALS.c.key).where(RUN_TRIALS.c.run_id != run_id)
        # Rows first, files in a later transaction: see `TableStore.delete_table`.
        with self.database.writing() as connection:
            keys = connection.execute(used.except_(elsewhere)).scalars().all()
            of_run = sa.delete(RUN_TRIALS).where(RUN_TRIALS.c.run_id == run_id)
            connection.execute(of_run)
            connection.execute(sa.delete(RUNS).where(RUNS.c.id == run_id))
            for key in keys:
                connection.execute(sa.delete(TRIALS).where(TRIALS.c.key == key))
                connection.execute(sa.delete(PROGRESS).where(PROGRESS.c.key == key))
        with self.database.writing() as connection:
            # A run added since then needs some of them; one added later trains anew.
            again = TRIALS.c.key.in_(keys)
            needed = set(connection.scalars(sa.select(TRIALS.c.key).where(again)))
            self.files.delete(self.artifact(k).folder for k in keys if k not in needed)
        self.delete_answers(run_id)

    def artifact(self, key: str) -> Artifact:
        """Return the files of a trial, whether or not they exist yet."""
        return Artifact(self.files.home / "artifacts" / key[:2] / key, self.files)

    def put_trial(
        self, run_id: str, key: str, *, row: Mapping[str, Any], seconds: float
    ) -> None:
        """Record the metrics of a finished trial in a run."""
        record = {"status": "finished", "row": json.dumps(dict(row)), "error": None}
        self._put(run_id, key, {**record, "seconds": seconds})

    def fail_trial(self, run_id: str, key: str, *, error: str) -> None:
        """Record why a trial failed in a run; a finished one stays finished."""
        self._put(run_id, key, {"status": "failed", "error": error})

    def unfinished(self, run_id: str) -> set[str]:
        """Return the keys of the trials of a run that need work."""
        query = sa.select(RUN_TRIALS.c.key).where(
            RUN_TRIALS.c.run_id == run_id, RUN_TRIALS.c.status == "queued"
        )
        return {row["key"] for row in self.database.rows(query)}

    def put_progress(self, events: Iterable[Mapping[str, Any]]) -> None:
        """Keep the last event of every trial; each has at least ``key`` and epochs."""
        rows = [
            {
                "key": event["key"],
                "epoch": event["epoch"],
                "n_epochs": event["n_epochs"],
                "seconds": event["seconds"],
                "event": json.dumps(dict(event)),
            }
            for event in events
        ]
        if not rows:
            return
        with self.database.writing() as connection:
            update = ["epoch", "n_epochs", "seconds", "event"]
            self.database.upsert(connection, PROGRESS, rows, update=update)

    def snapshot(self, run_id: str, *, curves: bool = True) -> records.Snapshot:
        """Return a run with all its trials, read at one moment.

        Raises ValueError when there is no such run. Progress carries its ``curves``
        unless these are not needed, as by a long list of trials.
        """
        event = PROGRESS.c.event if curves else sa.literal("{}").label("event")
        query = (
            sa.select(
                RUN_TRIALS,
                TRIALS.c.method,
                TRIALS.c.params,
                TRIALS.c.seed,
                PROGRESS.c.epoch,
                PROGRESS.c.n_epochs,
                PROGRESS.c.seconds.label("elapsed"),
                event,
            )
            .join(TRIALS, TRIALS.c.key == RUN_TRIALS.c.key)
            .outerjoin(PROGRESS, PROGRESS.c.key == RUN_TRIALS.c.key)
            .where(RUN_TRIALS.c.run_id == run_id)
            .order_by(RUN_TRIALS.c.position)
        )
        with self.database.reading() as connection:
            query_run = RUN_RECORDS.where(RUNS.c.id == run_id)
            run = connection.execute(query_run).mappings().first()
            trials = connection.execute(query).all()
        if run is None:
            raise ValueError(f"There is no run {run_id!r} in this store.")
        record = run_record(run)
        return records.Snapshot(
            record, tuple(_trial(row, record.over) for row in trials)
        )

    def _put(self, run_id: str, key: str, change: Mapping[str, Any]) -> None:
        """Change a trial of a run, unless it has finished: that is never undone."""
        statement = sa.update(RUN_TRIALS).where(
            RUN_TRIALS.c.run_id == run_id,
            RUN_TRIALS.c.key == key,
            RUN_TRIALS.c.status != "finished",
        )
        self.database.execute(statement.values(**change))


def run_record(row: Mapping[Any, Any]) -> records.RunRecord:
    """Return the record of one row of `RUN_RECORDS`."""
    fields = {str(name): value for name, value in row.items()}
    fields["spec"] = json.loads(fields["spec"])
    fields["summary"] = json.loads(fields["summary"] or "[]")
    return records.RunRecord(**fields)


def _open_run(run_id: str) -> sa.Update:
    return sa.update(RUNS).where(
        RUNS.c.id == run_id, RUNS.c.status.not_in(records.TERMINAL)
    )


def _summary(connection: sa.Connection, run_id: str) -> list[dict[str, Any]]:
    """Return the summary of a run, an entry per method: see `RunRecord`."""
    query = (
        sa.select(TRIALS.c.method, RUN_TRIALS.c.status, RUN_TRIALS.c.row)
        .join(TRIALS, TRIALS.c.key == RUN_TRIALS.c.key)
        .where(RUN_TRIALS.c.run_id == run_id)
        .order_by(RUN_TRIALS.c.position)
    )
    trials = connection.execute(query).all()
    summary = []
    for method in dict.fromkeys(trial.method for trial in trials):
        members = [trial for trial in trials if trial.method == method]
        rows = [json.loads(trial.row) for trial in members if trial.row]
        entry = {
            "method": method,
            "trials": len(members),
            "finished": len(rows),
            "failed": sum(trial.status == "failed" for trial in members),
        }
        measures = rows[0] if rows else ()
        for name in measures:
            if name.startswith("test_"):
                entry[name] = sum(row[name] for row in rows) / len(rows)
        summary.append(entry)
    return summary


def _trial(row: Any, over: bool) -> records.TrialRecord:
    progress = None
    if row.epoch is not None:
        event = json.loads(row.event)
        progress = records.Progress(row.epoch, row.n_epochs, row.elapsed, event)
    # Training writes only progress: a queued trial with some is running, unless its run
    # ended without it.
    is_running = progress is not None and row.status == "queued" and not over
    return records.TrialRecord(
        key=row.key,
        method=row.method,
        params=json.loads(row.params),
        seed=row.seed,
        status="running" if is_running else row.status,
        row=json.loads(row.row) if row.row else None,
        error=row.error,
        seconds=row.seconds,
        progress=progress,
    )
