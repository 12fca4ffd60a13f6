"""Expected accuracy and gap of randomised decisions, and their changes."""

from typing import Any

import numpy as np
import pandas as pd

from fairdash._arrays import FloatArray
from fairdash._metric_names import PARITY
from fairdash.metrics import Drawn, Measured, accuracy_change, gap_change
from fairdash.postprocessing.rows import ScoredRows

_COLUMNS = ["value", "low", "high", "change", "change_low", "change_high"]


def expected_outcome(rows: ScoredRows, h: FloatArray) -> pd.DataFrame:
    """Return accuracy and DI of decisions drawn with h, and their paired changes.

    Returns
    -------
    DataFrame with rows "accuracy" and "demographic_parity_difference": metric, value,
    low, high (Wilson and folded Newcombe with expected counts, which hold for drawn
    decisions and are wide for expected ones), change, change_low and change_high, of
    `fairdash.metrics.accuracy_change` and `gap_change`. All with the weights and units
    of the rows. Accuracy is NaN without outcomes.
    """
    values = {"accuracy": _accuracy(rows, h), PARITY: _gap(rows, h)}
    table = pd.DataFrame(values, index=_COLUMNS)
    return table.T.astype(float).rename_axis("metric").reset_index()


def changed_decisions(rows: ScoredRows, h: FloatArray) -> pd.DataFrame:
    """Return decisions changed by group, see `Report`."""
    n_groups = len(rows.names)
    weight = np.ones(len(h)) if rows.weight is None else rows.weight

    def total(part: FloatArray) -> FloatArray:
        return np.bincount(rows.codes, weight * part, n_groups).astype(np.float64)

    before = rows.before.astype(np.float64)
    n = total(np.ones(len(h)))
    up = total(h * (1 - before))
    down = total((1 - h) * before)
    table = pd.DataFrame(
        {
            "group": list(rows.names),
            "n": n,
            "rate_before": total(before) / n,
            "rate": total(h) / n,
            "up": up,
            "down": down,
            "changed": up + down,
        }
    )
    return table[n > 0].reset_index(drop=True)


def _accuracy(rows: ScoredRows, h: FloatArray) -> list[Any]:
    """Return the accuracy and its change, each with its interval; NaN without y."""
    if rows.y is None:
        return [np.nan] * len(_COLUMNS)
    everyone = np.zeros(len(h), dtype=np.int64)
    drawn = Measured.of("accuracy", rows.y, Drawn(h), **rows.sampling)
    value = drawn.estimate(everyone, (1,)).interval(0.95)
    change = accuracy_change(rows.y, rows.decisions, Drawn(h), **rows.sampling)
    return [part.item() for part in (*value, *change)]


def _gap(rows: ScoredRows, h: FloatArray) -> list[Any]:
    """Return the largest gap and its change, each with its interval."""
    drawn = Measured.of("selection_rate", None, Drawn(h), **rows.sampling)
    rates = drawn.estimate(rows.codes, (len(rows.names),))
    gap = np.ptp(rates.value[~np.isnan(rates.value)])
    ends = rates.largest_gap(0.95)  # for all pairs of groups at once
    sampling = {"sensitive_features": rows.codes, **rows.sampling}
    change = gap_change(rows.decisions, Drawn(h), **sampling)
    return [float(gap), *map(float, ends), *map(float, change)]
