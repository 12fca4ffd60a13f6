"""The kind of a stored model, which follows from the names of its arrays."""

from importlib import import_module
from typing import Any

from fairdash.methods.scorers.base import Arrays, Scorer

_SCORERS = "fairdash.methods.scorers"
# By an array that only this kind has, or none of the kinds before it: the order counts.
# Modules are named and not imported, since models on top of others read these here.
_KINDS = {
    "flags": (f"{_SCORERS}.composed", "Unfilled"),
    "weight_0": (f"{_SCORERS}.network", "Network"),
    "pulls": ("fairdash.methods.log_loss.truncation", "TruncatedLogistic"),
    "signs": (f"{_SCORERS}.composed", "GroupThresholds"),
    "member_shares": (f"{_SCORERS}.composed", "Mixture"),
    "shares": (f"{_SCORERS}.simple", "LinearMixture"),
    "n_groups": (f"{_SCORERS}.composed", "Recalibrated"),
    "baseline": (f"{_SCORERS}.trees", "Boosted"),
    "roots": (f"{_SCORERS}.trees", "Forest"),
    "coefficients": (f"{_SCORERS}.simple", "Linear"),
    "rule_thresholds": (f"{_SCORERS}.simple", "RuleList"),
    "constant": (f"{_SCORERS}.simple", "Constant"),
}


def scorer_of(arrays: Arrays) -> Scorer:
    """Return the model that a trial keeps, known by the names of its arrays.

    Raises ValueError when only its scores were kept.
    """
    for name, (module, class_name) in _KINDS.items():
        if name in arrays:
            kind: Any = getattr(import_module(module), class_name)
            scorer: Scorer = kind.from_arrays(arrays)
            return scorer
    raise ValueError(
        "Only the scores of this model are kept, so changed people cannot be scored. "
        "Train it with logistic regression, gradient boosting or a random forest as "
        "base model. If an earlier version trained it, delete its runs and train again."
    )
