"""Fair log-loss with the penalty that does best on folds of the training rows."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from fairdash.methods.declare import Method, param, vary
from fairdash.methods.log_loss.fair_log_loss import FairLogLoss
from fairdash.methods.log_loss.truncation import Float
from fairdash.methods.params import RANDOM_STATE, at_least_two

ALPHAS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
CLIP = 1e-7  # probabilities that the log loss tells from 0 and 1


class FairLogLossCV(FairLogLoss):
    r"""Fair log-loss with the penalty of least log loss on rows held out.

    ``alpha`` is one of .001, .005, .01, .05, .1, .2, .3, .4, .5, as in the paper: the
    one of least mean log loss of the truncated probabilities over folds of the training
    rows, which are stratified by outcome and group. The model is then fitted on all of
    them; see :class:`FairLogLoss`.

    Attributes
    ----------
    alpha_ : float
        The penalty chosen.
    losses_ : DataFrame
        Log loss on rows held out: one row a fold, one column an alpha.
    coef_, intercept_, multiplier_, kkt_residual_, network_, history_
        As in :class:`FairLogLoss`, as are the others.

    References
    ----------
    Rezaei, Fathony, Memarrast and Ziebart, Fairness for Robust Log Loss Classification
    (AAAI 2020), section 5.
    """

    alpha_: float
    losses_: pd.DataFrame

    cv: int = param(
        5,
        "Folds",
        low=2,
        high=20,
        advanced=True,
        check=at_least_two,
        help="More: slower, and a steadier choice.",
        doc="Number of folds.",
    )
    random_state: Any = vary(RANDOM_STATE, doc="Shuffles rows into folds.")

    @property
    def alpha(self) -> float:  # type: ignore[override]
        """The penalty chosen: no parameter here."""
        return self.alpha_

    def _fit_models(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike | None,
        sample_weight: ArrayLike | None,
    ) -> None:
        for model in models:
            model._check_params()
        rows, target, codes, _ = self._training_rows(
            X, y, sensitive_features, dtype=np.float64
        )
        for model in models:
            model.losses_ = model._held_out(rows, target, codes)
            model.alpha_ = ALPHAS[int(model.losses_.mean().to_numpy().argmin())]
        super()._fit_models(models, X, y, sensitive_features, None)

    def _held_out(
        self, X: Float, target: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> pd.DataFrame:
        """Return the log loss of every fold at every penalty."""
        plain = FairLogLoss(
            self.constraints,
            group_feature=self.group_feature,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        losses = []
        for held in self._folds(2 * codes + target):
            kept = np.setdiff1d(np.arange(len(X)), held)
            path = plain.fit_many(
                [{"alpha": alpha} for alpha in ALPHAS],
                X[kept],
                target[kept],
                sensitive_features=codes[kept],
            )
            found = [model._positive(X[held], codes[held]) for model in path]
            clipped = [np.clip(p, CLIP, 1 - CLIP) for p in found]
            losses.append([log_loss(target[held], p, labels=[0, 1]) for p in clipped])
        return pd.DataFrame(losses, columns=list(ALPHAS))

    def _folds(self, cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the rows held out by fold; a row that is alone in its cell never is.

        So every fit sees a row of each outcome and group that the table has.
        """
        sizes = np.bincount(cells)[cells]
        shared = np.flatnonzero(sizes > 1)
        if not len(shared):
            raise ValueError(
                "Every outcome of a group has one row only; cross-validation needs "
                "two. Give more rows, or set the penalty of `fair_log_loss`."
            )
        n_folds = min(self.cv, int(sizes.max()))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():  # cells of fewer rows than folds are spread out
            warnings.simplefilter("ignore", UserWarning)
            parts = list(folds.split(shared, cells[shared]))
        return [shared[held] for _, held in parts]


METHOD = Method.of(
    FairLogLossCV,
    key="fair_log_loss_cv",
    label="Fair log-loss, α by folds",
    title="Fair log-loss with a cross-validated penalty",
    summary="Fair log-loss whose ridge penalty has the smallest log loss on folds of "
    "the training rows, as in its paper.",
    source="Rezaei et al., Fairness for Robust Log Loss Classification (AAAI 2020), "
    "section 5",
    needs_groups=True,
)
