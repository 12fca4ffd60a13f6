"""What Sweep shows first of a run, computed once it is over and kept with it."""

import json
from hashlib import sha256

from fairdash._code import code_version
from fairdash._metric_names import PARITY
from fairdash.audits import StoredSweep, linked, sweeps, trials
from fairdash.linked.data import LinkedView, linked_data
from fairdash.store import Store

# Rooms whose code decides what a browser is sent of a sweep.
_ROOMS = (
    "_escaping",
    "_wording",
    "analysis",
    "audits",
    "datasets",
    "linked",
    "methods",
    "metrics",
    "plots",
    "postprocessing",
    "scored",
    "store",
    "sweep",
    "wording",
)
_NAME_LENGTH = 16


def first_answers(store: Store, run_id: str) -> None:
    """Compute what pages of a run ask first, and keep it; nothing of an open run.

    The engine calls it once a run is over, so that no page waits for it.
    """
    if sweeps.can_be_shown(store, run_id):
        sweep = sweeps.finished_sweep(store, run_id)
        assert sweep is not None, "it can be shown"
        kept_data(sweep, first_view(sweep))


def first_view(sweep: StoredSweep) -> LinkedView:
    """Return the view that Sweep opens with."""
    limit = float(sweep.run.spec.get("di_limit", 0.05))
    measure = linked.first_measure(sweep)
    return LinkedView(max(limit, 0.0), PARITY, measure, opens=True)


def kept_data(sweep: StoredSweep, view: LinkedView) -> bytes:
    """Return `linked_data`; of the first view of a sweep that is over it is kept.

    Other views, and those beside own scores, which may be deleted any time, are made
    anew: a hand on a slider would fill the disk.
    """
    run = sweep.run
    store = sweep.store
    if not run.over or view != first_view(sweep):
        return linked_data(sweep, view)
    if trials.own_models(store, run.dataset_id):
        return linked_data(sweep, view)
    roles = store.dataset_record(run.dataset_id).roles
    question = [*linked.follows_from(sweep), roles.model_dump(mode="json"), view]
    name = sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    name = name[:_NAME_LENGTH]
    version = code_version(*_ROOMS)
    content = store.answer(run.id, name, version)
    if content is None:
        content = linked_data(sweep, view)
        store.keep_answer(run.id, name, version, content)
    return content
