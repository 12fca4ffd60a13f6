"""Finished runs as one file: written here, and read in the box."""

from fairdash.jobs.bundle.pack import finished_file, pack_runs
from fairdash.jobs.bundle.unpack import BUNDLE_TASK, Unpacked, unpack_runs

__all__ = [
    "BUNDLE_TASK",
    "Unpacked",
    "finished_file",
    "pack_runs",
    "unpack_runs",
]
