"""Fair log-loss with its penalty chosen by cross-validation."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import validate_data

from fairdash._validation import check_whole, encode_binary_target, encode_groups
from fairdash.methods._grouped import GroupedClassifier
from fairdash.methods._truncation import Float
from fairdash.methods.fair_log_loss import FairLogLoss

Codes = NDArray[np.int64]
CLIP = 1e-7  # probabilities that the log loss tells from 0 and 1


class FairLogLossCV(GroupedClassifier):
    """Fair log-loss whose ``alpha`` has the smallest log loss on rows held out.

    Folds are stratified by outcome and group; along ``alphas`` each fit starts where
    the last ended.

    Parameters
    ----------
    constraints : {"demographic_parity", "equalized_odds", "true_positive_rate_parity"}
    alphas : sequence of float
        Penalties to try; by default those of the paper.
    cv : int, default=5
        Number of folds.
    random_state : int, RandomState instance or None
        Shuffles rows into folds.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    losses_ : DataFrame
        Log loss on held-out rows: one row per fold, one column per alpha.
    estimator_ : FairLogLoss
        Fitted on all rows with ``alpha_``.
    classes_, groups_ : ndarray

    References
    ----------
    Rezaei et al. (AAAI 2020), section 5.
    """

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        alphas: Sequence[float] = (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5),
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.constraints = constraints
        self.alphas = alphas
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Choose ``alpha`` and fit; raises as ``FairLogLoss.fit`` does."""
        check_whole("cv", self.cv, at_least=2)
        rows: Float
        rows, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, target = encode_binary_target(y)
        self.groups_, codes = encode_groups(sensitive_features, rows)
        model = FairLogLoss(self.constraints)
        folds = StratifiedKFold(
            self.cv, shuffle=True, random_state=self.random_state
        ).split(rows, 2 * codes + target)
        losses = []
        for kept, held in folds:
            path = model.fit_many(
                [{"alpha": alpha} for alpha in self.alphas],
                rows[kept],
                target[kept],
                sensitive_features=codes[kept],
            )
            losses.append(
                [_loss(one, rows[held], target[held], codes[held]) for one in path]
            )
        self.losses_ = pd.DataFrame(losses, columns=list(self.alphas))
        self.alpha_ = float(self.alphas[int(np.argmin(np.mean(losses, axis=0)))])
        self.estimator_ = model.set_params(alpha=self.alpha_).fit(
            rows, target, sensitive_features=codes
        )
        return self

    def _positive(self, rows: Float, group: Codes) -> Float:
        positive: Float = self.estimator_._positive(rows, group)
        return positive


def _loss(model: FairLogLoss, X: Float, target: Codes, codes: Codes) -> float:
    positive = model.predict_proba(X, sensitive_features=codes)[:, 1]
    return float(log_loss(target, np.clip(positive, CLIP, 1 - CLIP), labels=[0, 1]))
