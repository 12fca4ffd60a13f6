"""Quality and fairness of many models at once, who decides at all, means over seeds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import Codes
from fairdash._columns import in_one_order
from fairdash._counts import RowCounts, people_of
from fairdash._deciding import (
    ACCEPTS_ALL,
    ACCEPTS_NONE,
    AS_CHANCE,
    DECIDES,
    NEARLY_ALL,
    NEARLY_NONE,
    nearly_alike,
)
from fairdash._lazy import special
from fairdash._metric_names import ODDS, OPPORTUNITY, PARITY, WORST
from fairdash._validation import check_lengths
from fairdash.metrics.group import counting
from fairdash.metrics.group.cell_values import CellValues, stacked
from fairdash.metrics.group.cells import Cells
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.intervals import Bounds, Interval, check_confidence
from fairdash.metrics.group.local_cells import local_cells
from fairdash.metrics.group.local_measures import LocalValues
from fairdash.metrics.group.measured import Measured
from fairdash.metrics.group.quality import ScoredOutcomes, mean_of_two, where_defined
from fairdash.metrics.group.rates import ratio
from fairdash.metrics.group.sample import Sample
from fairdash.metrics.group.variance import unit_codes

Scores = NDArray[np.floating[Any]]

_MOST_EXACT = 10_000_000  # rows of Fisher's exact test; of more, an interval
# The distance of float32 from 1: a saturated network is wrong by at most 16 nats.
_CLIP = float(np.finfo(np.float32).eps)
_ENDS = ("_low", "_high")


@in_one_order
def evaluate(
    y_true: ArrayLike,
    scores: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike | None = None,
    min_size: int = 50,
    threshold: float = 0.5,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Quality and fairness of one or many models on the same rows.

    Parameters
    ----------
    scores : array-like of probabilities, (n_rows,) or (n_models, n_rows), or `Drawn`
        A row is predicted positive where its score exceeds ``threshold``. Of `Drawn`
        decisions no threshold is asked: every figure is the expected one, and its
        interval as wide as of decisions once drawn.
    subgroups : array-like of shape (n_rows,), optional
        Without it the local figures are NaN and the numbers of subgroups 0.
    sample_weight, cluster : array-like of shape (n_rows,), optional
        Sampling weights, by which every figure is weighted, and units; intervals are as
        in :func:`measure_by_group`.

    Returns
    -------
    DataFrame, one row per model: n, the metrics, n_subgroups and n_estimable. Every
    metric has the ends of its interval beside it, with _low and _high: accuracy
    (Wilson), balanced_accuracy (of both recalls), auc (DeLong), log_loss (Hall; none
    where few rows have most of it), demographic_parity_difference (folded Newcombe),
    demographic_parity_ratio (Donner and Zou), equalized_odds_difference,
    equal_opportunity_difference, worst_1_di, worst_2_di and worst_3_di
    (:func:`largest_gap`). What is undefined is NaN. A gap describes these rows: every
    group that has a row counts in it. Groups of few rows are left out where models are
    compared, see :func:`compare`.
    """
    y = counting.binary_vector("y_true", y_true)
    predictions: Any
    content = None
    drawn = isinstance(scores, Drawn)
    if isinstance(scores, Drawn):
        probabilities = counting.probability_models("scores", scores.chance)
        predictions = probabilities
        content = scores.content
    else:
        probabilities = counting.probability_models("scores", scores)
        predictions = (probabilities > threshold).astype(np.int8)
    check_lengths(y, probabilities[0])
    weight = counting.sampling_weights("sample_weight", sample_weight, len(y))
    people = counting.people("sample_weight", sample_weight, len(y))
    groups = counting.group_codes(sensitive_features, y)
    local = local_cells(
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
    )
    check_lengths(y, local.codes)
    n_groups = len(groups.names)
    n_models = len(predictions)
    unit = unit_codes(cluster, len(y))
    rows = _Models(y, predictions, weight, unit, drawn, content, people)
    models = rows.counted(local.place_of_row, local.n_places)
    everyone = np.zeros(local.n_places, np.int64)
    group = local.group_of_place
    accuracy = models.values("accuracy", everyone, (1,)).interval(confidence)
    balanced = mean_of_two(models.by_outcome("accuracy", everyone, ()), confidence)
    rates = models.values("selection_rate", group, (n_groups,))
    by_outcome = models.by_outcome("selection_rate", group, (n_groups,))
    opportunity = by_outcome.at((slice(None), 1))
    odds = counting.spread(by_outcome.value)
    local_rates = models.values("selection_rate", local.cell_of_place, local.shape)
    local_values = [
        LocalValues("selection_rate", local, local_rates.at(model))
        for model in range(n_models)
    ]
    parity = counting.spread(rates.value)
    areas = rows.areas(probabilities, confidence)
    ratios = rates.smallest_ratio(confidence)
    losses = rows.losses(probabilities, confidence)
    n = len(y) if people is None else int(people.sum())
    columns: dict[str, Any] = {"n": np.full(n_models, n)}

    def add(metric: str, value: Any, bounds: Bounds) -> None:
        columns[metric] = value
        columns[f"{metric}_low"], columns[f"{metric}_high"] = where_defined(
            np.asarray(value), bounds
        )

    add("accuracy", accuracy.value[:, 0], (accuracy.low[:, 0], accuracy.high[:, 0]))
    add("balanced_accuracy", balanced.value, (balanced.low, balanced.high))
    add("auc", areas.value, (areas.low, areas.high))
    add(
        "log_loss",
        log_loss(y == 1, probabilities, rows.mass),
        (losses.low, losses.high),
    )
    add(PARITY, parity, rates.largest_gap(confidence))
    add("demographic_parity_ratio", ratio(rates.value), (ratios.low, ratios.high))
    add(ODDS, odds.max(axis=1), by_outcome.largest_gap(confidence, axes=2))
    add(OPPORTUNITY, odds[:, 1], opportunity.largest_gap(confidence))
    for k, metric in enumerate((WORST, "worst_2_di", "worst_3_di"), start=1):
        worst = _of_models(
            [model.worst(k, confidence=confidence) for model in local_values]
        )
        add(metric, worst.value, (worst.low, worst.high))
    columns["n_subgroups"] = np.full(n_models, len(local.subgroups))
    columns["n_estimable"] = np.full(n_models, int(local.estimable.sum()))
    return pd.DataFrame(columns)


def _of_models(models: Sequence[Interval]) -> Interval:
    """Return the intervals of several models as one of arrays."""
    return Interval(
        *(np.array([float(end) for end in ends]) for ends in zip(*models, strict=True))
    )


class _Models(NamedTuple):
    """Decisions of one or many models on the same rows."""

    y: counting.Labels
    predictions: NDArray[Any]  # decisions, or chances of these
    weight: counting.Counts | None
    unit: Codes | None
    drawn: bool = False
    content: NDArray[np.generic] | None = None
    people: counting.Counts | None = None

    @property
    def mass(self) -> counting.Counts | None:
        """The count of every row, None where all count once."""
        return self.weight if self.people is None else self.people

    def counted(self, place: Codes, n_places: int) -> "_Counted":
        """Return the rows of every model by the place of each."""
        return _Counted(
            [
                self._measured(decisions).cells(place, n_places)
                for decisions in self.predictions
            ]
        )

    def _measured(self, decisions: NDArray[Any]) -> Measured:
        """Return the rows with the decisions, or chances of these, of one model."""
        if self.drawn:
            weight = self.weight
            if self.people is not None:
                weight = self.people.view(RowCounts)
            return Measured.of(
                "accuracy",
                self.y,
                Drawn(decisions, self.content),
                sample_weight=weight,
                cluster=self.unit,
            )
        sample = Sample(
            self.y.astype(np.float64),
            decisions.astype(np.float64),
            self.weight,
            unit=self.unit,
            people=self.people,
        )
        return Measured("accuracy", sample)

    def areas(self, scores: Scores, confidence: float) -> Interval:
        """Return the area under the curve of every model."""
        return _of_models([self._scored.area(row, confidence) for row in scores])

    def losses(self, scores: Scores, confidence: float) -> Interval:
        """Return the mean log loss of every model."""
        losses = _losses(self.y == 1, scores)
        return _of_models([self._scored.mean(row, confidence) for row in losses])

    @property
    def _scored(self) -> ScoredOutcomes:
        y = self.y.astype(np.float64)
        return ScoredOutcomes(y, self.weight, self.unit, self.people)


class _Counted(NamedTuple):
    """The rows of one or many models, counted in the same places."""

    models: list[Cells]

    def values(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure of every model in the cells of a table."""
        return stacked(
            [model.estimate(measure, cell_of_place, shape) for model in self.models]
        )

    def by_outcome(
        self, measure: str, cell_of_place: Codes, shape: tuple[int, ...]
    ) -> CellValues:
        """Return a measure of every model at either outcome, (models, 2, *shape)."""
        return stacked(
            [
                model.estimate_by_outcome(measure, cell_of_place, shape)
                for model in self.models
            ]
        )


@in_one_order
def decision_status(
    y_true: ArrayLike,
    y_pred: ArrayLike | Drawn,
    *,
    scores: ArrayLike | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    r"""Mark models whose decisions say nothing about the outcome.

    A model that decides alike for everyone has no gap between groups and is of no use.
    One that accepts *nearly* all or none is little better: its rarer decision is less
    than a tenth as frequent as the rarer outcome. So is one whose decisions are
    independent of the outcome, whatever their share: it is *no better than chance*
    unless positive decisions are more frequent among rows with outcome 1, by Fisher's
    exact test at (1 - confidence) / 2 on one side. With weights or units the interval
    of that difference must be above 0.

    Parameters
    ----------
    y_pred : array-like of 0/1, (n_rows,) or (n_models, n_rows), or `Drawn`
        Of `Drawn` decisions counts are expected ones.
    scores : array-like, (n_rows,) or (n_models, n_rows), optional
        Probabilities behind the decisions: where their AUC is surely above one half, a
        model decides unless it accepts all or none.

    Returns
    -------
    DataFrame, one row per model: selection_rate, balanced_accuracy (NaN unless both
    outcomes occur) and status, one of "accepts all", "accepts none", "accepts nearly
    all", "accepts nearly none", "no better than chance" and "" for a model that decides
    """
    check_confidence(confidence)
    y = counting.binary_vector("y_true", y_true)
    content = None
    predictions: Any
    if isinstance(y_pred, Drawn):
        predictions = counting.probability_models("y_pred", y_pred.chance)
        content = y_pred.content
    else:
        predictions = counting.binary_models("y_pred", y_pred)
    check_lengths(y, predictions[0])
    graded = None if scores is None else counting.probability_models("scores", scores)
    unit = unit_codes(cluster, len(y))
    weight = people = None
    if sample_weight is not None:
        weight = counting.row_weights("sample_weight", sample_weight, len(y))
        weighing = weight > 0  # what weighs nothing is nobody's decision
        y = y[weighing]
        predictions = predictions[:, weighing]
        weight = weight[weighing]
        unit = None if unit is None else unit[weighing]
        graded = None if graded is None else graded[:, weighing]
        content = None if content is None else content[weighing]
        people = people_of(weight)
        weight = counting.sampling_weights("sample_weight", weight, len(y))
    drawn = isinstance(y_pred, Drawn)
    rows = _Models(y, predictions, weight, unit, drawn, content, people)
    outcome = y.astype(np.int64)
    counted = rows.counted(outcome, 2)
    by_outcome = counted.values("selection_rate", np.arange(2), (2,))
    false_alarm, recall = by_outcome.value.T
    rate = np.average(predictions, axis=1, weights=rows.mass)
    status = np.where((predictions == 1).all(axis=1), ACCEPTS_ALL, DECIDES)
    status = np.where((predictions == 0).all(axis=1), ACCEPTS_NONE, status)
    varied = status == DECIDES
    nearly = nearly_alike(rate, np.average(y, weights=rows.mass)) & varied
    few = by_outcome.n.max(initial=0) < _MOST_EXACT
    if weight is None and unit is None and few:
        sure = _association(by_outcome) <= (1 - confidence) / 2
    else:
        sure = by_outcome.between(1, 0, confidence).low > 0
    if graded is not None:
        # A threshold far from its scores does not make a model useless.
        y_numbers = y.astype(np.float64)
        for model in np.flatnonzero((~sure | nearly) & varied):
            sample = Sample(y_numbers, graded[model], weight, unit=unit, people=people)
            area = Measured("auc", sample).estimate(np.zeros_like(outcome), (1,))
            sure[model] = area.interval(confidence).low[0] > 0.5
            nearly[model] &= ~sure[model]
    nearly_status = np.where(rate > 0.5, NEARLY_ALL, NEARLY_NONE)
    status = np.where(nearly, nearly_status, status)
    # With one outcome only there is nothing to be associated with.
    decisive = sure | np.isnan(recall - false_alarm)
    status = np.where(decisive | (status != DECIDES), status, AS_CHANCE)
    balanced = 0.5 + (recall - false_alarm) / 2
    return pd.DataFrame(
        {"selection_rate": rate, "balanced_accuracy": balanced, "status": status}
    )


def _association(rates: CellValues) -> counting.Counts:
    """Return Fisher's one-sided p-values: as many or more decisions where y = 1."""
    n0, n1 = rates.n[0] if len(rates.n) else (0, 0)
    n_decided = np.rint(np.nan_to_num(rates.value) * rates.n).astype(int)
    p = np.ones(len(n_decided))
    for model, (k0, k1) in enumerate(n_decided):
        total = k0 + k1
        # The hypergeometric probability of each table that is as extreme, on the
        # logarithmic scale, since the numbers of tables overflow.
        k = np.arange(k1, min(n1, total) + 1)
        log_tables = _log_choose(n1, k) + _log_choose(n0, total - k)
        p[model] = np.exp(log_tables - _log_choose(n0 + n1, total)).sum()
    return p


def _log_choose(n: int, k: Any) -> Any:
    """Return the logarithm of the binomial coefficient n over k."""
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def log_loss(
    positive: NDArray[np.bool_], scores: Scores, weight: counting.Counts | None = None
) -> Scores:
    """Return the mean log loss in nats of each row of ``scores``.

    Scores are clipped to [1.2e-7, 1 - 1.2e-7], as scikit-learn clips float32.
    """
    losses = _losses(positive, scores)
    if weight is None:
        return losses.mean(axis=1)
    return np.average(losses, axis=1, weights=weight)


def _losses(positive: NDArray[np.bool_], scores: Scores) -> Scores:
    """Return the log loss of every row."""
    likelihood = np.where(positive, scores, 1 - scores).astype(np.float64)
    losses: Scores = -np.log(np.clip(likelihood, _CLIP, 1 - _CLIP))
    return losses


def summarise_seeds(rows: pd.DataFrame, by: str | Sequence[str]) -> pd.DataFrame:
    """Average every metric over the seeds of each method or setting.

    Ends of intervals are averaged too and **not** narrowed by the square root of the
    number of seeds: the test rows of different seeds overlap.

    Parameters
    ----------
    rows : DataFrame
        One row per model and seed. Numeric columns are metrics, except those of ``by``
        and a column "seed".
    by : str or list of str
        What a summary row stands for, such as ["method", "fairness_weight"].

    Returns
    -------
    DataFrame in order of first appearance: the columns ``by``, n_seeds (rows averaged),
    then per metric its mean, ``<metric>_sd`` (n - 1 in the denominator; NaN for one
    seed) and ``<metric>_seeds`` (seeds where it is defined; the others do not enter).
    Ends of intervals (``*_low``, ``*_high``) have a mean only, and only where each seed
    of the metric has them.
    """
    keys = [by] if isinstance(by, str) else list(by)
    unknown = [key for key in keys if key not in rows]
    if unknown:
        message = f"`by` names columns that the rows lack: {unknown}."
        raise ValueError(message)
    numeric = rows.select_dtypes(include="number").columns
    metrics = [name for name in numeric if name not in (*keys, "seed")]
    groups = rows.groupby(keys, sort=False, dropna=False, observed=True)
    means = groups[metrics].mean()
    spreads = groups[metrics].std(ddof=1)
    counts = groups[metrics].count()
    sizes = groups.size()
    columns: dict[str, NDArray[np.generic]] = {"n_seeds": sizes.to_numpy()}
    for name in metrics:
        mean = means[name]
        if name.endswith(_ENDS):
            # The ends of some seeds need not include the mean of all.
            metric = name.rpartition("_")[0]
            mean = mean.where(counts[name] == counts.get(metric, counts[name]))
        columns[name] = mean.to_numpy(dtype=np.float64)
        if not name.endswith(_ENDS):
            columns[f"{name}_sd"] = spreads[name].to_numpy(dtype=np.float64)
            columns[f"{name}_seeds"] = counts[name].to_numpy()
    return pd.DataFrame(columns, index=means.index).reset_index()
