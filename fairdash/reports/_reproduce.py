"""What reproduces a run on another machine: its specification without paths."""

from fairdash.store import Store
from fairdash.sweep import SweepSpec


def portable_spec(store: Store, run_id: str) -> SweepSpec:
    """Return the specification of a run as it can be followed anywhere.

    A table is named by the digest of its file, with how that was read, so
    ``fairdash run config.yaml --table FILE`` and the script of
    `fairdash.sweep.python_script` take the file from wherever it lies and refuse
    another one. A sample comes with the package.

    Raises
    ------
    ValueError
        When there is no such run, or it is of methods that are gone.
    """
    run = store.run(run_id)
    spec = SweepSpec.of_run(run.spec)
    if spec.data.sample:
        return spec
    table = store.dataset_record(run.dataset_id).table_sha256
    where = {"path": None, "table": table, "table_format": store.table_format(table)}
    return spec.model_copy(update={"data": spec.data.model_copy(update=where)})
