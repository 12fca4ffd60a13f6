"""Models that runs keep, and the rows that they are audited on."""

from dataclasses import replace

from fairdash.audits.audited_model import AuditedModel, AuditRows, Scaling, audited
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import scorer_of
from fairdash.scored import DecisionRule, ScoredModel
from fairdash.store import Store
from fairdash.sweep import SweepSpec, planning

_ROUNDING = 1e-6  # of stored scores, which are float32: a cut is the score of a row


def deciding_by(
    model: AuditedModel,
    rule: DecisionRule,
    store: Store,
    dataset_id: str,
    trial: ScoredModel,
) -> AuditedModel:
    """Return the model of a trial with the threshold that a rule learns."""
    if rule.usual:
        return model
    rows = rows_of(store, dataset_id, trial.seed, Subgroups())
    cut = rows.threshold(trial.decided_by(rule))
    return replace(model, threshold=cut + _ROUNDING)


def audited_scores(store: Store, dataset: Dataset, trial: ScoredModel) -> AuditedModel:
    """Return the model whose file came with scores: a trial of `callable_models`.

    Raises ValueError when the scores are a column alone, or no longer kept.
    """
    assert trial.score is not None, "only own scores come with a file"
    model = store.score_model(dataset, trial.score)
    key = f"{trial.source.key} {trial.seed}"
    return audited(model, dataset, trial.seed, key=key)


def read_model(store: Store, trial: ScoredModel, rows: AuditRows) -> AuditedModel:
    """Return the model that a trial keeps.

    Raises ValueError when an earlier version kept its scores alone.
    """
    arrays = store.artifact(trial.source.key).network()
    return AuditedModel(trial.source.key, trial.method, scorer_of(arrays), rows)


def audit_rows_of(dataset: Dataset, trial: ScoredModel, spec: SweepSpec) -> AuditRows:
    """Return the rows of a trial: split, encoded and drawn as its run asked for.

    Raises ValueError when the model was trained by an earlier version.
    """
    scaling, drawn = encoding_of(dataset, trial, spec)
    return AuditRows.of(dataset, trial.seed, scaling=scaling, train_rows=drawn)


def encoding_of(
    dataset: Dataset, trial: ScoredModel, spec: SweepSpec
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
    if trial.source.key not in keys:
        raise ValueError(
            "This model was trained by an earlier version, so its features cannot be "
            "encoded as they were; train it again."
        )
    return spec.scaling, spec.train_rows
