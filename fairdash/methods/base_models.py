"""The base models of the ramp paper: plain classifiers to post-process."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from fairdash._validation import check_whole
from fairdash.methods._base import NetworkClassifier
from fairdash.methods._baseline import (
    ITERATIONS,
    Codes,
    Float,
    LinearBaseline,
    OneByOne,
)
from fairdash.methods._scorers import Forest, Neighbours, Scorer
from fairdash.methods.unconstrained import Unconstrained

CS = (1e-4, 1e-2, 1.0, 1e2, 1e4)


class PlainClassifier(OneByOne, NetworkClassifier):
    """A classifier of scikit-learn that knows nothing of groups.

    A subclass makes it in ``_model``, and returns it as arrays from ``_stored``.

    Attributes
    ----------
    model_ : estimator of scikit-learn
    network_ : Forest or Neighbours
        The same as plain arrays.
    """

    network_: Any
    model_: BaseEstimator

    def predict_proba(self, X: ArrayLike) -> Float:
        """Return the probability of each class, one column per class."""
        check_is_fitted(self, "model_")
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        probabilities: Float = self.model_.predict_proba(rows)
        return probabilities

    def decision_function(self, X: ArrayLike) -> Float:
        """Return the logit of the probability of ``classes_[1]``."""
        scores: Float = logit(self.predict_proba(X)[:, 1])
        return scores

    def _learn(self, X: Float, target: Codes, codes: Codes) -> Float:
        self.model_ = self._model(len(X)).fit(X, target)
        self.network_ = self._stored(X, target)
        positive: Float = self.model_.predict_proba(X)[:, 1]
        return positive

    @abstractmethod
    def _model(self, n_rows: int) -> BaseEstimator: ...

    @abstractmethod
    def _stored(self, X: Float, target: Codes) -> Scorer: ...


class RandomForest(PlainClassifier):
    """Random forest of shallow trees, by scikit-learn.

    Parameters
    ----------
    max_depth : int, default=10
    n_estimators : int, default=100
        Number of trees.
    random_state : int, RandomState instance or None
        Of the draws of rows and features.

    Attributes
    ----------
    model_ : RandomForestClassifier
    """

    def __init__(
        self, *, max_depth: int = 10, n_estimators: int = 100, random_state: Any = None
    ) -> None:
        self.max_depth = max_depth
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _check_params(self) -> None:
        check_whole("max_depth", self.max_depth, at_least=1)
        check_whole("n_estimators", self.n_estimators, at_least=1)

    def _model(self, n_rows: int) -> BaseEstimator:
        return RandomForestClassifier(
            max_depth=self.max_depth,
            n_estimators=self.n_estimators,
            random_state=self.random_state,
        )

    def _stored(self, X: Float, target: Codes) -> Forest:
        trees = [grown.tree_ for grown in self.model_.estimators_]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
        numbered = list(zip(trees, starts, strict=True))
        left = np.concatenate([tree.children_left + n for tree, n in numbered])
        right = np.concatenate([tree.children_right + n for tree, n in numbered])
        # scikit-learn marks a leaf by a negative feature
        features = np.concatenate([tree.feature for tree in trees]).clip(-1)
        return Forest(
            roots=starts.astype(np.int32),
            features=features.astype(np.int32),
            thresholds=np.concatenate([tree.threshold for tree in trees]),
            values=np.concatenate([tree.value[:, 0, 1] for tree in trees]),
            left=left.astype(np.int32),
            right=right.astype(np.int32),
        )


class NearestNeighbours(PlainClassifier):
    """Share of positive outcomes among the nearest rows, by scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default=10
        Of fewer training rows all are neighbours.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    model_ : KNeighborsClassifier
    """

    def __init__(self, *, n_neighbors: int = 10, random_state: Any = None) -> None:
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def _check_params(self) -> None:
        check_whole("n_neighbors", self.n_neighbors, at_least=1)

    def _model(self, n_rows: int) -> BaseEstimator:
        return KNeighborsClassifier(min(self.n_neighbors, n_rows))

    def _stored(self, X: Float, target: Codes) -> Neighbours:
        n_neighbours = np.array([min(self.n_neighbors, len(X))])
        return Neighbours(X.astype(np.float32), target.astype(np.int8), n_neighbours)


class WideNetwork(Unconstrained):
    """One hidden layer of 128, trained as :class:`Unconstrained` is."""

    def __init__(
        self,
        *,
        predictor_layers: str | Sequence[int] = (128,),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            predictor_layers=predictor_layers,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            random_state=random_state,
        )


class LogisticCV(LinearBaseline):
    """Logistic regression with its penalty chosen by cross-validated log loss.

    C is one of 1e-4, 1e-2, 1, 1e2, 1e4; folds are of training rows alone.

    Parameters
    ----------
    cv : int, default=5
        Number of folds; fewer if an outcome has fewer rows.
    random_state : ignored
        Present because all methods of the catalog take one.

    Attributes
    ----------
    C_ : float
        The inverse penalty chosen.
    Others are as in :class:`fairdash.methods.Logistic`.
    """

    def __init__(self, *, cv: int = 5, random_state: Any = None) -> None:
        self.cv = cv
        self.random_state = random_state

    def _check_params(self) -> None:
        check_whole("cv", self.cv, at_least=2)

    def _solve(self, X: Float, target: Codes, codes: Codes) -> tuple[Float, float]:
        rare = int(np.bincount(target).min())
        if rare < 2:
            raise ValueError(
                "`y` has one row of an outcome only; cross-validation needs two."
            )
        solver = LogisticRegressionCV(
            Cs=CS,
            cv=min(self.cv, rare),
            max_iter=ITERATIONS,
            scoring="neg_log_loss",
            l1_ratios=(0,),
            use_legacy_attributes=False,
        ).fit(X, target)
        self.C_ = float(solver.C_)
        return solver.coef_[0], float(solver.intercept_[0])
