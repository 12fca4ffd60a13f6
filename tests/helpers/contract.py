"""scikit-learn's checks for methods that it knows no kind of, and what they cannot be.

A method of the catalog needs groups, which `fairdash.testing.with_groups` makes up. A
post-processing method needs scores, outcomes and groups, which `with_scores` makes up.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

from fairdash.methods import Method
from fairdash.testing import with_groups

NETWORK = {"n_epochs": 3, "batch_size": 32}
SEARCH = {**NETWORK, "n_subspace_steps": 2, "n_full_steps": 1}
GAME = {"max_iter": 25, "learning_rate": 0.5}
PARITY = {**GAME, "constraints": "demographic_parity", "slack": 0.5}
# what makes the training of a method short, and accurate all the same
QUICK: dict[str, dict[str, Any]] = {
    "unconstrained": NETWORK,
    "road": NETWORK,
    "adversarial": NETWORK,
    "fad": NETWORK,
    "cuma": NETWORK,
    "broad": NETWORK,
    "sensei": {**SEARCH, "fairness_weight": 0.001},
    "sensr": {**SEARCH, "subspace_learning_rate": 0.01},
    "clp": {**NETWORK, "fairness_weight": 0.001},
    "gradient_boosting": {"max_iter": 20},
    "forest": {"n_estimators": 10},
    "reductions": {"max_iter": 1},
    "grid_reductions": {"grid_size": 3},
    "rule_list": {"n_samples": 2, "max_prefixes": 50, "tolerance": 1.0},
    "multicalibration": {"max_iter": 2},
    "hinge": GAME,
    "noisy_naive": PARITY,
    "noisy_dro": {**PARITY, "tv_radius": 0.01},
    "noisy_soft": {**PARITY, "noise_level": 0.01},
    "noisy_ideal": {
        "constraints": "demographic_parity",
        "slack": 0.5,
        "learning_rate": 0.5,
        "n_rounds": 2,
        "n_responses": 5,
    },
}
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
_DRAWN = dict.fromkeys(
    ("check_classifiers_train", "check_classifiers_classes"),
    "`predict` draws a decision, which need not be the likelier one",
)
_DRAWS_ROWS = {WEIGHTS: "training draws rows in proportion to their weights"}
# the checks that a method cannot pass, and why
LIMITS: dict[str, dict[str, str]] = {
    **dict.fromkeys((key for key in QUICK if "n_epochs" in QUICK[key]), _DRAWS_ROWS),
    "forest": {WEIGHTS: "a tree draws as many rows as the table has"},
    "noisy_ideal": _DRAWN,
    "hardt": {
        **_DRAWN,
        WEIGHTS: "one class has one row, and each group needs both classes",
        "check_classifiers_one_label_sample_weights": "its error names the group",
    },
}


def failures(estimator: Any) -> dict[str, str]:
    """Return the checks of scikit-learn that an estimator fails, with their errors."""
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    return {
        result["check_name"]: str(result["exception"])
        for result in results
        if result["status"] == "failed"
    }


def method_failures(method: Method) -> dict[str, str]:
    """Return the checks that a method of the catalog fails, with groups made up."""
    estimator = method.estimator_class()(**QUICK.get(method.key, {}))
    return failures(with_groups(estimator))


class _OfRows:
    """A post-processing method that is called with rows, as scikit-learn does."""

    def fit(self, X: Any, y: Any = None) -> Any:
        rows = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        scores = _scores(rows)
        place = np.argsort(np.argsort(scores))
        groups = place // 2 % 2
        return super().fit(scores, place % 2, sensitive_features=groups)  # type: ignore[misc]

    def predict(self, X: Any) -> Any:
        scores, groups = self._asked(X)
        return super().predict(scores, sensitive_features=groups)  # type: ignore[misc]

    def predict_proba(self, X: Any) -> Any:
        scores, groups = self._asked(X)
        return super().predict_proba(scores, sensitive_features=groups)  # type: ignore[misc]

    def score(self, X: Any, y: Any = None) -> float:
        return float(np.mean(self.predict_proba(X)))

    def _asked(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        return _scores(rows), np.zeros(len(rows), dtype=int)


def _scores(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total = rows.sum(axis=1)
    return total / (1 + np.abs(total))


def with_scores(method: Any) -> Any:
    """Return a post-processing method whose ``fit`` makes up what it learns from."""
    cls = type(method)
    name = f"Plain{cls.__name__}"
    kind = type(name, (_OfRows, cls), {})
    kind.__module__, kind.__qualname__ = __name__, name
    globals()[name] = kind  # so that it can be pickled
    return kind(**clone(method).get_params(deep=False))
