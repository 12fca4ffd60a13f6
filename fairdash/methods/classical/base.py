"""What the classical baselines share: one fit at a time, one row of history."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.callback import with_callbacks
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.utils.validation import validate_data

from fairdash._validation import encode_binary_target, encode_groups
from fairdash.methods.base import BinaryClassifier, Float, NetworkClassifier
from fairdash.methods.params import NO_RANDOM_STATE
from fairdash.methods.plain_network import Network

Codes = NDArray[np.int64]
ITERATIONS = 1000  # most of L-BFGS


def ridge_logistic(alpha: float, n_rows: int) -> LogisticRegression:
    """Return scikit-learn's logistic regression at penalty ``alpha`` of a mean loss."""
    return LogisticRegression(C=1 / (alpha * n_rows), max_iter=ITERATIONS, tol=1e-6)


@contextmanager
def old_pandas_calls() -> Iterator[None]:
    """Allow fairlearn what pandas 4 will not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


class OneByOne(BinaryClassifier, ABC):
    """Classifier whose points are fitted one after the other.

    A subclass fits itself to float64 rows, targets and codes of groups in ``_learn``,
    and returns P(1) of the training rows.
    """

    random_state: Any = NO_RANDOM_STATE

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the model; ``sensitive_features`` holds the group of each sample."""
        self._check_params()
        rows, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, target = encode_binary_target(y)
        self.groups_, codes = encode_groups(sensitive_features, rows)
        context = self._init_callback_context()
        context.call_on_fit_task_begin(estimator=self, X=X, y=y)
        positive = self._learn(rows, target, codes)
        loss = log_loss(target, np.clip(positive, 1e-7, 1 - 1e-7), labels=[0, 1])
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

    @abstractmethod
    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float: ...


class LinearBaseline(OneByOne, NetworkClassifier):
    """Linear classifier that a subclass's ``_solve`` finds."""

    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float:
        coefficients, intercept = self._solve(X, target, codes)
        self.network_ = Network(
            [coefficients.reshape(-1, 1).astype(np.float32)],
            [np.array([intercept], np.float32)],
        )
        positive: Float = self.predict_proba(X)[:, 1]
        return positive

    @abstractmethod
    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]: ...
