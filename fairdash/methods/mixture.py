"""Random mixtures: classifiers that promise a constraint of drawn decisions.

Such a classifier decides 1 with a chance, ``predict_proba``. Its constraint holds for
the chances, so for decisions that are drawn with them, and not for chances rounded at
one half. ``predict`` draws, with the levels of `fairdash.datasets.draws`.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from fairdash._arrays import FloatArray
from fairdash.datasets import draws
from fairdash.methods.base import BinaryClassifier, GroupedClassifier, NetworkClassifier


class Drawing(BinaryClassifier):
    """Base of mixtures: a drawn decision, and accuracy on average over draws."""

    _mixture = True
    __metadata_request__predict = {"random_state": True}  # noqa: RUF012

    def _drawn(
        self, rows: Any, positive: FloatArray, random_state: draws.RandomState
    ) -> NDArray[Any]:
        content = draws.array_content(rows)
        return self.classes_[draws.drawn(positive, content, random_state)]

    def _expected_accuracy(
        self, y: ArrayLike, chances: FloatArray, sample_weight: ArrayLike | None
    ) -> float:
        outcome = column_or_1d(y)
        check_consistent_length(outcome, chances, sample_weight)
        right = outcome[:, None] == self.classes_
        chance_of_right = (chances * right).sum(axis=1)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        return float(np.average(chance_of_right, weights=weight))


class MixtureClassifier(Drawing, NetworkClassifier):
    """Binary classifier that decides by one of many models, drawn at random."""

    network_: Any
    _dtype: ClassVar[type[np.floating]] = np.float64

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the chance of deciding for each class, one column per class."""
        check_is_fitted(self, "network_")
        positive = self.network_.positive(self._rows(X))
        return np.column_stack([1 - positive, positive])

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return how far the chance of ``classes_[1]`` is above one half."""
        return self.predict_proba(X)[:, 1] - 0.5

    def predict(
        self, X: ArrayLike, random_state: draws.RandomState = 0
    ) -> NDArray[Any]:
        """Draw a decision for each sample with the chances of ``predict_proba``.

        Parameters
        ----------
        random_state : int, Generator, RandomState or None, default=0
            With the same number a row that holds the same is decided the same, in
            whichever batch. None draws anew at each call.
        """
        check_is_fitted(self, "network_")
        rows = self._rows(X)
        return self._drawn(rows, self.network_.positive(rows), random_state)

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy of ``predict``, on average over draws."""
        return self._expected_accuracy(y, self.predict_proba(X), sample_weight)


class GroupedMixture(Drawing, GroupedClassifier):
    """Mixture whose ``predict`` takes groups, as its ``fit`` does."""

    __metadata_request__predict = {  # noqa: RUF012
        "sensitive_features": True,
        "random_state": True,
    }

    def decision_function(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> FloatArray:
        """Return how far the chance of ``classes_[1]`` is above one half."""
        chances = self.predict_proba(X, sensitive_features=sensitive_features)
        return chances[:, 1] - 0.5

    def predict(
        self,
        X: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        random_state: draws.RandomState = 0,
    ) -> NDArray[Any]:
        """Draw a decision for each sample, as `MixtureClassifier.predict` does.

        Two rows of different groups that hold the same have the same level.
        """
        chances = self.predict_proba(X, sensitive_features=sensitive_features)
        return self._drawn(self._rows(X), chances[:, 1], random_state)

    # The group has to be named here, where scikit-learn's `score` asks for none.
    def score(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
    ) -> float:
        """Return the accuracy of ``predict``, on average over draws."""
        chances = self.predict_proba(X, sensitive_features=sensitive_features)
        return self._expected_accuracy(y, chances, sample_weight)
