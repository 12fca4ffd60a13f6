"""The box: processes in which foreign files are read, and which can do nothing else."""

from fairdash.box.child import Handler
from fairdash.box.client import Child, Ended, Limits, Refused, Watch, run, start

__all__ = [
    "Child",
    "Ended",
    "Handler",
    "Limits",
    "Refused",
    "Watch",
    "run",
    "start",
]
