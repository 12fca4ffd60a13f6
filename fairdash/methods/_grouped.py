"""What classifiers share that must know the group of a row to predict it."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from fairdash._validation import encode_groups, value_label

Float = NDArray[np.float64]


def known_groups(
    sensitive_features: ArrayLike, groups: NDArray[Any], like: Any
) -> NDArray[np.int64]:
    """Return the index in ``groups`` of every row's group.

    Raises
    ------
    ValueError
        When a row has a group that the fit has not seen.
    """
    seen, codes = encode_groups(sensitive_features, like, at_least=1)
    strangers = ~np.isin(seen, groups)
    if strangers.any():
        rows = np.flatnonzero(strangers[codes])
        message = (
            f"`sensitive_features` has the group {value_label(seen[codes[rows[0]]])} "
            f"in {len(rows)} rows, first row {rows[0]}, and the model was fitted on "
            f"{', '.join(map(value_label, groups))}. Leave "
            "these rows out or fit with their group."
        )
        raise ValueError(message)
    places: NDArray[np.int64] = np.searchsorted(groups, seen)[codes]
    return places


class GroupedClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator, ABC):
    """Binary classifier whose ``predict`` takes groups, as its ``fit`` does.

    A subclass returns P(1) of rows and the index of their groups from ``_positive``.
    """

    classes_: NDArray[Any]
    groups_: NDArray[Any]

    def predict_proba(self, X: ArrayLike, *, sensitive_features: ArrayLike) -> Float:
        """Return the probability of each class, one column per class."""
        positive = self._positive(*self._check_rows(X, sensitive_features))
        return np.column_stack([1 - positive, positive])

    def decision_function(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Float:
        """Return the logit of the probability of ``classes_[1]``."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        scores: Float = logit(positive)
        return scores

    def predict(self, X: ArrayLike, *, sensitive_features: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each sample."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        predicted: NDArray[Any] = self.classes_[(positive > 0.5).astype(int)]
        return predicted

    def predict_randomised(
        self, X: ArrayLike, *, sensitive_features: ArrayLike, random_state: Any = None
    ) -> NDArray[Any]:
        """Draw each sample's class with its probability.

        The average over draws meets the constraint as ``predict_proba`` does; rounding,
        as in ``predict``, does not.
        """
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        draws = check_random_state(random_state).uniform(size=len(positive))
        drawn: NDArray[Any] = self.classes_[(draws < positive).astype(int)]
        return drawn

    def _check_rows(
        self, X: ArrayLike, sensitive_features: ArrayLike
    ) -> tuple[Float, NDArray[np.int64]]:
        check_is_fitted(self)
        rows: Float = validate_data(self, X, dtype=np.float64, reset=False)
        return rows, known_groups(sensitive_features, self.groups_, rows)

    @abstractmethod
    def _positive(self, rows: Float, group: NDArray[np.int64]) -> Float: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
