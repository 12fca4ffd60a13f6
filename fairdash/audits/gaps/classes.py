"""Every class of a column of predicted classes, each against the rest."""

from dataclasses import replace

from fairdash.audits.tables.outcomes import OutcomesAudit, audit_outcomes
from fairdash.audits.trials.memo import memoised
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import tested
from fairdash.datasets import Subgroups
from fairdash.store import Store


def predicts_classes(store: Store, model: Setting, dataset_id: str) -> bool:
    """Return whether a model is a column that predicts one of three or more classes."""
    score = model.score
    if score is None or not score.positive:
        return False
    dataset = store.dataset(dataset_id)
    return dataset.frame[dataset.roles.target].nunique() > 2


def every_class(store: Store, model: Setting, dataset_id: str) -> OutcomesAudit:
    """Audit each class of a model against the rest, all classes at once.

    On the rows where the model is looked at, of its first seed. Raises ValueError for a
    model that does not predict classes, or more than 20 of them.
    """
    if not predicts_classes(store, model, dataset_id):
        raise ValueError(f"{model.label} does not predict three or more classes.")
    favourable = store.dataset(dataset_id).roles.positive_is != "unfavourable"
    return _every_class(store, model, dataset_id, favourable)


@memoised(16)
def _every_class(
    store: Store, model: Setting, dataset_id: str, favourable: bool
) -> OutcomesAudit:
    score = model.score
    assert score is not None, "it predicts classes"
    rows = tested(store, model, dataset_id, Subgroups())[0].rows
    roles = rows.dataset.roles
    frame = rows.dataset.frame.iloc[rows.where]
    audit = audit_outcomes(
        frame[roles.target],
        frame[score.column],
        kind="classes",
        sensitive_features=rows.groups["sensitive_features"],
        favourable=favourable,
        **rows.sampling,
    )
    return replace(audit, feature=roles.group_prefix())
