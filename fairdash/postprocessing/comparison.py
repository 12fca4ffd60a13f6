"""The ramp beside other corrections of the same scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairdash.postprocessing.base import PostProcessor, Report
from fairdash.postprocessing.baselines import HardtThreshold, RejectOption
from fairdash.postprocessing.ramp import RampThreshold
from fairdash.postprocessing.rows import ScoredRows

BEFORE, PARITY, ODDS = (
    "No correction",
    "Hardt, demographic parity",
    "Hardt, equalized odds",
)
Baselines = Mapping[str, PostProcessor]


def fit_baselines(rows: ScoredRows) -> Baselines:
    """Fit the methods that the ramp is compared with, by their labels.

    One that cannot be fitted, since a group lacks an outcome or outcomes are not known,
    is missing.
    """
    kind = rows.score_type
    candidates: Baselines = {
        PARITY: HardtThreshold(score_type=kind),
        ODDS: HardtThreshold("equalized_odds", kind),
        "Reject option": RejectOption(score_type=kind),
    }
    fitted = {}
    for label, method in candidates.items():
        try:
            fitted[label] = method.fit_rows(rows)
        except ValueError:
            continue
    return fitted


def trade_off_table(
    ramp: RampThreshold, report: Report, baselines: Baselines
) -> pd.DataFrame:
    """Return accuracy and DI of a ramp, at several tolerances, and of other methods.

    All are of the rows of ``report``, which is that of the ramp.

    Returns
    -------
    DataFrame with columns kind ("setting", "curve" or "method"), label, tolerance, and
    accuracy and demographic_parity_difference, each also with ``_low`` and ``_high``,
    ``_change``, ``_change_low`` and ``_change_high`` against no correction
    """
    rows = report.rows
    before = rows.sums(rows.before.astype(np.float64)).outcome()
    setting = {"kind": "setting", "tolerance": ramp.tolerance}
    lines = [_line("Ramp, this setting", report.outcome, setting)]
    for tolerance in ramp.tolerances():
        outcome = ramp.at_tolerance(tolerance).report(rows).outcome
        lines.append(_line("Ramp", outcome, {"kind": "curve", "tolerance": tolerance}))
    lines.append(_line(BEFORE, before, {"kind": "method"}))
    for label, method in baselines.items():
        lines.append(_line(label, method.report(rows).outcome, {"kind": "method"}))
    return pd.DataFrame(lines)


def _line(label: str, outcome: pd.DataFrame, more: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {"label": label, **more}
    for cell in outcome.to_dict("records"):
        name = str(cell.pop("metric"))
        line[name] = cell.pop("value")
        line |= {f"{name}_{part}": value for part, value in cell.items()}
    return line
