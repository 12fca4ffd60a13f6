"""Logs as text or JSON lines."""

import json
import logging
import os
from datetime import UTC, datetime

FORMAT = "%(asctime)s %(name)s %(levelname)s %(message)s"


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
