"""A table of all models of a run under flips, for Python and the command line."""

from collections.abc import Sequence

import pandas as pd

from fairdash.audits._audit import audit_flips
from fairdash.audits._model import read_model, rows_of
from fairdash.audits._rows import AuditRows, Flips
from fairdash.metrics import summarise_seeds
from fairdash.store import Store, TrialRecord
from fairdash.sweep import SweepSpec


def audit_run(
    store: Store, run_id: str, flips: Flips, *, by_seed: bool = False
) -> pd.DataFrame:
    """Audit every finished model of a run on all its test rows.

    Parameters
    ----------
    store : Store
    run_id : str
    flips : mapping of str to values
        See `flip_values`.
    by_seed : bool, default=False
        One row per trial instead of means over seeds.

    Returns
    -------
    DataFrame
        ``method``, the parameters in which models of the run differ, then ``seed`` and
        the numbers of `audit_flips`, or ``n_seeds`` and their means and spreads as in
        `fairdash.metrics.summarise_seeds`.

    Raises
    ------
    ValueError
        When the run does not exist or has no finished model, an earlier version kept
        the scores of a model alone, a column is not a feature, or a value does not
        occur.
    """
    snapshot = store.snapshot(run_id, curves=False)
    trials = [trial for trial in snapshot.trials if trial.status == "finished"]
    if not trials:
        raise ValueError(f"Run {run_id} has no finished model to audit.")
    spec = SweepSpec.model_validate(snapshot.run.spec)
    dataset = store.dataset(snapshot.run.dataset_id)
    names = _differing(trials)
    known: dict[int, AuditRows] = {}  # a run has one scaling and one share of rows
    lines = []
    for trial in trials:
        if trial.seed not in known:
            known[trial.seed] = rows_of(dataset, trial, spec)
        found = audit_flips(read_model(store, trial, known[trial.seed]), flips)
        point = {name: trial.params.get(name) for name in names}
        lines.append({"method": trial.method, **point, "seed": trial.seed, **found})
    table = pd.DataFrame(lines)
    return table if by_seed else summarise_seeds(table, ["method", *names])


def _differing(trials: Sequence[TrialRecord]) -> list[str]:
    """Return the parameters of which some method has several values."""
    values: dict[tuple[str, str], set[object]] = {}
    for trial in trials:
        for name, value in trial.params.items():
            values.setdefault((name, trial.method), set()).add(value)
    several = [name for (name, _), own in values.items() if len(own) > 1]
    return list(dict.fromkeys(several))
