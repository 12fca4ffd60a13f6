"""Classifiers without a fairness term: what the others are compared with."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.callback import with_callbacks
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.validation import validate_data
from torch import Tensor

from fairdash._validation import check_positive, encode_binary_target, encode_groups
from fairdash.methods._base import NetworkClassifier, StackedClassifier
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._groups import binary_cross_entropy
from fairdash.methods._network import Network
from fairdash.methods._stacked import StackedNetwork
from fairdash.methods._training import Batch


class PlainTrainer:
    """A predictor on its own, in descent of its cross-entropy."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        first = models[0]
        self.predictor = StackedNetwork(
            (rows.X.shape[1], *hidden_layers(first.predictor_layers), 1),
            len(models),
            seed=seeds[0],
            learning_rate=first.learning_rate,
            device=device,
            like=rows.X,
        )

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Move the predictor one step; return its loss, one value per model."""
        logits = self.predictor.forward(batch.X)[..., 0]
        loss, slope = binary_cross_entropy(logits, batch.y)
        self.predictor.backward(slope[..., None] / len(batch))
        self.predictor.step()
        return {"loss": loss.mean(1)}

    def ratios(self, rows: Batch) -> None:
        """Return None: no weights."""


class Unconstrained(StackedClassifier):
    r"""Network classifier that minimises :math:`E[L_Y]` and nothing else.

    With the same ``random_state`` it starts from the weights, and sees the rows in the
    order, of the debiased networks.

    Parameters
    ----------
    predictor_layers : str or tuple of int, default=(64, 32)
        Hidden widths, or "simple" (), "medium" (32,), "standard" (64, 32), "complex".
    n_epochs, batch_size, learning_rate : int, int, float
        Passes over the rows, rows a minibatch, Adam's step size.
    device : {"auto", "cpu", "cuda"}
        Where to train.
    random_state : int, RandomState instance or None
        Seed of weights and of the order of rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
    history_ : DataFrame
        ``epoch`` and mean ``loss`` of each.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = PlainTrainer

    def __init__(
        self,
        *,
        predictor_layers: str | Sequence[int] = (64, 32),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.predictor_layers = predictor_layers
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state


class Logistic(NetworkClassifier):
    r"""Logistic regression, solved exactly by scikit-learn's L-BFGS.

    Minimises :math:`E[L_Y] + \frac{\alpha}{2} \lVert w \rVert^2` over linear
    predictors; the intercept is free.

    Parameters
    ----------
    alpha : float, default=1e-4
        Ridge penalty, above 0.
    max_iter : int, default=1000
        Most iterations.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    As in :class:`Unconstrained`; ``history_`` has one row.
    """

    def __init__(
        self, *, alpha: float = 1e-4, max_iter: int = 1000, random_state: Any = None
    ) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the model; ``sensitive_features`` is checked and otherwise unused."""
        check_positive("alpha", self.alpha)
        X, y = validate_data(self, X, y, dtype=np.float32)
        self.classes_, target = encode_binary_target(y)
        self.groups_, _ = encode_groups(sensitive_features, X)
        context = self._init_callback_context()
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        solver = LogisticRegression(
            C=1 / (self.alpha * len(target)), max_iter=self.max_iter, tol=1e-6
        ).fit(X, target)
        self.n_iter_ = int(solver.n_iter_[0])
        self.network_ = Network(
            [solver.coef_.T.astype(np.float32)], [solver.intercept_.astype(np.float32)]
        )
        loss = log_loss(target, solver.predict_proba(X), labels=[0, 1])
        self.history_ = pd.DataFrame({"epoch": [1], "loss": [loss]})
        self.ratio_, self.ratio_history_ = None, None
        context.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
    ) -> list[Self]:
        """Fit one clone per point, one after the other."""
        return [
            clone(self)
            .set_params(**point)
            .fit(X, y, sensitive_features=sensitive_features)
            for point in points
        ]
