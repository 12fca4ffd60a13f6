"""Search existing models for a less discriminatory alternative.

The search sees some rows, the confirmation others, so it needs no correction for how
many models were tried. T. Gillis, V. Meursault and B. Ustun, Operationalizing the
search for less discriminatory alternatives in fair lending (FAccT 2024).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from fairdash._validation import check_lengths
from fairdash._wording import in_points, plural
from fairdash.audits.trials.models import known_models_of
from fairdash.audits.trials.rows import Decisions, rows_of
from fairdash.datasets import Subgroups, split
from fairdash.metrics import (
    Drawn,
    accuracy_change,
    counting,
    decision_status,
    gap_change,
    intervals,
    variance,
)
from fairdash.store import Store

LOSS = 0.01  # of accuracy that an alternative may have
LEVEL = 0.95


@dataclass(frozen=True)
class Alternative:
    """The result of a search.

    Attributes
    ----------
    name : str or None
        The confirmed model; None where none was.
    candidate : str or None
        The model that the search chose, confirmed or not.
    reduction : Interval
        By how much its gap is smaller than the present one, on the rows that confirm.
    accuracy : Interval
        Its accuracy less the present one, on these rows.
    most : float
        No model that was tried, and may lose as little, reduces the gap by more; with
        95 % confidence for all at once.
    tried : int
    loss : float
        By how much accuracy may fall.
    """

    name: str | None
    candidate: str | None
    reduction: intervals.Interval
    accuracy: intervals.Interval
    most: float
    tried: int
    loss: float

    @property
    def words(self) -> str:
        """The result in one or two sentences."""
        price = f"at most {in_points(self.loss)} points of accuracy"
        if self.name is None:
            models = plural(self.tried, "model")
            text = f"None of {models} is shown to narrow the gap for {price}."
            if math.isnan(self.most):
                return text
            return f"{text} None narrows it by more than {in_points(self.most)} points."
        value, low, high = (in_points(float(part)) for part in self.reduction)
        ends = f"{low} to {high}"
        return f"{self.name} narrows the gap by {value} points ({ends}), for {price}."


def less_discriminatory(
    y_true: ArrayLike,
    present: ArrayLike | Drawn,
    models: Mapping[str, ArrayLike | Drawn],
    *,
    sensitive_features: ArrayLike,
    search_rows: ArrayLike,
    confirm_rows: ArrayLike,
    loss: float = LOSS,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> Alternative:
    r"""Search models for a smaller gap of selection rates, and confirm it elsewhere.

    A model is confirmed if the interval of the change of the gap lies below 0, and that
    of the change of accuracy above ``-loss``, on rows that the search did not see. The
    search chooses the model whose confirmed reduction is largest in expectation,

    .. math:: r_m \; P(\text{gap confirmed}) \; P(\text{accuracy confirmed})

    with the reduction :math:`r_m` on its rows; see `_assurance` for the chances. The
    model with the smallest gap is often at the limit of accuracy, and then fails. A
    model that accepts nearly all or none there, or is not clearly better than guessing,
    is never chosen.

    Parameters
    ----------
    y_true, present : array-like of 0/1, (n_rows,)
        Outcomes, and the decisions of the model in use, which may be `Drawn`.
    models : mapping of str to array-like of 0/1, (n_rows,)
        Decisions of the other models, which may be `Drawn`.
    search_rows, confirm_rows : array-like of int
        Two sets of rows without a row in common.
    sample_weight, cluster : array-like of shape (n_rows,), optional
        Sampling weights, and the unit of each row, as of `gap_change`.

    Raises
    ------
    ValueError
        When lengths differ, there is no model, or the sets have rows or units in
        common.
    """
    y = np.asarray(y_true)
    in_use = _by_row(present)
    groups = np.asarray(sensitive_features)
    search = np.asarray(search_rows)
    confirm = np.asarray(confirm_rows)
    if not models:
        raise ValueError("There is no other model to search.")
    if len(np.intersect1d(search, confirm)):
        raise ValueError("Rows of the search and rows that confirm must differ.")
    check_lengths(y, in_use, groups, *models.values(), sample_weight, cluster)
    weight = counting.sampling_weights("sample_weight", sample_weight, len(y))
    unit = variance.unit_codes(cluster, len(y))
    if unit is not None and len(np.intersect1d(unit[search], unit[confirm])):
        raise ValueError(
            "Units of the search and units that confirm must differ: rows of one unit "
            "confirm what they suggested."
        )
    decided = {name: _by_row(column) for name, column in models.items()}

    def sampling(rows: NDArray[Any]) -> dict[str, Any]:
        return {
            "sample_weight": None if weight is None else weight[rows],
            "cluster": None if unit is None else unit[rows],
        }

    def reduction_of(name: str, rows: NDArray[Any], level: float) -> intervals.Interval:
        change = gap_change(
            in_use[rows],
            decided[name][rows],
            sensitive_features=groups[rows],
            confidence=level,
            **sampling(rows),
        )
        return intervals.Interval(-change.value, -change.high, -change.low)

    def accuracy_of(name: str, rows: NDArray[Any], level: float) -> intervals.Interval:
        return accuracy_change(
            y[rows],
            in_use[rows],
            decided[name][rows],
            confidence=level,
            **sampling(rows),
        )

    def expected_reduction(name: str) -> float:
        status = decision_status(y[search], decided[name][search])["status"].iloc[0]
        if status:  # its decisions say nothing
            return 0.0
        reduction = reduction_of(name, search, LEVEL)
        accuracy = accuracy_of(name, search, LEVEL)
        margin = intervals.Interval(*(part + loss for part in accuracy))
        share = len(search) / len(confirm)
        gap_confirmed = _assurance(reduction, share, LEVEL)
        accuracy_confirmed = _assurance(margin, share, LEVEL)
        return max(float(reduction.value), 0.0) * gap_confirmed * accuracy_confirmed

    expected = {name: expected_reduction(name) for name in decided}
    best = max(expected, key=expected.__getitem__)
    candidate = best if expected[best] > 0 else None
    name = None
    reduction = intervals.Interval(*np.full(3, np.nan))
    accuracy = reduction
    if candidate is not None:
        # One model, chosen on other rows: these intervals need no correction.
        reduction = reduction_of(candidate, confirm, LEVEL)
        accuracy = accuracy_of(candidate, confirm, LEVEL)
        if reduction.low > 0 and accuracy.low >= -loss:
            name = candidate
    # What no model exceeds is said of all models at once (Bonferroni).
    level = 1 - (1 - LEVEL) / len(decided)
    largest = [
        float(reduction_of(model, confirm, level).high)
        for model in decided
        if accuracy_of(model, confirm, level).high >= -loss
    ]
    return Alternative(
        name=name,
        candidate=candidate,
        reduction=reduction,
        accuracy=accuracy,
        most=float(np.max([0.0, *largest])) if largest else math.nan,
        tried=len(decided),
        loss=loss,
    )


def _by_row(decisions: ArrayLike | Drawn) -> NDArray[Any] | Drawn:
    return decisions if isinstance(decisions, Drawn) else np.asarray(decisions)


def alternative_in_run(
    store: Store, run_id: str, present: str | None = None, *, loss: float = LOSS
) -> tuple[str, Alternative]:
    """Search the models of a run; return the label of the present one, and the result.

    Validation rows are searched, test rows confirm, both of the run's first seed.
    Decisions are above 1/2; of a random mixture changes are on average over draws, and
    their intervals have the variance of the draws in them.

    Parameters
    ----------
    present : str, optional
        Label of the model in use; by default the plain one where there is one, else the
        first.

    Raises
    ------
    ValueError
        When the run has fewer than two models, or none of that label.
    """
    run = store.run(run_id)
    dataset = store.dataset(run.dataset_id)
    keys = {trial.key for trial in store.snapshot(run_id, curves=False).trials}
    decided: dict[str, Decisions] = {}
    rows = rows_of(store, run.dataset_id, None, Subgroups())
    seed = None
    for model in known_models_of(store, [run_id]):
        for trial in model.trials:
            if trial.source.key in keys and seed in (None, trial.seed):
                seed = trial.seed
                decided[model.label] = rows.decisions(trial)
                break
    if len(decided) < 2 or seed is None:
        raise ValueError(f"Run {run_id} has fewer than two models to compare.")
    label = present or next(iter(decided))
    if label not in decided:
        raise ValueError(f"Run {run_id} has no model {label!r}: {sorted(decided)[:5]}.")
    parts = split(dataset, seed)
    result = less_discriminatory(
        dataset.y,
        decided.pop(label),
        decided,
        sensitive_features=np.asarray(dataset.sensitive_features, dtype=str),
        search_rows=parts.validation,
        confirm_rows=parts.test,
        loss=loss,
        **rows.sampling,
    )
    return label, result


def _assurance(margin: intervals.Interval, share: float, level: float) -> float:
    r"""Return the chance that other rows show a margin to be above 0.

    With the standard error :math:`s` of the margin :math:`v` on these rows, and
    :math:`s' = s \sqrt{\text{share}}` on the others, ``share`` times fewer, it is
    :math:`\Phi((v - z s') / \sqrt{s^2 + s'^2})`.
    """
    z = float(norm.ppf((1 + level) / 2))
    error = max(float(margin.high - margin.low) / (2 * z), 1e-12)
    other_error = error * math.sqrt(share)
    # Both the margin here and the one on the other rows are random.
    both_errors = error * math.sqrt(1 + share)
    return float(norm.cdf((float(margin.value) - z * other_error) / both_errors))
