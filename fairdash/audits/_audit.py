"""What changes in a model's predictions when people change in what does not count."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.audits._counterparts import search_counterparts
from fairdash.audits._model import AuditedModel
from fairdash.audits._rows import Flips
from fairdash.datasets import Dataset
from fairdash.metrics import (
    FairMetric,
    ctf_score,
    evaluate,
    prediction_consistency,
    recall_gaps,
    wilson_interval,
)

Float = NDArray[np.float64]
FLIPS = 12  # values up to which a number is set to each of them
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_FEW_GROUPS = 12


def flip_values(dataset: Dataset, columns: Sequence[str]) -> Flips:
    """Return the values that columns are set to: all of few, else some quantiles.

    Raises
    ------
    ValueError
        When a column is not a feature.
    """
    features = dataset.roles.features
    for name in columns:
        if name not in features:
            raise ValueError(
                f"{name!r} cannot be flipped: it is not a feature of the model, whose "
                f"features are {', '.join(features)}."
            )
    return {name: _values(dataset.frame[name].dropna()) for name in columns}


def audit_flips(model: AuditedModel, flips: Flips) -> dict[str, float]:
    """Audit a model on all test rows under every combination of some values.

    A model that is told the group is told that of the person in every variant.

    Parameters
    ----------
    model : AuditedModel
    flips : mapping of str to values
        See `flip_values`.

    Returns
    -------
    dict
        ``consistency``, the share of people whose prediction is the same in every
        variant, with its 95 % Wilson interval ``_low``, ``_high``; ``ctf``, the mean
        standard deviation of P(1) over the variants; ``moved``, the mean largest change
        of P(1); ``balanced_accuracy``; ``gap_rms`` and ``gap_max`` of the true positive
        rates of the two outcomes between the groups; ``n`` people. For every flipped
        column of few values the same gaps, as ``gap_rms:sex``.

    Raises
    ------
    ValueError
        When a column is not a feature, a value does not occur, or there are too many.
    """
    X, group = model.rows.test
    variants = [X, *model.rows.flipped(flips)]
    p = np.stack([model.scorer.positive(Z, group) for Z in variants])
    found = _numbers(model, p, np.arange(model.rows.n))
    frame, y, decided = model.rows.frame, model.rows.y, (p[0] > 0.5).astype(np.int8)
    for name in flips:
        column = frame[name].astype(str)
        if 2 <= column.nunique() <= _FEW_GROUPS:
            gaps = recall_gaps(y, decided, sensitive_features=column)
            found |= {f"{gap}:{name}": value for gap, value in gaps.items()}
    return found


def audit_search(
    model: AuditedModel, metric: FairMetric, *, n_people: int, radius: float
) -> dict[str, float]:
    """Audit a model against the worst counterpart of each person within a radius.

    The numbers of `audit_flips` of a person and this one counterpart, see
    `worst_counterparts`, for a sample of ``n_people`` test rows, and ``found``, the
    share of them that have one; who has none keeps its prediction.
    """
    places = model.rows.sample(n_people)
    case = search_counterparts(model, metric, places=places, radius=radius)
    before = model.scorer.positive(*model.rows.test.at(places))
    after = before.copy()
    after[np.searchsorted(places, case.people["place"])] = case.people["after"]
    numbers = _numbers(model, np.stack([before, after]), places)
    return numbers | {"found": case.share_found}


def _numbers(
    model: AuditedModel, p: Float, places: NDArray[np.int64]
) -> dict[str, float]:
    """Return the audit of P(1) by variant, the first being the people as they are."""
    y, n = model.rows.y[places], len(places)
    groups = model.rows.dataset.sensitive_features[model.rows.where[places]]
    share = prediction_consistency(p > 0.5)
    low, high = wilson_interval(round(share * n), n)
    quality = evaluate(y, p[0].clip(0, 1), sensitive_features=groups).iloc[0]
    decided = (p[0] > 0.5).astype(np.int8)
    return {
        "consistency": share,
        "consistency_low": float(low),
        "consistency_high": float(high),
        "ctf": ctf_score(p),
        "moved": float(np.abs(p - p[0]).max(0).mean()),
        "balanced_accuracy": float(quality["balanced_accuracy"]),
        **recall_gaps(y, decided, sensitive_features=groups),
        "n": n,
    }


def _values(column: "pd.Series[float]") -> tuple[object, ...]:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > FLIPS:
        at = column.quantile(list(_QUANTILES), interpolation="nearest")
        return tuple(dict.fromkeys(at.tolist()))
    return tuple(sorted(column.unique().tolist(), key=str))
