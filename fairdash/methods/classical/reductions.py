"""Fairness by fairlearn: a sequence of weighted classification problems."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from fairdash._arrays import FloatArray
from fairdash.methods.base import TrainingRows, Weighted
from fairdash.methods.classical.bases import as_scorer, fit_base
from fairdash.methods.classical.plain import CarriesBase, OneModel
from fairdash.methods.classical.weighted_moments import WeightedParity, weighted
from fairdash.methods.declare import Method, param, positional
from fairdash.methods.lazy import reductions
from fairdash.methods.mixture import MixtureClassifier
from fairdash.methods.noisy_groups.inputs import check_share
from fairdash.methods.params import CLASSIC_CONSTRAINT, TOLERANCE, at_least_two
from fairdash.methods.scorers import Constant, Mixture, Scorer

AGARWAL = "Agarwal et al., A reductions approach to fair classification (ICML 2018)"
MOMENTS = {
    "demographic_parity": "DemographicParity",
    "equalized_odds": "EqualizedOdds",
    "true_positive_rate_parity": "TruePositiveRateParity",
}


class Reductions(Weighted, CarriesBase, MixtureClassifier):
    r"""Exponentiated gradient: a random choice among base models.

    Attributes
    ----------
    n_iter_ : int
        Rounds.
    models_ : list
        Base models that decide; a number is a constant probability.
    weights_ : ndarray of shape (n_models,)
        Probability with which each model decides; ``predict_proba`` is the probability
        of a positive decision.
    network_ : Mixture
        The same as plain arrays.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018),
    Algorithm 1.
    """

    constraints: str = positional(default=CLASSIC_CONSTRAINT, kw_only=False)
    tolerance: float = TOLERANCE
    max_iter: int = param(50, doc="Most rounds, each with a base model or more.")

    def _learn(self, rows: TrainingRows) -> FloatArray:
        search = reductions.ExponentiatedGradient(
            OnAllRows(self._base(rows), rows.X),
            _moment(self.constraints, rows.weight, difference_bound=self.tolerance),
            eps=self.tolerance,
            max_iter=self.max_iter,
        )
        _search(search, rows)
        self.n_iter_ = search.last_iter_ + 1
        used = [i for i in search.weights_.index if search.weights_[i] > 0]
        self.weights_ = search.weights_[used].to_numpy()
        self.models_ = [_fitted(search.predictors_[i]) for i in used]
        members: list[Scorer] = []
        for model in self.models_:
            if isinstance(model, float):
                members.append(Constant(np.array([model])))
            else:
                members.append(as_scorer(model))
        self.network_ = Mixture(members, self.weights_)
        return self.predict_proba(rows.X)[:, 1]


class GridReductions(Weighted, CarriesBase, OneModel):
    """Grid search over multipliers: the best of some base models.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018), section
    3.2.
    """

    constraints: str = positional(default=CLASSIC_CONSTRAINT, kw_only=False)
    constraint_weight: float = param(
        0.5,
        "Weight of the violation",
        trade_off=True,
        check=check_share,
        help="Share of the violation, beside the error, in choosing the best.",
    )
    grid_size: int = param(
        20,
        "Grid size",
        low=2,
        high=100,
        advanced=True,
        check=at_least_two,
        help="How many models are fitted.",
    )

    def _learn(self, rows: TrainingRows) -> FloatArray:
        search = reductions.GridSearch(
            OnAllRows(self._base(rows), rows.X),
            _moment(self.constraints, rows.weight),
            constraint_weight=self.constraint_weight,
            grid_size=self.grid_size,
        )
        _search(search, rows)
        best = _fitted(search.predictors_[search.best_idx_])
        if isinstance(best, float):
            # One decision for everybody, on which fairlearn trains no model: a model of
            # this type, so that the result can be kept.
            n_features = self.n_features_in_
            best = LogisticRegression().fit(np.zeros((2, n_features)), [0, 1])
        return self._keep(best, rows)


EXPONENTIATED = Method.of(
    Reductions,
    key="reductions",
    label="Reductions",
    title="Exponentiated gradient reduction",
    summary="A random choice among base models, each on rows weighted against the last "
    "ones' violation.",
    source=f"{AGARWAL}, Algorithm 1, by fairlearn",
)
GRID = Method.of(
    GridReductions,
    key="grid_reductions",
    label="Grid search",
    title="Grid search reduction",
    summary="The best of base models over a grid of fairness multipliers.",
    source=f"{AGARWAL}, section 3.2, by fairlearn",
)


class OnAllRows:
    """A base model as fairlearn fits it: on all training rows, whatever they hold.

    fairlearn sees an index in place of the rows, since it would turn them into an array
    of numbers; it makes each of its models by `copy.deepcopy` of this one.
    """

    def __init__(self, base: Any, rows: Any) -> None:
        self.base = base
        self.rows = rows
        self.fitted: Any = None

    def __deepcopy__(self, memo: object) -> "OnAllRows":
        return OnAllRows(self.base, self.rows)

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike) -> "OnAllRows":
        """Fit a clone to all rows."""
        model = clone(self.base, safe=False)
        weight = np.asarray(sample_weight, np.float64)
        self.fitted = fit_base(model, self.rows, np.asarray(y), weight)
        return self

    def predict(self, X: object) -> NDArray[Any]:
        """Return the decisions of all rows."""
        return np.asarray(self.fitted.predict(self.rows)).ravel()


def _search(search: Any, rows: TrainingRows) -> None:
    index = np.arange(len(rows.target))[:, None]
    with warnings.catch_warnings():  # fairlearn calls what pandas 4 will not have
        warnings.simplefilter("ignore", DeprecationWarning)
        search.fit(index, rows.target, sensitive_features=rows.codes)


def _moment(constraints: str, weight: FloatArray | None, **bounds: float) -> Any:
    kind = getattr(reductions, MOMENTS[constraints])
    if weight is None:
        return kind(**bounds)
    return weighted(kind, WeightedParity, weight, **bounds)


def _fitted(predictor: Any) -> Any:
    if isinstance(predictor, OnAllRows):
        return predictor.fitted
    return float(predictor.predict(np.zeros((1, 1)))[0])
