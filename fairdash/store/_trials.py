"""Trials: results and progress in, one consistent picture of a run out."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from fairdash.store._database import Database
from fairdash.store._records import Progress, Snapshot, TrialRecord
from fairdash.store._runs import RUN_RECORDS, run_record
from fairdash.store._schema import PROGRESS, RUN_TRIALS, RUNS, TRIALS


class Trials(Database):
    """Writes may be repeated any number of times in any order: finished stays so."""

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
        with self.reading() as connection:
            return set(connection.execute(query).scalars())

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
        with self.writing() as connection:
            update = ["epoch", "n_epochs", "seconds", "event"]
            self.upsert(connection, PROGRESS, rows, update=update)

    def forget_progress(self, keys: Iterable[str]) -> None:
        """Drop what was heard of trials that are to begin anew."""
        with self.writing() as connection:
            for key in keys:
                connection.execute(sa.delete(PROGRESS).where(PROGRESS.c.key == key))

    def snapshot(self, run_id: str, *, curves: bool = True) -> Snapshot:
        """Return a run with all its trials, read at one moment.

        Parameters
        ----------
        run_id : str
            Id of the run.
        curves : bool, default=True
            Whether progress carries its curves; a long list of trials needs none.

        Raises
        ------
        ValueError
            When there is no such run.
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
        with self.reading() as connection:
            asked = RUN_RECORDS.where(RUNS.c.id == run_id)
            run = connection.execute(asked).mappings().first()
            trials = connection.execute(query).all()
        if run is None:
            raise ValueError(f"There is no run {run_id!r} in {self.home}.")
        record = run_record(run)
        return Snapshot(record, tuple(_trial(row, record.over) for row in trials))

    def _put(self, run_id: str, key: str, change: Mapping[str, Any]) -> None:
        statement = sa.update(RUN_TRIALS).where(
            RUN_TRIALS.c.run_id == run_id,
            RUN_TRIALS.c.key == key,
            RUN_TRIALS.c.status != "finished",
        )
        with self.writing() as connection:
            connection.execute(statement.values(**change))


def _trial(row: Any, over: bool) -> TrialRecord:
    progress = None
    if row.epoch is not None:
        event = json.loads(row.event)
        progress = Progress(row.epoch, row.n_epochs, row.elapsed, event)
    begun = progress is not None and row.status == "queued" and not over
    return TrialRecord(
        key=row.key,
        method=row.method,
        params=json.loads(row.params),
        seed=row.seed,
        status="running" if begun else row.status,
        row=json.loads(row.row) if row.row else None,
        error=row.error,
        seconds=row.seconds,
        progress=progress,
    )
