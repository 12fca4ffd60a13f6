"""Certificates of individual fairness: the fair regulariser and the loss ratio."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from scipy.stats import t as student

from fairdash._validation import check_positive
from fairdash.metrics.individual.fair_metric import FairMetric, Float
from fairdash.metrics.individual.worst_case import (
    Differentiable,
    FreeRange,
    ReluNetwork,
    class_indices,
    model_loss,
    worst_case,
)

# radii searched, in units of the one allowed on average: some people may go far
_RADII = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0)
_LEVEL = 0.05
_HALVINGS = 80
_LARGEST_RATIO = 1000.0
_TINY = 1e-12


@dataclass(frozen=True)
class DIFCertificate:
    r"""How far a model is from distributional individual fairness.

    Attributes
    ----------
    value : float
        :math:`R(h)` over the counterparts found: the truth is not below it.
    free : float
        Part of ``value`` that costs nothing: mean :math:`d_Y` under free moves alone.
    multiplier : float
        The minimising :math:`\lambda`.
    limit : float
        One-sided 95 % upper limit of ``value`` for all people these rows were drawn
        from, with a correction for skewness (`upper_limit`). It says nothing of
        counterparts the search missed.
    """

    value: float
    free: float
    multiplier: float
    limit: float
    n: int


@dataclass(frozen=True)
class LossRatio:
    """How many times larger the loss is at the worst counterpart, on average.

    Attributes
    ----------
    mean : float
        At least: see `loss_ratio` for people without a loss.
    low, p_value : float
        One-sided 95 % lower bound; of the hypothesis that the mean is at most the
        threshold, which ``unfair`` says is rejected at 5 %.
    """

    mean: float
    low: float
    p_value: float
    threshold: float
    unfair: bool
    n: int


def dif_certificate(
    model: Differentiable,
    X: ArrayLike,
    metric: FairMetric,
    *,
    radius: float,
    free: FreeRange | None = None,
) -> DIFCertificate:
    r"""Certify a model on rows that had no part in its training.

    .. math::

        R(h) = \inf_{\lambda \geq 0} \lambda \epsilon + \frac{1}{n} \sum_i
        \sup_{x'} [d_Y(h(x_i), h(x')) - \lambda d_X(x_i, x')]

    For a linear model that ignores the free directions ``value`` is
    :math:`\epsilon \sigma_{\max}(W (I - P))^2 / K`.

    Parameters
    ----------
    X : array-like of shape (n_rows, d)
    radius : float
        The :math:`\epsilon` above: squared fair distance allowed on average.
    free : FreeRange, optional
        By default that of ``X``; without any the regulariser is infinite unless the
        first layer ignores them.

    References
    ----------
    Yurochkin and Sun, *SenSeI* (ICLR 2021), Theorems 2.4 and 3.1.
    """
    check_positive("radius", radius)
    rows = np.asarray(X, np.float64)
    free = free or FreeRange.of(rows, metric)
    found = [
        worst_case(model, rows, metric, radius=radius * factor, free=free)
        for factor in _RADII
    ]
    values = np.stack([np.zeros(len(rows)), *(case.value for case in found)])
    distances = np.stack([np.zeros(len(rows)), *(case.distance for case in found)])

    multiplier = _best_multiplier(values, distances, radius)
    each = (values - multiplier * distances).max(axis=0)
    return DIFCertificate(
        value=multiplier * radius + float(each.mean()),
        free=float(found[0].value.mean()),
        multiplier=multiplier,
        limit=multiplier * radius + upper_limit(each),
        n=len(rows),
    )


def upper_limit(values: ArrayLike, confidence: float = 0.95) -> float:
    r"""Return a one-sided upper limit of a mean, corrected for skewness.

    With :math:`t = \sqrt{n} (\bar{x} - \mu) / s` and skewness :math:`\gamma`,
    :math:`t + a t^2 / 3 + a^2 t^3 / 27 + a / 6`, :math:`a = \gamma / \sqrt{n}`, is
    nearly normal (Hall, *On the removal of skewness by transformation*, JRSS B 1992);
    the limit is where it equals the quantile. NaN with fewer than two values.
    """
    x = np.asarray(values, np.float64)
    if len(x) < 2:
        return float("nan")
    mean, spread = float(x.mean()), float(x.std(ddof=1))
    if spread == 0.0:
        return mean
    a = float(((x - mean) ** 3).mean() / x.std() ** 3 / np.sqrt(len(x)))
    low = float(student.ppf(1 - confidence, len(x) - 1))
    if abs(a) > _TINY:
        low = float(3 / a * (np.cbrt(1 + a * (low - a / 6)) - 1))
    return mean - low * spread / float(np.sqrt(len(x)))


def loss_ratio(
    model: Differentiable,
    X: ArrayLike,
    y: ArrayLike,
    metric: FairMetric,
    *,
    radius: float,
    threshold: float = 1.25,
    free: FreeRange | None = None,
) -> LossRatio:
    r"""Test whether the loss is larger for comparable people.

    With :math:`r_i = \ell(y_i, x_i') / \ell(y_i, x_i)` at the worst counterpart, the
    lower bound is :math:`\bar{r} - z_{.95} \mathrm{sd}(r) / \sqrt{n}`. A ratio above
    1,000 counts as 1,000, or a single person without a loss of its own would decide.

    Parameters
    ----------
    y : array-like of int of shape (n_rows,)
        Index of each row's class, from 0.
    radius : float
        Largest squared fair distance of a counterpart; 0 for free moves alone.

    Raises
    ------
    ValueError
        When ``y`` holds other than the indices of the model's classes.
    """
    check_positive("threshold", threshold)
    rows = np.asarray(X, np.float64)
    outputs = model.outputs(rows)
    target = class_indices(y, outputs)
    case = worst_case(model, rows, metric, radius=radius, free=free, target=target)
    loss = model_loss(outputs, target)
    ratio = np.minimum(
        np.divide(
            case.value, loss, out=np.where(case.value > 0, np.inf, 1.0), where=loss > 0
        ),
        _LARGEST_RATIO,
    )
    n = len(rows)
    if n < 2:
        return LossRatio(float(ratio.mean()), np.nan, np.nan, threshold, False, n)
    mean, error = float(ratio.mean()), float(ratio.std(ddof=1) / np.sqrt(n))
    low = mean - float(norm.ppf(1 - _LEVEL)) * error
    distance = mean - threshold
    p_value = float(norm.sf(distance / error)) if error > 0 else float(distance <= 0)
    return LossRatio(mean, low, p_value, threshold, p_value < _LEVEL, n)


def free_sensitivity(model: ReluNetwork, metric: FairMetric) -> float:
    r"""Return :math:`\lVert A^T W_1 \rVert`: how far the first layer sees free moves.

    The Frobenius norm, over an orthonormal basis A of the free directions. At 0 the
    model cannot tell apart people who differ in these alone.
    """
    first = np.asarray(model.weights[0], np.float64)
    return float(np.linalg.norm(metric.basis.T @ first))


def _best_multiplier(values: Float, distances: Float, radius: float) -> float:
    """Minimise the dual, convex and piecewise linear, by halving where it turns."""
    low, high = 0.0, 1.0
    while _spent(values, distances, high) > radius:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _spent(values, distances, middle) > radius:
            low = middle
        else:
            high = middle
    return high


def _spent(values: Float, distances: Float, multiplier: float) -> float:
    """Return the mean distance gone at a multiplier: the dual falls by as much."""
    best = (values - multiplier * distances).argmax(axis=0)
    return float(distances[best, np.arange(len(best))].mean())
