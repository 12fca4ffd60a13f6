"""Where work runs: here, or in an engine that outlives the app."""

from typing import TYPE_CHECKING, Any

from fairdash.jobs._engine import (
    attach,
    engine_lives,
    engine_waits_for,
    ensure_engine,
    use_scheduler,
    wake,
)
from fairdash.jobs._inline import run_open
from fairdash.jobs._lease import Lease
from fairdash.jobs._submit import cancel, queue, submit

if TYPE_CHECKING:
    from fairdash.jobs.worker import serve_worker

__all__ = [
    "Lease",
    "attach",
    "cancel",
    "engine_lives",
    "engine_waits_for",
    "ensure_engine",
    "queue",
    "run_open",
    "serve_worker",
    "submit",
    "use_scheduler",
    "wake",
]


def __getattr__(name: str) -> Any:
    """Load what needs Dask only when it is asked for: pages live without it."""
    if name == "serve_worker":
        from fairdash.jobs.worker import serve_worker

        return serve_worker
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
