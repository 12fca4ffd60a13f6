"""The one sentence above each figure, computed from the same table.

At most 70 characters. A sentence compares two models only if the interval of their
paired difference excludes 0; else it says that the intervals overlap.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import between, fitting, number, percent
from fairdash.plots._rows import records

_SMOOTH = 5  # epochs
_BLIND = 0.01  # this near to guessing, a model says nothing


def local_finding(
    table: pd.DataFrame,
    *,
    label: str,
    chance: float = float("nan"),
    changes: pd.DataFrame | None = None,
) -> str:
    """Where the model ``label`` is worst, and what it changed.

    Parameters
    ----------
    table : DataFrame as for ``plot_local_di``
    label : str
        The model looked at.
    chance : float, optional
        Worst-1-DI that chance alone reaches.
    changes : DataFrame, optional
        Of ``fairdash.metrics.compare`` with the reference, if there is one.
    """
    cells = records(table[(table["label"] == label) & table["estimable"]])
    if not cells:
        return "No subgroup is estimable: choose wider ones or a smaller size"
    worst = max(cells, key=lambda cell: float(cell["local_di"]))
    gap = number(worst["local_di"], 2)
    change = _change(changes, "worst_1_di")
    if change is not None:
        before = number(change["reference"], 2)
        if _is_clear(change):
            verb = "cuts" if change["difference"] < 0 else "raises"
            words = f"the worst gap from {before} to {number(change['value'], 2)}"
            return fitting(f"{label} {verb} {words}", f"It {verb} {words}")
        both = f"{number(change['value'], 2)} and {before}, the intervals overlap"
        return f"Worst local gaps: {both}"
    if float(worst["local_di"]) <= chance:
        return f"The largest gap, {gap}, is what chance alone shows"
    return fitting(
        f"The gap is largest in {worst['subgroup']}: {gap}",
        f"Largest gap: {worst['subgroup']}, {gap}",
    )


def outcome_finding(
    label: str,
    row: Mapping[Any, float],
    changes: pd.DataFrame | None,
    chance: float,
) -> str:
    """Say what a run came to: its change from the baseline, else beside chance.

    Parameters
    ----------
    label : str
    row : mapping
        Metrics of the model, as of ``fairdash.metrics.evaluate``.
    changes : DataFrame or None
        See `comparison_finding`.
    chance : float
        What Worst-1-DI stays below by chance.
    """
    worst = row["worst_1_di"]
    blind = abs(row["balanced_accuracy"] - 0.5) < _BLIND
    if blind and row["demographic_parity_difference"] < _BLIND:
        return f"{label} gives nearly all rows one outcome: fair, but of no use"
    if changes is not None:
        return comparison_finding(label, changes)
    if np.isnan(worst):
        return "No subgroup is estimable: choose wider ones or a smaller size"
    if worst <= chance:
        return f"The largest gap, {number(worst)}, is what chance alone shows"
    return f"The largest gap, {number(worst)}, is above what chance shows"


def comparison_finding(label: str, changes: pd.DataFrame) -> str:
    """Say what ``label`` changes against the reference in Worst-1-DI and accuracy.

    ``changes`` is the table of ``fairdash.metrics.compare``.
    """
    worst, accuracy = _change(changes, "worst_1_di"), _change(changes, "accuracy")
    if worst is None or accuracy is None:
        return "Worst-1-DI is not estimable with these subgroups"
    if not _is_clear(worst):
        start = "Worst-1-DI: the intervals overlap"
    else:
        verb = "cuts" if worst["difference"] < 0 else "raises"
        amount = number(abs(worst["difference"]), 2)
        start = fitting(f"{label} {verb} Worst-1-DI by {amount}", most=40)
    points = number(100 * abs(accuracy["difference"]), 1)
    if not _is_clear(accuracy):
        end = "accuracy intervals overlap"
    else:
        end = (
            f"accuracy {'falls' if accuracy['difference'] < 0 else 'rises'} {points} pt"
        )
    return fitting(f"{start}; {end}")


def training_finding(curves: pd.DataFrame) -> str:
    """Whether the validation loss, averaged over five epochs, still falls."""
    if "validation_loss" not in curves:  # a plane: it has one at every setting
        return "Loss on training rows, mean over all settings"
    known = curves[["epoch", "validation_loss"]].dropna()
    if len(known) < 2 * _SMOOTH:
        return "The first epochs"
    smooth = known["validation_loss"].rolling(_SMOOTH, center=True).mean().to_numpy()
    lowest = int(np.nanargmin(smooth))
    if lowest >= 0.9 * len(known) - _SMOOTH:
        return "Validation loss still falls"
    return f"Validation loss is lowest at epoch {known['epoch'].iloc[lowest]:,.0f}"


def ratio_finding(ratio: Mapping[str, Any]) -> str:
    """Which group's weights spread widest."""
    width = {name: q[-1] - q[0] for name, q in ratio["quantiles"].items()}
    name = max(width, key=lambda group: width[group])
    low, *_, high = ratio["quantiles"][name]
    if high - low < 0.05:
        return "All weights are close to 1"
    return fitting(
        f"Weights spread widest among {name} rows: 90% in {between(low, high, 1)}",
        f"Widest spread of weights: 90% in {between(low, high, 1)}",
    )


def correlation_finding(low: float, high: float) -> str:
    """Whether weights went where the gaps are; ends of the correlation's interval."""
    if np.isnan(low) or np.isnan(high):
        return "Too few subgroups to relate weights and gaps"
    if low > 0:
        return "Larger weights lie where the gaps are larger"
    if high < 0:
        return "Larger weights lie where the gaps are smaller"
    return "No clear link of weights and gaps: the interval covers 0"


def spread_finding(table: pd.DataFrame) -> str:
    """Which group ends with the wider spread of r.

    ``table`` is that of ``fairdash.metrics.ratio_quantiles``.
    """
    last = records(table[table["epoch"] == table["epoch"].max()])
    widest = max(last, key=lambda row: float(row["q95"] - row["q05"]))
    if widest["q95"] - widest["q05"] < 0.05:
        return "All weights are close to 1"
    ends = between(widest["q05"], widest["q95"], 1)
    return fitting(
        f"{widest['group']} rows end with the widest spread: 90% in {ends}",
        f"The widest spread of weights: 90% in {ends}",
    )


def traits_finding(table: pd.DataFrame) -> str:
    """Which trait the top rows have more often than all rows, beyond its interval."""
    clear = [row for row in records(table) if row["ci_low"] > row["share_all"]]
    if not clear:
        return "The top rows are like all rows, within their intervals"
    top = clear[0]
    shares = f"{percent(top['share_top'], 0)} against {percent(top['share_all'], 0)}"
    return fitting(f"Top rows: {top['trait']}, {shares}", f"Top rows differ: {shares}")


def _change(changes: pd.DataFrame | None, metric: str) -> dict[str, float] | None:
    """Return the row of ``metric``, None where it is undefined."""
    if changes is None:
        return None
    row = records(changes[changes["metric"] == metric])[0]
    return None if np.isnan(row["low"]) else row


def _is_clear(change: dict[str, float]) -> bool:
    return change["low"] > 0 or change["high"] < 0
