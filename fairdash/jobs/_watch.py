"""What an operator watches: logs as text or JSON lines, readiness, metrics."""

import json
import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from fairdash import __version__
from fairdash.jobs._engine import engine_card, engine_lives
from fairdash.jobs._waits import engine_waits_for
from fairdash.store import Store

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"
STATUSES = ("queued", "running", "finished", "failed", "cancelled")


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time (UTC), level, logger, message, traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def logs_json() -> bool:
    """Tell whether ``FAIRDASH_LOG`` asks for JSON."""
    return os.environ.get("FAIRDASH_LOG") == "json"


def log_to_stderr() -> None:
    """Write what this process logs to stderr, as ``FAIRDASH_LOG`` says.

    Call it again after an import of a library that sets up loggers of its own.
    """
    logging.basicConfig(format=FORMAT)
    logging.getLogger("fairdash").setLevel(logging.INFO)
    if not logs_json():
        return
    logging.captureWarnings(True)
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    for logger in (logging.root, *known):
        for handler in logger.handlers:
            handler.setFormatter(JsonLines())


def metrics(store: Store) -> str:
    """Return the state of a home folder in the text format of Prometheus.

    Counts alone: no name of a run, a table or a column is in it. Raises StoreError or
    OSError when the store does not work.
    """
    runs = Counter(str(run.status) for run in store.runs())
    open_models: Counter[str] = Counter()
    for run in store.open_runs():
        trials = store.snapshot(run.id, curves=False).trials
        open_models.update(str(trial.status) for trial in trials)
    home = store.home
    threads = (engine_card(home) or {"threads": 0})["threads"]
    lines = [
        *_gauge("info", "Version of fairdash.", {f'version="{__version__}"': 1}),
        *_gauge("runs", "Runs in the store.", _by_status(runs)),
        *_gauge("open_models", "Models of runs not over.", _by_status(open_models)),
        *_gauge("engine_up", "1 while an engine lives.", {"": engine_lives(home)}),
        *_gauge("engine_threads", "Threads of its workers.", {"": threads}),
        *_gauge(
            "engine_waits",
            "1 while it cannot train.",
            {"": bool(engine_waits_for(home))},
        ),
        *_gauge(
            "disk_free_bytes",
            "Free on the disk of the home folder.",
            {"": shutil.disk_usage(home).free},
        ),
    ]
    return "\n".join([*lines, ""])


def _by_status(counts: Mapping[str, int]) -> dict[str, int]:
    return {f'status="{status}"': counts.get(status, 0) for status in STATUSES}


def _gauge(name: str, words: str, values: Mapping[str, int]) -> Iterable[str]:
    yield f"# HELP fairdash_{name} {words}"
    yield f"# TYPE fairdash_{name} gauge"
    for labels, value in values.items():
        shown = f"{{{labels}}}" if labels else ""
        yield f"fairdash_{name}{shown} {int(value)}"
