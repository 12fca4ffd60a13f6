"""The box: processes in which foreign files are read, and which can do nothing else."""

from fairdash.box.child import Handler
from fairdash.box.client import (
    Child,
    Ended,
    Limits,
    Refused,
    confinement,
    run,
    start,
    uses,
)
from fairdash.box.probe import Confinement
from fairdash.box.slots import Watch

__all__ = [
    "Child",
    "Confinement",
    "Ended",
    "Handler",
    "Limits",
    "Refused",
    "Watch",
    "confinement",
    "run",
    "start",
    "uses",
]
