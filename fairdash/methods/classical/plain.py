"""Methods fitted one at a time: what they share, and classifiers of scikit-learn."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import log_loss
from sklearn.utils.validation import check_is_fitted, validate_data

from fairdash._arrays import FloatArray
from fairdash._validation import check_positive
from fairdash.methods.base import (
    BinaryClassifier,
    NetworkClassifier,
    Samples,
    TrainingRows,
    Weighted,
)
from fairdash.methods.classical import bases
from fairdash.methods.declare import Method, param, vary
from fairdash.methods.lazy import ensemble
from fairdash.methods.params import NO_RANDOM_STATE, RANDOM_STATE, RIDGE, at_least_two
from fairdash.methods.scorers import Linear, Network


class OneByOne(BinaryClassifier):
    """Classifier whose points are fitted one after the other.

    A subclass fits itself in ``_learn`` and returns P(1) of the training rows; what
    `validate_data` looks for in X is what ``_row_checks`` returns.
    """

    random_state: Any = NO_RANDOM_STATE

    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        **rows: Any,
    ) -> list[Self]:
        """Fit one clone per point, one after the other; ``rows`` as in ``fit``."""
        return [clone(self).set_params(**point).fit(X, y, **rows) for point in points]

    def _fit(self, samples: Samples) -> None:
        self._check_params()
        rows = self._training_rows(samples, **self._row_checks())
        context = self._init_callback_context()
        context.call_on_fit_task_begin(estimator=self, X=samples.X, y=samples.y)
        positive = np.clip(self._learn(rows), 1e-7, 1 - 1e-7)  # the log of 0 is none
        loss = log_loss(rows.target, positive, sample_weight=rows.weight, labels=[0, 1])
        self.history_ = pd.DataFrame({"epoch": [1], "loss": [loss]})
        self.ratio_ = None
        self.ratio_history_ = None
        context.call_on_fit_task_end(estimator=self, X=samples.X, y=samples.y)

    def _row_checks(self) -> dict[str, Any]:
        return {"dtype": np.float64}

    def _rows(self, X: ArrayLike) -> Any:
        return validate_data(self, X, reset=False, **self._row_checks())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "ensure_all_finite" in self._row_checks()
        return tags

    @abstractmethod
    def _learn(self, rows: TrainingRows) -> FloatArray: ...


class CarriesBase(OneByOne):
    """Classifier that trains base models: see `fairdash.methods.classical.bases`."""

    estimator: Any = bases.ESTIMATOR
    alpha: float = vary(RIDGE, only_with={"estimator": "logistic"})
    random_state: Any = vary(RANDOM_STATE, doc="Of the base model, if it draws.")

    def _base(self, rows: TrainingRows) -> Any:
        return bases.base_model(
            self.estimator,
            alpha=self.alpha,
            n_rows=rows.n_rows,
            random_state=self.random_state,
        )

    def _row_checks(self) -> dict[str, Any]:
        return bases.row_checks(self.estimator)


class LinearBaseline(Weighted, OneByOne, NetworkClassifier):
    """Linear classifier that a subclass's ``_solve`` finds."""

    def _rows(self, X: ArrayLike) -> Any:  # as networks read them
        return NetworkClassifier._rows(self, X)

    def _learn(self, rows: TrainingRows) -> FloatArray:
        self.network_ = as_network(*self._solve(rows))
        return self.predict_proba(rows.X)[:, 1]

    @abstractmethod
    def _solve(self, rows: TrainingRows) -> tuple[FloatArray, float]: ...


def as_network(coefficients: FloatArray, intercept: float) -> Network:
    """Return a linear model as a network without a hidden layer."""
    return Network(
        [coefficients.reshape(-1, 1).astype(np.float32)],
        [np.array([intercept], np.float32)],
    )


class LearnedModel:
    """The fitted model of `OneModel`, which is no parameter of it."""

    model_: Any


class OneModel(LearnedModel, NetworkClassifier):
    """Classifier that predicts with one fitted classifier, ``model_``.

    ``network_`` is the same as plain arrays, where its kind has these.
    """

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return the probability of each class, one column per class."""
        check_is_fitted(self, "network_")
        rows = self._rows(X)
        if isinstance(self.network_, Network):
            positive = self.network_.positive(rows)
            return np.column_stack([1 - positive, positive])
        return self.model_.predict_proba(rows)

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the logit of the probability of ``classes_[1]``."""
        return logit(self.predict_proba(X)[:, 1])

    def _keep(self, model: Any, rows: TrainingRows) -> FloatArray:
        network = bases.as_scorer(model)
        if isinstance(network, Linear):
            network = as_network(network.coefficients, float(network.intercept[0]))
        self.model_ = model
        self.network_ = network
        return self.predict_proba(rows.X)[:, 1]


class PlainClassifier(Weighted, OneByOne, OneModel):
    """A classifier of scikit-learn that knows nothing of groups; made in ``_model``."""

    _ignores_groups = True

    def _learn(self, rows: TrainingRows) -> FloatArray:
        model = bases.fit_base(self._model(), rows.X, rows.target, rows.weight)
        return self._keep(model, rows)

    @abstractmethod
    def _model(self) -> BaseEstimator: ...


class RandomForest(PlainClassifier):
    """Random forest of shallow trees, by scikit-learn."""

    max_depth: int = param(
        10, "Depth", high=30, help="Deeper trees follow finer patterns."
    )
    n_estimators: int = param(
        100,
        "Trees",
        low=10,
        high=500,
        step=10,
        advanced=True,
        help="More are steadier and slower.",
        doc="Number of trees.",
    )
    random_state: Any = vary(RANDOM_STATE, doc="Of the draws of rows and features.")

    def _model(self) -> BaseEstimator:
        return ensemble.RandomForestClassifier(
            max_depth=self.max_depth,
            n_estimators=self.n_estimators,
            random_state=self.random_state,
        )


class GradientBoosting(PlainClassifier):
    """Histogram gradient boosting, by scikit-learn; missing values stay missing."""

    max_iter: int = param(
        100,
        "Trees",
        low=10,
        high=500,
        step=10,
        help="More follow finer patterns.",
        doc="Most trees; on more than 10,000 rows a tenth of them ends the fit early.",
    )
    learning_rate: float = param(
        0.1,
        "Learning rate",
        low=0.01,
        high=1.0,
        step=0.01,
        axis="log",
        check=check_positive,
        help="Share of each tree that counts; smaller needs more trees.",
    )
    max_leaf_nodes: int = param(
        31,
        "Leaves",
        low=2,
        high=127,
        advanced=True,
        check=at_least_two,
        help="Most leaves of a tree.",
    )
    random_state: Any = vary(RANDOM_STATE, doc="Of the rows that end the fit early.")

    @property
    def n_iter_(self) -> int:
        """Trees grown."""
        return int(self.model_.n_iter_)

    def _model(self) -> BaseEstimator:
        return ensemble.HistGradientBoostingClassifier(
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            random_state=self.random_state,
        )

    def _row_checks(self) -> dict[str, Any]:
        return bases.row_checks("gradient_boosting")


GRADIENT_BOOSTING = Method.of(
    GradientBoosting,
    key="gradient_boosting",
    label="Gradient boosting",
    title="Histogram gradient boosting",
    summary="Trees that each correct the errors of the last ones: on most tables the "
    "strongest model without a fairness term.",
    source="Ke et al., LightGBM (NeurIPS 2017), by scikit-learn",
)
FOREST = Method.of(
    RandomForest,
    key="forest",
    label="Random forest",
    title="Random forest of depth 10",
    summary="Trees that each see some rows and features; no fairness term.",
    source="Base model of Alabdulmohsin and Lucic (NeurIPS 2021), by scikit-learn",
)
