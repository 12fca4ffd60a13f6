"""Where work runs: here, or in an engine that outlives the app."""

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

__all__ = [
    "Lease",
    "attach",
    "cancel",
    "engine_lives",
    "engine_waits_for",
    "ensure_engine",
    "queue",
    "run_open",
    "submit",
    "use_scheduler",
    "wake",
]
