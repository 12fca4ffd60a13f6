"""Where work runs: here, or in an engine that outlives the app."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "BUNDLE_TASK",
    "Unpacked",
    "aside",
    "cancel",
    "certificate_end",
    "check_cluster",
    "engine",
    "finished_file",
    "keep_table",
    "pack_runs",
    "queue",
    "resume",
    "run_open",
    "serve_worker",
    "submit",
    "unpack_runs",
    "wake",
    "write_certificates",
]

if TYPE_CHECKING:
    from fairdash.jobs import aside, engine
    from fairdash.jobs._certificates import certificate_end, write_certificates
    from fairdash.jobs._work import (
        cancel,
        keep_table,
        queue,
        resume,
        run_open,
        submit,
        wake,
    )
    from fairdash.jobs._workers import check_cluster, serve_worker
    from fairdash.jobs.bundle import (
        BUNDLE_TASK,
        Unpacked,
        finished_file,
        pack_runs,
        unpack_runs,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
