"""Base classes of classifiers that predict from features, or with the group as well."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from fairdash._arrays import Float32Array, FloatArray
from fairdash._columns import in_one_order
from fairdash._sklearn import CallbackSupportMixin, ClassifierMixin, with_callbacks
from fairdash._validation import (
    check_lengths,
    encode_binary_target,
    encode_groups,
    value_label,
)
from fairdash.methods.declare import Declared, param


class TrainingRows(NamedTuple):
    """Checked training rows.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features), or what the base model takes
    target : ndarray of int, (n_rows,)
        1 for the positive outcome, 0 for the other.
    codes : ndarray of int, (n_rows,)
        Index of each row's group in ``groups_``.
    weight : ndarray of float64, (n_rows,), optional
        None where every row counts once.
    """

    X: Any
    target: NDArray[np.int64]
    codes: NDArray[np.int64]
    weight: FloatArray | None

    @property
    def row_weights(self) -> FloatArray:
        """Number of rows that each row stands for."""
        return np.ones(len(self.target)) if self.weight is None else self.weight

    @property
    def n_rows(self) -> float:
        """Number of rows that all together stand for."""
        return float(self.row_weights.sum())

    def only(self, selection: NDArray[Any]) -> "TrainingRows":
        """Return some of the rows, by index or mask."""
        weight = None if self.weight is None else self.weight[selection]
        return TrainingRows(
            self.X[selection], self.target[selection], self.codes[selection], weight
        )


class Samples(NamedTuple):
    """Arguments of ``fit``, not checked yet."""

    X: Any
    y: ArrayLike
    sensitive_features: ArrayLike | None
    sample_weight: ArrayLike | None = None


@dataclass(slots=True)
class GroupTags(Tags):
    """Tags of scikit-learn; whether ``fit`` needs groups and ``predict`` draws.

    Attributes
    ----------
    mixture : bool
        Whether ``predict_proba`` is the chance with which ``predict`` draws a decision.
    """

    needs_groups: bool = True
    mixture: bool = False


class Learned:
    """Attributes that ``fit`` sets; they are no parameters, so `Declared` has none.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    history_ : DataFrame, one row per epoch or iteration
    ratio_ : ndarray of shape (n_samples,), or None
        Weights of the training rows.
    ratio_history_ : dict of str to ndarray, or None
        Snapshots of the weights.
    network_ : Network or another scorer
        What predicts, as plain arrays.
    """

    classes_: NDArray[Any]
    groups_: NDArray[Any]
    history_: pd.DataFrame
    ratio_: Float32Array | None
    ratio_history_: dict[str, NDArray[Any]] | None
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    network_: Any


class BinaryClassifier(CallbackSupportMixin, ClassifierMixin, Learned, Declared, ABC):
    """Classifier of two classes with declared parameters and a history of its fit.

    With metadata routing enabled, ``fit`` asks for ``sensitive_features`` by itself.
    """

    __metadata_request__fit = {"sensitive_features": True}  # noqa: RUF012 of scikit-learn
    _ignores_groups: ClassVar[bool] = False  # so that fit takes rows without them
    _mixture: ClassVar[bool] = False  # whether predict draws, see `methods.mixture`
    _no_weights: ClassVar[str] = "it counts every row once"  # why, of those that refuse

    pos_label: Any = param(
        None,
        doc="Label that counts as the positive outcome; by default the larger of two.",
        accepts="object",
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        values = {tag.name: getattr(tags, tag.name) for tag in fields(tags)}
        return GroupTags(
            **values, needs_groups=not self._ignores_groups, mixture=self._mixture
        )

    def _training_rows(self, samples: Samples, **checks: Any) -> TrainingRows:
        X, y, sensitive_features, sample_weight = samples
        rows, y = validate_data(self, X, y, **checks)
        self.classes_, target = encode_binary_target(y, pos_label=self.pos_label)
        if sensitive_features is None and self._ignores_groups:
            sensitive_features = np.zeros(len(target), dtype=int)
        if sensitive_features is None:
            raise ValueError(
                f"{type(self).__name__} needs `sensitive_features`, the group of every "
                "row: without groups there is nothing to make fair."
            )
        at_least = 1 if self._ignores_groups else 2
        self.groups_, codes = encode_groups(
            sensitive_features, target, at_least=at_least
        )
        # `validate_data` may have been told to skip its checks of X.
        check_lengths(rows, target)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, target, dtype=np.float64, ensure_non_negative=True
            )
        return TrainingRows(rows, target, codes, weight)

    @in_one_order
    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike | None = None,
        **unknown: object,
    ) -> Self:
        """Fit the model; ``sensitive_features`` holds the group of each sample.

        Raises
        ------
        ValueError
            When a parameter is out of range, groups are missing, or a group has no rows
            that the constraint compares.
        TypeError
            For ``sample_weight``, where this method cannot count it.
        """
        for name, value in unknown.items():
            # scikit-learn passes a routed argument that nobody gave as None.
            if value is None:
                continue
            reason = f": {self._no_weights}" if name == "sample_weight" else ""
            raise TypeError(f"{type(self).__name__}.fit takes no `{name}`{reason}.")
        self._fit(Samples(X, y, sensitive_features))
        return self

    @abstractmethod
    def _fit(self, samples: Samples) -> None: ...


class Weighted(BinaryClassifier):
    """Binary classifier whose ``fit`` takes ``sample_weight``.

    With metadata routing enabled, ``fit`` and ``score`` ask for it by themselves.
    """

    __metadata_request__fit = {"sample_weight": True}  # noqa: RUF012 of scikit-learn
    __metadata_request__score = {"sample_weight": True}  # noqa: RUF012
    _no_weights = ""

    @in_one_order
    @with_callbacks
    def fit(  # type: ignore[override]  # it refuses unknown names by itself
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the model; ``sensitive_features`` holds the group of each sample.

        ``sample_weight`` says how many rows each stands for. A network draws as many
        rows an epoch as there are, each with a probability in proportion to its weight.
        """
        self._fit(Samples(X, y, sensitive_features, sample_weight))
        return self


class ManyClassifier(BinaryClassifier):
    """Binary classifier of which many settings train at once, in ``_fit_models``."""

    def _fit(self, samples: Samples) -> None:
        self._fit_models([self], samples)

    @with_callbacks
    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> list[Self]:
        """Fit one clone per point, those that can train together at once.

        Points are parameters on top of this estimator's own. On a CPU each model equals
        the one fitted alone with the same ``random_state``: bit for bit, or where the
        optimum is unique to the solver's residual.
        """
        models = [clone(self).set_params(**point) for point in points]
        self._fit_models(models, Samples(X, y, sensitive_features, sample_weight))
        return models

    @abstractmethod
    def _fit_models(self, models: Sequence[Self], samples: Samples) -> None: ...

    def _copy_learned(self, models: Iterable[Self]) -> None:
        """Set on each model what `_training_rows` learned of the rows."""
        for model in models:
            model.n_features_in_ = self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                model.feature_names_in_ = self.feature_names_in_
            model.classes_ = self.classes_
            model.groups_ = self.groups_


def group_by_fixed(models: Sequence[Any], free: Sequence[str]) -> list[list[int]]:
    """Return indices of models, those together that differ in ``free`` parameters only.

    Groups, and the models within them, keep the order of ``models``.
    """
    groups: dict[str, list[int]] = {}
    for i, model in enumerate(models):
        params = model.get_params(deep=False)
        fixed = {name: value for name, value in params.items() if name not in free}
        key = repr(sorted(fixed.items()))
        groups.setdefault(key, []).append(i)
    return list(groups.values())


class NetworkClassifier(BinaryClassifier):
    """Binary classifier that predicts with ``network_``, by NumPy alone."""

    _dtype: ClassVar[type[np.floating]] = np.float32  # of the rows it was trained on

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the logit of each sample; above 0 predicts ``classes_[1]``."""
        check_is_fitted(self, "network_")
        return self.network_.logits(self._rows(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class, one column per class."""
        positive = expit(self.decision_function(X))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each sample."""
        # Before ``classes_`` is read: an unfitted model gets scikit-learn's error.
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]

    def _rows(self, X: ArrayLike) -> Any:
        return validate_data(self, X, dtype=self._dtype, reset=False)


class GroupedClassifier(BinaryClassifier):
    """Binary classifier whose ``predict`` takes groups, as its ``fit`` does.

    A subclass returns P(1) of rows and the index of their groups from ``_positive``.
    """

    __metadata_request__predict = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__predict_proba = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__decision_function = {"sensitive_features": True}  # noqa: RUF012
    __metadata_request__score = {"sensitive_features": True}  # noqa: RUF012

    # The group has to be named here, where scikit-learn's `score` asks for none.
    def score(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sensitive_features: ArrayLike,
    ) -> float:
        """Return the accuracy of ``predict``."""
        decided = self.predict(X, sensitive_features=sensitive_features)
        return float(accuracy_score(y, decided, sample_weight=sample_weight))

    @in_one_order
    def predict_proba(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> FloatArray:
        """Return the probability of each class, one column per class."""
        check_is_fitted(self)
        rows = self._rows(X)
        group = known_groups(sensitive_features, self.groups_, rows)
        positive = self._positive(rows, group)
        return np.column_stack([1 - positive, positive])

    def decision_function(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> FloatArray:
        """Return the logit of the probability of ``classes_[1]``."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return logit(positive)

    @in_one_order
    def predict(self, X: ArrayLike, *, sensitive_features: ArrayLike) -> NDArray[Any]:
        """Return the more probable class of each sample."""
        positive = self.predict_proba(X, sensitive_features=sensitive_features)[:, 1]
        return self.classes_[(positive > 0.5).astype(int)]

    def _rows(self, X: ArrayLike) -> Any:
        return validate_data(self, X, dtype=np.float64, reset=False)

    @abstractmethod
    def _positive(self, rows: FloatArray, group: NDArray[np.int64]) -> FloatArray: ...


def known_groups(
    sensitive_features: ArrayLike, groups: NDArray[Any], like: Any
) -> NDArray[np.int64]:
    """Return the index in ``groups`` of every row's group."""
    labels, codes = encode_groups(sensitive_features, like, at_least=1)
    is_new = ~np.isin(labels, groups)
    if is_new.any():
        rows = np.flatnonzero(is_new[codes])
        first_label = labels[codes[rows[0]]]
        message = (
            f"`sensitive_features` has the group {value_label(first_label)} "
            f"in {len(rows)} rows, first row {rows[0]}, and the model was fitted on "
            f"{', '.join(map(value_label, groups))}. Leave "
            "these rows out or fit with their group."
        )
        raise ValueError(message)
    return np.searchsorted(groups, labels)[codes]


@dataclass
class StopRequest:
    """Ask the callbacks at every call whether to stop; a yes is final.

    ``context`` is the solver's; every call becomes a subtask "step" of it.
    """

    estimator: Any
    context: Any
    answer: bool = False

    def __call__(self) -> bool:
        """Return whether to stop."""
        if not self.answer:
            step = self.context.subcontext("step")
            self.answer = step.call_on_fit_task_end(estimator=self.estimator)
        return self.answer
