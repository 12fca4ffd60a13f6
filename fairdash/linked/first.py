"""What Sweep shows first of a run, computed once it is over and kept with it."""

from fairdash._metric_names import PARITY
from fairdash.audits import (
    StoredSweep,
    choices,
    kept_answer,
    linked,
    sweeps,
    trials,
)
from fairdash.linked.data import LinkedView, linked_data
from fairdash.store import Store


def first_answers(store: Store, run_id: str) -> None:
    """Compute what Sweep shows first of a run, and keep it; nothing of an open run.

    The engine calls it once a run has finished, so that no page waits for it.
    """
    if not sweeps.can_be_shown(store, run_id):
        return
    sweep = sweeps.finished_sweep(store, run_id)
    assert sweep is not None, "it can be shown"
    kept_data(sweep, first_view(sweep))
    choices.setting_answer(sweep, choices.first_place(sweep))


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
    own_models = trials.own_models(sweep.store, sweep.run.dataset_id)
    if own_models or view != first_view(sweep):
        return linked_data(sweep, view)
    return kept_answer(sweep, "linked", view, lambda: linked_data(sweep, view))
