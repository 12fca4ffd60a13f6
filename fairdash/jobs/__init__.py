"""Where work runs: here, or in an engine that outlives the app."""

from typing import TYPE_CHECKING, Any

from fairdash.jobs import engine
from fairdash.jobs._work import cancel, keep_table, queue, run_open, submit, wake
from fairdash.jobs.bundle import (
    BUNDLE_TASK,
    Unpacked,
    finished_file,
    pack_runs,
    unpack_runs,
)

if TYPE_CHECKING:
    from fairdash.jobs._workers import serve_worker, write_certificates


def __getattr__(name: str) -> Any:
    """Load what needs Dask only when it is asked for: pages live without it."""
    if name in ("serve_worker", "write_certificates"):
        from fairdash.jobs import _workers

        return getattr(_workers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
