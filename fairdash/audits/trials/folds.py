"""Models on all rows, each predicted by one that did not see it: cross-validation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fairdash.audits.trials.models import Setting, on_shared_seeds, spec_of
from fairdash.audits.trials.rows import is_own, key_of_folds
from fairdash.datasets import FOLDS
from fairdash.store import RunRecord, Store, TrialRecord
from fairdash.sweep import FOLD, SweepSpec, trial_key


class CrossValidated(NamedTuple):
    """Some models on all rows.

    Attributes
    ----------
    models : list of Setting
        Those of which all folds are there, on the seeds all of them have, score columns
        among them.
    missing : SweepSpec or None
        What trains the folds of the others, or of further seeds.
    note : str
        Which models cannot be looked at on all rows, and why.
    failed : str
        Why the last run over folds of the data set failed, if it did.
    """

    models: list[Setting]
    missing: SweepSpec | None
    note: str
    failed: str


def cross_validated(
    store: Store, models: Sequence[Setting], dataset_id: str
) -> CrossValidated:
    """Return models as they are on all rows, and what to train for the others.

    For every seed a setting has as many models as there are folds; the one that other
    pages look at is the first. Several seeds are several divisions of the same rows.
    """
    trained = [model for model in models if not is_own(model)]
    seeds = on_shared_seeds(trained).seeds if trained else ()
    whole, missing = [], []
    for model in trained:
        if not model.trained.now or not model.seeds.issuperset(seeds):
            continue
        trials = model.on(frozenset(seeds)).trials
        finished = [
            replace(trial, key=key_of_folds(trial.seed, keys))
            for trial in trials
            for keys in [fold_keys(store, model, trial, dataset_id)]
            if all(store.artifact(key).exists() for key in keys)
        ]
        if finished:
            whole.append(replace(model, trials=tuple(finished)))
        if len(finished) < len(trials):
            missing.append(model)
    left = [m.label for m in trained if not m.trained.now]
    note = f"Of an earlier version, so not cross-validated: {', '.join(left)}."
    return CrossValidated(
        _with_columns(models, whole),
        spec_of(store, missing, list(seeds), cross_validate=True) if missing else None,
        note if left else "",
        _failure(store, dataset_id),
    )


def fold_keys(
    store: Store, model: Setting, trial: TrialRecord, dataset_id: str
) -> list[str]:
    """Return the keys of a trial and of the same training on its further folds."""
    data = store.dataset(dataset_id).key
    further = [
        trial_key(
            method=trial.method,
            params=trial.params | {FOLD: fold},
            seed=trial.seed,
            data=data,
            scaling=model.trained.scaling,
            train_rows=model.trained.train_rows,
        )
        for fold in range(1, FOLDS)
    ]
    return [trial.key, *further]


def folds_in_training(store: Store, dataset_id: str) -> RunRecord | None:
    """Return the run that trains folds on a data set now, if there is one."""
    open_runs = (run for run in store.runs(dataset_id) if not run.over)
    return next((run for run in open_runs if run.spec.get("cross_validate")), None)


def _failure(store: Store, dataset_id: str) -> str:
    """Return why the last run over folds failed, nothing if it did not."""
    runs = (one for one in store.runs(dataset_id) if one.spec.get("cross_validate"))
    last = next(runs, None)
    if last is None or last.status != "failed":
        return ""
    trials = store.snapshot(last.id, curves=False).trials
    return next((one.reason for one in trials if one.error), last.error or "")


def _with_columns(models: Sequence[Setting], whole: list[Setting]) -> list[Setting]:
    """Return models on all rows in the order given, score columns on their seeds."""
    if not whole:
        return [model for model in models if is_own(model)]
    seeds = sorted(frozenset().union(*(model.seeds for model in whole)))
    known = {model.id: model for model in whole}
    for model in filter(is_own, models):
        first = model.trials[0]
        trials = [
            replace(first, key=key_of_folds(seed, [first.key]), seed=seed)
            for seed in seeds
        ]
        known[model.id] = replace(model, trials=tuple(trials))
    return [known[model.id] for model in models if model.id in known]
