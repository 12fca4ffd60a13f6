"""Fairness by fairlearn: weighted classification problems, thresholds by group."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

from fairdash._validation import value_label
from fairdash.methods.base import (
    Float,
    GroupedClassifier,
    MixtureClassifier,
    TrainingRows,
)
from fairdash.methods.classical.bases import fit_base, stored
from fairdash.methods.classical.plain import CarriesBase, Codes, OneModel
from fairdash.methods.declare import Method, param
from fairdash.methods.lazy import reductions, thresholds
from fairdash.methods.noisy_groups.inputs import check_share
from fairdash.methods.params import CLASSIC_CONSTRAINT, TOLERANCE, at_least_two
from fairdash.methods.scorers import (
    Constant,
    GroupThresholds,
    Linear,
    LinearMixture,
    Mixture,
)

_NO_WEIGHTS = "fairlearn's constraints count every row once"
AGARWAL = "Agarwal et al., A reductions approach to fair classification (ICML 2018)"
MOMENTS = {
    "demographic_parity": "DemographicParity",
    "equalized_odds": "EqualizedOdds",
    "true_positive_rate_parity": "TruePositiveRateParity",
}


class Reductions(CarriesBase, MixtureClassifier):
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
    network_ : LinearMixture or Mixture
        The same as plain arrays.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018),
    Algorithm 1.
    """

    _no_weights = _NO_WEIGHTS

    constraints: str = CLASSIC_CONSTRAINT
    tolerance: float = TOLERANCE
    max_iter: int = param(50, doc="Most rounds, each with a base model or more.")

    def _learn(self, rows: TrainingRows) -> Float:
        search = reductions.ExponentiatedGradient(
            OnAllRows(self._base(len(rows.target)), rows.X),
            _moment(self.constraints, difference_bound=self.tolerance),
            eps=self.tolerance,
            max_iter=self.max_iter,
        )
        _search(search, rows)
        self.n_iter_ = search.last_iter_ + 1
        used = [i for i in search.weights_.index if search.weights_[i] > 0]
        self.weights_ = search.weights_[used].to_numpy()
        self.models_ = [_fitted(search.predictors_[i]) for i in used]
        self.network_ = _mixture(self.models_, self.weights_)
        return self.predict_proba(rows.X)[:, 1]


class GridReductions(CarriesBase, OneModel):
    """Grid search over multipliers: the best of some base models.

    References
    ----------
    Agarwal et al., A reductions approach to fair classification (ICML 2018), section
    3.2.
    """

    _no_weights = _NO_WEIGHTS

    constraints: str = CLASSIC_CONSTRAINT
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

    def _learn(self, rows: TrainingRows) -> Float:
        search = reductions.GridSearch(
            OnAllRows(self._base(len(rows.target)), rows.X),
            _moment(self.constraints),
            constraint_weight=self.constraint_weight,
            grid_size=self.grid_size,
        )
        _search(search, rows)
        best = _fitted(search.predictors_[search.best_idx_])
        if isinstance(best, float):  # a decision for everybody: log odds of -1 or 1
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
        self.base, self.rows = base, rows
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


def _moment(constraints: str, **bounds: float) -> Any:
    """Return fairlearn's name for a constraint, made."""
    return getattr(reductions, MOMENTS[constraints])(**bounds)


def _fitted(predictor: Any) -> Any:
    """Return a fitted base model, or the constant decision that took its place."""
    if isinstance(predictor, OnAllRows):
        return predictor.fitted
    return float(predictor.predict(np.zeros((1, 1)))[0])


def _mixture(models: Sequence[Any], shares: Float) -> LinearMixture | Mixture:
    """Return a random choice among models as arrays, in the oldest form that fits."""
    parts = [
        Constant(np.array([model])) if isinstance(model, float) else stored(model)
        for model in models
    ]
    linear = [part for part in parts if isinstance(part, Linear)]
    if not linear or not all(isinstance(part, Linear | Constant) for part in parts):
        return Mixture(parts, shares)
    nothing = np.zeros_like(linear[0].coefficients)
    members: list[Any] = [
        Linear(nothing, 2 * part.constant - 1) if isinstance(part, Constant) else part
        for part in parts
    ]
    return LinearMixture(
        np.stack([member.coefficients for member in members]),
        np.concatenate([member.intercept for member in members]),
        shares,
    )


class Scores(BaseEstimator):
    """Scores as fairlearn takes them: a model whose only feature is P(1)."""

    def fit(self) -> "Scores":
        """Return itself, which needs no rows."""
        self.fitted_ = True
        return self

    def predict_proba(self, X: Float) -> Float:
        """Return the probability of each class, one column per class."""
        return np.column_stack([1 - X, X])


class HardtLogistic(CarriesBase, GroupedClassifier):
    """The most accurate thresholds of one base model that meet a constraint.

    Each group has a mixture of two thresholds, found on the training rows;
    ``predict_proba`` is the probability of a positive decision.

    Attributes
    ----------
    thresholds_ : dict
        Mixture of thresholds by index of group, as fairlearn gives it.
    network_ : GroupThresholds
        Base model and thresholds as plain arrays.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning (NeurIPS
    2016).
    """

    network_: Any

    _no_weights = "fairlearn finds its thresholds on rows that count once each"

    constraints: str = CLASSIC_CONSTRAINT

    def _learn(self, rows: TrainingRows) -> Float:
        target, codes = rows.target, rows.codes
        for code, group in enumerate(self.groups_):
            if len(np.unique(target[codes == code])) < 2:
                message = f"Group {value_label(group)} has rows of one outcome only"
                raise ValueError(f"{message}; join it with another, or exclude it.")
        self.solver_ = fit_base(self._base(len(target)), rows.X, target, None)
        base = stored(self.solver_)
        optimizer = thresholds.ThresholdOptimizer(
            estimator=Scores().fit(),
            constraints=self.constraints,
            prefit=True,
            predict_method="predict_proba",
        )
        scores = base.positive(rows.X, codes)
        with warnings.catch_warnings():  # fairlearn calls what pandas 4 will not have
            warnings.simplefilter("ignore", DeprecationWarning)
            optimizer.fit(scores[:, None], target, sensitive_features=codes)
        self.thresholds_ = optimizer.interpolated_thresholder_.interpolation_dict
        mixtures = [self.thresholds_[code] for code in range(len(self.groups_))]
        used = np.array([1 - m.get("p_ignore", 0.0) for m in mixtures])
        constant = np.array([m.get("prediction_constant", 0.0) for m in mixtures])
        rules = [(m.operation0, m.operation1) for m in mixtures]
        above = np.array([[rule.operator == ">" for rule in two] for two in rules])
        self.network_ = GroupThresholds(
            base,
            thresholds=np.array([[rule.threshold for rule in two] for two in rules]),
            signs=np.where(above, 1.0, -1.0),
            shares=used[:, None] * np.array([[m.p0, m.p1] for m in mixtures]),
            constants=(1 - used) * constant,
        )
        return self._positive(rows.X, codes)

    def _positive(self, rows: Any, group: Codes) -> Float:
        network: GroupThresholds = self.network_
        return network.positive(rows, group)


HARDT = Method.of(
    HardtLogistic,
    key="hardt",
    label="Hardt",
    title="Random thresholds by group",
    summary="A base model with a mixture of two thresholds in each group. It must know "
    "the group to predict.",
    source="Hardt, Price and Srebro (NeurIPS 2016), by fairlearn",
    needs_groups=True,
)
