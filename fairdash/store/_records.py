"""Answers of the store: plain frozen records."""

from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from fairdash._wording import plural
from fairdash.datasets import AddedScores, Roles, Subgroups

Status = Literal["queued", "running", "finished", "failed", "cancelled"]
TERMINAL: frozenset[Status] = frozenset({"finished", "failed", "cancelled"})


@dataclass(frozen=True)
class TableRecord:
    """An uploaded file."""

    sha256: str
    name: str
    n_rows: int
    n_columns: int
    size: int
    created: float


@dataclass(frozen=True)
class DatasetRecord:
    """A table with its roles and subgroups."""

    id: str
    table_sha256: str
    table_name: str
    name: str
    n_rows: int
    roles: Roles
    subgroups: Subgroups
    created: float


@dataclass(frozen=True)
class Draft:
    """Edited roles of a table.

    Attributes
    ----------
    version : int
        Rises when they changed elsewhere than in the form that shows them.
    """

    roles: Roles
    subgroups: Subgroups
    version: int = 0


@dataclass(frozen=True)
class ScoresRecord:
    """Scores of a model that joined a data set after its table.

    Attributes
    ----------
    source : str
        The file they came in, "" from Python.
    key : str or None
        The column they were joined by; None for the order of rows.
    n_rows, n_unused : int
        Rows that have a score, and scores that belong to no row used.
    """

    score: AddedScores
    source: str
    key: str | None
    n_rows: int
    n_unused: int
    created: float

    def words(self) -> str:
        """Return words for the join: "7,214 rows by id; 3 scores of no row used"."""
        order = f"by {self.key}" if self.key else "in the order of rows"
        text = f"{plural(self.n_rows, 'row')} {order}"
        if self.n_unused > 0:
            text += f"; {plural(self.n_unused, 'score')} of no row used"
        return text


@dataclass(frozen=True)
class RunRecord:
    """A run: its whole specification, where it stands and what came out.

    ``summary`` has one entry per method: ``method``, ``trials``, ``finished``,
    ``failed`` and the mean over its finished trials of the test metrics. Times are
    seconds since 1970.
    """

    id: str
    name: str
    dataset_id: str
    dataset_name: str
    spec: dict[str, Any]
    status: Status
    error: str | None
    summary: list[dict[str, Any]]
    created: float
    started: float | None
    cancel_asked: float | None
    finished: float | None

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.status in TERMINAL


@dataclass(frozen=True)
class Queue:
    """How many runs are not over, and how many of their models."""

    runs: int
    models: int

    def __add__(self, other: "Queue") -> "Queue":
        return Queue(self.runs + other.runs, self.models + other.models)


@dataclass(frozen=True)
class Progress:
    """The last word of a trial in training."""

    epoch: int
    n_epochs: int
    seconds: float
    event: dict[str, Any]

    @property
    def curves(self) -> dict[str, list[float | None]]:
        """Values by name, one per watched epoch; ``epoch`` says which."""
        return self.event.get("curves", {})


@dataclass(frozen=True)
class TrialRecord:
    """A trial within a run; ``row`` holds its metrics once it has finished."""

    key: str
    method: str
    params: dict[str, Any]
    seed: int
    status: Literal["queued", "running", "finished", "failed"]
    row: dict[str, Any] | None
    error: str | None
    seconds: float | None
    progress: Progress | None

    @property
    def share(self) -> float:
        """Share of its epochs that are behind it, 0 to 1."""
        if self.status in TERMINAL:
            return 1.0
        if self.progress is None:
            return 0.0
        return self.progress.epoch / max(1, self.progress.n_epochs)

    @property
    def reason(self) -> str:
        """The last line of the error, or nothing."""
        return (self.error or "").strip().rsplit("\n", 1)[-1]


@dataclass(frozen=True)
class Snapshot:
    """A run with all its trials at one moment."""

    run: RunRecord
    trials: tuple[TrialRecord, ...]

    def count(self, status: str) -> int:
        """Return the number of trials with ``status``."""
        return sum(trial.status == status for trial in self.trials)

    @property
    def share(self) -> float:
        """Share of all epochs that are behind us, 0 to 1."""
        return sum(trial.share for trial in self.trials) / max(1, len(self.trials))

    def table(self) -> pd.DataFrame:
        """Return one row per finished trial: key, method, seed, params, metrics."""
        rows = [
            {
                "key": trial.key,
                "method": trial.method,
                "seed": trial.seed,
                **trial.params,
                "seconds": trial.seconds,
                **trial.row,
            }
            for trial in self.trials
            if trial.row is not None
        ]
        return pd.DataFrame(rows)
