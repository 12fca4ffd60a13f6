"""The turns in a run's life, as every engine writes them in the store."""

from collections.abc import Iterable

from fairdash.jobs._work import Outcome
from fairdash.methods import Device
from fairdash.store import RunRecord, Store
from fairdash.sweep import Stack, Trial, plan


def begin(store: Store, run: RunRecord, device: Device) -> list[Stack]:
    """Mark a run as running and return what is left to do; so it resumes, too.

    Half a training that an earlier run gave up begins anew and counts for nothing.
    Stacks are of the size that suits the ``device`` they will train on.

    Raises
    ------
    ValueError
        When a trial cannot be planned, say because its method is gone.
    """
    left = store.unfinished(run.id)
    trials = [
        Trial(trial.key, trial.method, trial.params, trial.seed, data_key="")
        for trial in store.snapshot(run.id, curves=False).trials
        if trial.key in left
    ]
    stacks = plan(trials, device=device)
    store.forget_progress(key for key in left if not store.artifact(key).exists())
    store.set_status(run.id, "running")
    return stacks


def record(store: Store, run_id: str, outcomes: Iterable[Outcome]) -> None:
    """Write what became of trials."""
    for outcome in outcomes:
        if outcome.row is None:
            error = outcome.error or "unknown error"
            store.fail_trial(run_id, outcome.key, error=error)
        else:
            seconds = outcome.seconds or 0.0
            store.put_trial(run_id, outcome.key, row=outcome.row, seconds=seconds)


def fail(store: Store, run_id: str, stack: Stack, error: str) -> None:
    """Write that no trial of a stack came out."""
    record(store, run_id, [Outcome(trial.key, error=error) for trial in stack.trials])


def end(store: Store, run_id: str) -> None:
    """End a run whose trials are all over: failed if one of them failed."""
    failed = store.snapshot(run_id, curves=False).count("failed")
    store.set_status(run_id, "failed" if failed else "finished")
