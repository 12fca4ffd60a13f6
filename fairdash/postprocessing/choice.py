"""Width and target rate of a ramp, chosen on rows held out of its thresholds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from fairdash._wording import change, number, percent, plural, points
from fairdash.postprocessing.outcome import DecisionSums
from fairdash.postprocessing.ramp import RampThreshold
from fairdash.postprocessing.rows import ScoredRows, deal

GAMMAS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
_AROUND = (0.0, -0.05, 0.05, -0.1, 0.1)  # of the base rate, as in the paper
_FOLDS = 5
_DIGITS = 12  # accuracies that differ by less are rounding
_MEASURED = ["accuracy", "demographic_parity_difference"]


@dataclass(frozen=True, eq=False)
class RampChoice:
    """A width and a target rate, and what held-out rows said of all that were tried.

    Attributes
    ----------
    gamma, target_rate : float, {"accuracy", "balanced"} or float
        Of `RampThreshold`, as are ``tolerance`` and ``center``.
    table : DataFrame
        By setting: gamma, target_rate, and accuracy and demographic_parity_difference
        of held-out rows.
    """

    gamma: float
    target_rate: str | float
    tolerance: float
    center: bool
    table: pd.DataFrame

    def ramp(self, rows: ScoredRows) -> RampThreshold:
        """Return the chosen ramp, its thresholds learned on ``rows``."""
        return _ramp(rows, self.gamma, self.target_rate, self.tolerance, self.center)

    def judged(self, rows: ScoredRows, fresh: ScoredRows) -> pd.DataFrame:
        """Return ``table`` with ``fresh_accuracy`` and ``fresh_di`` of every setting.

        Thresholds are learned on all of ``rows``; ``fresh`` are rows that no setting
        was chosen by.
        """
        found = []
        for gamma, rate in self.table[["gamma", "target_rate"]].itertuples(index=False):
            ramp = _ramp(rows, gamma, rate, self.tolerance, self.center)
            found.append(ramp.report(fresh).outcome["value"].tolist())
        columns = ["fresh_accuracy", "fresh_di"]
        return self.table.join(pd.DataFrame(found, columns=columns))

    def cost(self, rows: ScoredRows, fresh: ScoredRows, called: str = "test") -> str:
        """Say what the choice does on fresh rows, and what choosing costs there."""
        accuracy, gap = self.ramp(rows).report(fresh).outcome.to_dict("records")
        best = float(self.judged(rows, fresh)["fresh_accuracy"].max())
        rate = self.target_rate
        aim = f"ρ = {rate:.3g}" if isinstance(rate, float) else f"ρ {_AIMS[rate]}"
        lost = points(best - accuracy["value"]).removeprefix("+")
        seen = plural(len(fresh.margins), f"{called} row")
        return (
            f"Chosen by five folds of {plural(len(rows.margins), 'row')}: "
            f"γ = {self.gamma:g}, {aim}. On {seen} accuracy is "
            f"{percent(accuracy['value'])} ({points(accuracy['change'])} against no "
            f"correction) and DI {number(gap['value'])} ({change(gap['change'])}). "
            f"The best of the {len(self.table)} settings tried would be "
            f"{percent(best)} accurate there: choosing without these rows costs {lost}."
        )


_AIMS = {"accuracy": "the most accurate", "balanced": "balanced"}


def choose_ramp(
    rows: ScoredRows,
    *,
    target_rates: Sequence[str | float] | None = None,
    tolerance: float = 0.0,
    center: bool = False,
    gammas: Sequence[float] = GAMMAS,
) -> RampChoice:
    """Choose the width and target rate that are most accurate out of five folds.

    On the rows that thresholds are learned on the narrowest ramp is always the most
    accurate, so every fold is decided by thresholds of the four others. Groups and
    outcomes are dealt alike to all folds; of equally accurate settings the first is
    taken, in the order of ``target_rates``, then of width.

    Parameters
    ----------
    rows : ScoredRows
        With outcomes; no test rows.
    target_rates : sequence, optional
        By default the most accurate rate of the rows learned on, and those of the
        paper: the base rate E[y] and 0.05 and 0.1 to either side.

    Raises
    ------
    ValueError
        Without outcomes.

    References
    ----------
    I. Alabdulmohsin, M. Lucic (2021), A near-optimal algorithm for debiasing trained
    machine learning models, section 5. NeurIPS.
    """
    if rows.y is None:
        raise ValueError("`rows` need outcomes: a ramp is chosen by its accuracy.")
    if target_rates is None:
        base = float(np.average(rows.y, weights=rows.weight))
        around = [round(base + shift, 3) for shift in _AROUND]
        target_rates = ["accuracy", *(rate for rate in around if 0 < rate < 1)]
    fold = deal(rows.cells, _FOLDS)
    held = [fold == k for k in range(_FOLDS)]
    parts = [(kept, rows.part(~kept), rows.part(kept)) for kept in held]
    found = []
    for rate, gamma in product(target_rates, sorted(gammas)):
        h = np.empty(len(fold))
        for kept, others, own in parts:
            h[kept] = _ramp(others, gamma, rate, tolerance, center).chance(own)
        sums = DecisionSums.of(h, rows.cells, rows.names, weight=rows.weight)
        outcome = sums.outcome()
        found.append([gamma, rate, *outcome["value"]])
    table = pd.DataFrame(found, columns=["gamma", "target_rate", *_MEASURED])
    gamma, rate, *_ = found[int(table["accuracy"].round(_DIGITS).argmax())]
    return RampChoice(gamma, rate, tolerance, center, table)


def _ramp(
    rows: ScoredRows, gamma: float, rate: str | float, tolerance: float, center: bool
) -> RampThreshold:
    ramp = RampThreshold(gamma, rate, tolerance, center, rows.score_type)
    return ramp.fit_rows(rows)
