"""Ask for a run, or for its end."""

from fairdash.jobs._engine import wake
from fairdash.methods import CATALOG
from fairdash.store import Store
from fairdash.sweep import SweepSpec, expand, source_file


def submit(store: Store, spec: SweepSpec, *, name: str | None = None) -> str:
    """Queue a run and wake the engine; return the id of the run.

    Parameters and errors are those of `queue`.
    """
    run_id = queue(store, spec, name=name)
    wake(store)
    return run_id


def queue(store: Store, spec: SweepSpec, *, name: str | None = None) -> str:
    """Queue a run for the next engine that wakes; return the id of the run.

    Parameters
    ----------
    store : Store
    spec : SweepSpec
        A sample or a file it names is kept in the store first, so the run no longer
        depends on it.
    name : str, optional
        Title of the run; by default its methods and its data set.

    Raises
    ------
    ValueError
        When the specification does not fit the catalog or its data; nothing is queued.
    """
    table = spec.data.table
    if table is None:
        path = source_file(spec.data)
        table = store.add_table(path, path.name)
    dataset_id = store.add_dataset(
        table, spec.data.roles, spec.data.name, spec.subgroups
    )
    dataset = store.dataset(dataset_id)
    spec.subgroups.label(dataset.frame)
    spec = spec.fitted_to(dataset)
    trials = expand(spec, dataset.key)
    return store.add_run(
        spec.model_dump(mode="json", exclude_none=True),
        trials,
        name=name or _title(spec),
        dataset_id=dataset_id,
    )


def cancel(store: Store, run_id: str) -> None:
    """Ask a run to stop: its stacks do so within an epoch, and keep nothing."""
    store.ask_cancel(run_id)
    wake(store)


def _title(spec: SweepSpec) -> str:
    methods = dict.fromkeys(CATALOG[grid.method].label for grid in spec.methods)
    return f"{', '.join(methods)} on {spec.data.name}"
