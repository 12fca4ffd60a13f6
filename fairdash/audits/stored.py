"""Models that runs keep, and the rows that they are audited on."""

from dataclasses import replace

from fairdash.audits.audited_model import AuditedModel, AuditRows, Scaling, audited
from fairdash.audits.trials.decision_rule import DecisionRule, ruled_key
from fairdash.audits.trials.rows import rows_of, score_of_key
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import scorer_of
from fairdash.store import Store, TrialRecord
from fairdash.sweep import SweepSpec, planning

_ROUNDING = 1e-6  # of stored scores, which are float32: a cut is the score of a row


def deciding_by(
    model: AuditedModel,
    rule: DecisionRule,
    store: Store,
    dataset_id: str,
    trial: TrialRecord,
) -> AuditedModel:
    """Return the model of a trial with the threshold that a rule learns."""
    if rule.usual:
        return model
    rows = rows_of(store, dataset_id, trial.seed, Subgroups())
    cut = rows.threshold(ruled_key(trial.key, rule, trial.seed))
    return replace(model, threshold=cut + _ROUNDING)


def audited_scores(store: Store, dataset: Dataset, trial: TrialRecord) -> AuditedModel:
    """Return the model whose file came with scores: a trial of `callable_models`.

    Raises ValueError when the scores are a column alone, or no longer kept.
    """
    score = score_of_key(trial.key)
    assert score is not None
    model = store.score_model(dataset, score)
    return audited(model, dataset, trial.seed, key=f"{trial.key} {trial.seed}")


def read_model(store: Store, trial: TrialRecord, rows: AuditRows) -> AuditedModel:
    """Return the model that a trial keeps.

    Raises ValueError when an earlier version kept its scores alone.
    """
    arrays = store.artifact(trial.key).network()
    return AuditedModel(trial.key, trial.method, scorer_of(arrays), rows)


def audit_rows_of(dataset: Dataset, trial: TrialRecord, spec: SweepSpec) -> AuditRows:
    """Return the rows of a trial: split, encoded and drawn as its run asked for.

    Raises ValueError when the model was trained by an earlier version.
    """
    scaling, drawn = encoding_of(dataset, trial, spec)
    return AuditRows.of(dataset, trial.seed, scaling=scaling, train_rows=drawn)


def encoding_of(
    dataset: Dataset, trial: TrialRecord, spec: SweepSpec
) -> tuple[Scaling, int | None]:
    """Return how the run of a trial scaled features, and how many rows it drew.

    Raises ValueError when the model was trained by a version that encoded otherwise:
    its key says so.
    """
    keys = {
        planning.trial_key(
            method=trial.method,
            params=trial.params,
            seed=trial.seed,
            data=dataset.key,
            scaling=spec.scaling,
            train_rows=spec.train_rows,
            weighted=weighted,
            version=version,
        )
        for version in planning.ENCODED_ALIKE
        for weighted in {False, dataset.sample_weight is not None}
    }
    if trial.key not in keys:
        raise ValueError(
            "This model was trained by an earlier version, so its features cannot be "
            "encoded as they were; train it again."
        )
    return spec.scaling, spec.train_rows
