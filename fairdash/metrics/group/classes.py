"""Gaps between groups of a model that tells more than two classes apart."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._validation import check_lengths, check_whole, value_labels
from fairdash._wording import interval, listing, number
from fairdash.metrics.group.counting import group_codes
from fairdash.metrics.group.intervals import check_confidence, for_all_pairs
from fairdash.metrics.group.measures import measure_gaps

Float = NDArray[np.float64]
MOST_CLASSES = 100
_CHANCE = 0.95
SUMMARY = {
    "gap_rms": "RMS of gaps",
    "gap_abs": "mean gap",
    "gap_max": "largest gap",
    "accuracy_sd": "deviation of accuracy",
    "balanced_accuracy_sd": "deviation of balanced accuracy",
}


@dataclass(frozen=True, eq=False)
class ClassGaps:
    """What groups are apart in, class by class and in all.

    Attributes
    ----------
    by_class : DataFrame
        class, n, gap in true positive rates, with ci_low and ci_high, and between whom:
        best and worst. NaN where a group has no row of the class.
    by_group : DataFrame
        group, n, accuracy, balanced_accuracy; the last over classes that all have.
    summary : DataFrame
        measure, value and chance: what the value stays below in 95 % of cases when
        groups are shuffled among the rows of a class (of accuracy among all rows).
    left_out : tuple of str
        Classes without a row in some group, which no summary counts.
    """

    by_class: pd.DataFrame
    by_group: pd.DataFrame
    summary: pd.DataFrame
    left_out: tuple[str, ...]

    def verdict(self) -> str:
        """Say which class differs most, between whom, and what is beyond chance."""
        known = self.by_class.dropna(subset="gap")
        if known.empty:
            return "No class has rows in every group, so no gap can be told."
        row = known.iloc[int(known["gap"].to_numpy().argmax())]
        beyond = self.summary.loc[self.summary["value"] > self.summary["chance"]]
        said = (
            f"Class {row['class']} is recognised least alike: {row['worst']} is below "
            f"{row['best']} by {number(row['gap'])} "
            f"({interval(row['ci_low'], row['ci_high'])})."
        )
        what = [SUMMARY[name] for name in beyond["measure"]]
        said += f" Beyond chance: {listing(what) if what else 'nothing'}."
        if self.left_out:
            said += f" Not counted, as some group lacks it: {listing(self.left_out)}."
        return said


def class_gaps(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    confidence: float = 0.95,
    n_permutations: int = 2000,
    random_state: int | None = 0,
) -> ClassGaps:
    r"""Compare groups by the true positive rate of every class.

    .. math::

        \mathrm{Gap}_k = \max_g \mathrm{TPR}_{g,k} - \min_g \mathrm{TPR}_{g,k}, \quad
        \mathrm{Gap\,RMS} = \sqrt{\tfrac1K \sum_k \mathrm{Gap}_k^2}, \quad
        \mathrm{Gap\,ABS} = \tfrac1K \sum_k \mathrm{Gap}_k

    and the standard deviations over groups of accuracy and of balanced accuracy, all
    groups counting alike. Gaps are never negative, so that they
    are above 0 by chance: hence ``chance``, by draws of how many of a class's right
    answers fall on each group. Intervals hold for all classes and pairs of groups at
    once (Bonferroni), so that the largest may be named.

    Source: Yurochkin and Sun, SenSeI (ICLR 2021), appendix on group fairness metrics.

    Parameters
    ----------
    y_true, y_pred, sensitive_features : array-like of shape (n_rows,)
        Labels of any kind; a predicted label that is no class is wrong.

    Raises
    ------
    ValueError
        When lengths differ, a label is missing, there are fewer than 2 or more than 100
        classes, fewer than two groups, or nothing predicted is a class.
    """
    check_lengths(y_true, y_pred, sensitive_features)
    check_whole("n_permutations", n_permutations, at_least=1)
    check_confidence(confidence)
    true, predicted = _labels("y_true", y_true), _labels("y_pred", y_pred)
    classes, target = np.unique(true, return_inverse=True)
    if not 2 <= len(classes) <= MOST_CLASSES:
        message = f"`y_true` has {len(classes)} classes; 2 to {MOST_CLASSES} compare."
        raise ValueError(message)
    if not np.isin(predicted, classes).any():
        raise ValueError(
            f"No label of `y_pred` is a class of `y_true`: {predicted[0]!r} is none of "
            f"{', '.join(map(str, classes[:5]))}."
        )
    groups = group_codes(sensitive_features, true)
    k, m = len(classes), len(groups.names)
    right = predicted == true
    cell, shape = target * m + groups.codes, (k, m)
    sizes = np.bincount(cell, minlength=k * m).reshape(shape)
    hits = np.bincount(cell[right], minlength=k * m).reshape(shape)
    known: NDArray[np.bool_] = np.all(sizes > 0, axis=1)
    sure = for_all_pairs(confidence, m, times=int(known.sum()))
    rows = [
        _of_class(str(name), target == i, right, groups.codes, groups.names, sure)
        if known[i]
        else {"class": str(name), "n": int((target == i).sum())}
        for i, name in enumerate(classes)
    ]
    columns = ["class", "n", "gap", "ci_low", "ci_high", "best", "worst"]
    rng = np.random.default_rng(random_state)
    rates, shuffled = hits[known] / sizes[known], np.empty((n_permutations, 0, m))
    if known.any():
        draws = [
            rng.multivariate_hypergeometric(n, h.sum(), n_permutations) / n
            for n, h in zip(sizes[known], hits[known], strict=True)
        ]
        shuffled = np.stack(draws, axis=1)
    totals, all_hits = sizes.sum(0), int(right.sum())
    accuracy = hits.sum(0) / totals
    by_chance = rng.multivariate_hypergeometric(totals, all_hits, n_permutations)
    values = _summary(rates[None], accuracy[None])
    chance = _summary(shuffled, by_chance / totals)
    summary = pd.DataFrame(
        {
            "measure": list(SUMMARY),
            "value": [values[name][0] for name in SUMMARY],
            "chance": [np.quantile(chance[name], _CHANCE) for name in SUMMARY],
        }
    )
    by_group = pd.DataFrame(
        {
            "group": groups.names,
            "n": totals,
            "accuracy": accuracy,
            "balanced_accuracy": rates.mean(0) if known.any() else np.nan,
        }
    )
    left_out = tuple(map(str, classes[~known]))
    return ClassGaps(pd.DataFrame(rows, columns=columns), by_group, summary, left_out)


def _labels(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return labels as text; a missing one is refused."""
    labels = value_labels(pd.Series(np.asarray(values)))
    if labels.isna().any():
        raise ValueError(
            f"`{name}` is missing in {int(labels.isna().sum())} rows, the first is row "
            f"{int(labels.isna().to_numpy().argmax())}; leave these rows out."
        )
    return labels.to_numpy(dtype=str)


def _of_class(
    name: str,
    rows: NDArray[np.bool_],
    right: NDArray[np.bool_],
    codes: NDArray[np.int64],
    names: tuple[str, ...],
    confidence: float,
) -> dict[str, Any]:
    """Return the gap of a class with its interval, and between whom it is."""
    found = measure_gaps(
        "selection_rate",
        None,
        right[rows].astype(int),
        sensitive_features=np.array(names)[codes[rows]],
        confidence=confidence,
    )
    row = found.iloc[int(found["difference"].to_numpy().argmin())]
    return {
        "class": name,
        "n": int(rows.sum()),
        "gap": 0.0 - float(row["difference"]),
        "ci_low": -float(row["ci_high"]),
        "ci_high": -float(row["ci_low"]),
        "best": row["reference"],
        "worst": row["group"],
    }


def _summary(rates: Float, accuracy: Float) -> dict[str, Float]:
    """Return the summary of each draw: ``rates`` (n, classes, groups)."""
    if not rates.shape[1]:
        undefined = np.full(len(rates), np.nan)
        return dict.fromkeys(SUMMARY, undefined) | {"accuracy_sd": accuracy.std(1)}
    gaps = np.ptp(rates, axis=2)
    return {
        "gap_rms": np.sqrt(np.mean(gaps**2, axis=1)),
        "gap_abs": gaps.mean(1),
        "gap_max": gaps.max(1),
        "accuracy_sd": accuracy.std(1),
        "balanced_accuracy_sd": rates.mean(1).std(1),
    }
