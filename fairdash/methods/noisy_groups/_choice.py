"""Choose among candidates by error and violation together."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata


def best_candidate(error: ArrayLike, violation: ArrayLike) -> int:
    """Return the candidate whose worse rank, of error and of violation, is smallest.

    All candidates without a violation share the first rank, so if there are any with a
    small error the most accurate of them wins; if none keeps the constraint the choice
    is a compromise, not the constant model that often violates least.

    Parameters
    ----------
    error : array-like of shape (n,)
    violation : array-like of shape (n,)
        Largest violation; at most 0 keeps the constraint.

    Returns
    -------
    int
        Among equals the one with the smallest error, then the last.

    References
    ----------
    Cotter, Jiang and Sridharan, Two-player games for efficient non-convex constrained
    optimization (ALT 2019), section 5.2.
    """
    errors = np.asarray(error, dtype=np.float64)
    excess = np.maximum(np.asarray(violation, dtype=np.float64), 0)
    rank = np.maximum(rankdata(errors, "min"), rankdata(excess, "min"))
    return int(np.lexsort((-np.arange(len(errors)), errors, rank))[0])


def choose_model(
    models: Sequence[Any], X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike
) -> Any:
    """Return the model that is best on validation rows, without their true groups.

    Parameters
    ----------
    models : sequence of fitted estimators
        `NoisyGroupsNaive`, `NoisyGroupsDRO`, `NoisyGroupsSoft`, `NoisyGroupsIdeal`;
        each is judged by the constraint it was trained for.
    X, y : array-like
        Validation rows.
    sensitive_features : array-like of shape (n,)
        Their noisy groups.
    """
    outcome = np.asarray(y)
    errors = [float(np.mean(model.predict(X) != outcome)) for model in models]
    worst = [
        model.violation(X, outcome, sensitive_features=sensitive_features)
        for model in models
    ]
    return models[best_candidate(errors, worst)]
