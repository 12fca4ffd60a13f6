"""A correction beside no correction and the other methods of the catalog."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairdash.postprocessing.base import PostProcessor, Report
from fairdash.postprocessing.catalog import corrections
from fairdash.postprocessing.outcome import expected_outcome
from fairdash.postprocessing.rows import ScoredRows

BEFORE = "No correction"
Baselines = Mapping[str, PostProcessor]


def fit_baselines(rows: ScoredRows, *, beside: str = "ramp") -> Baselines:
    """Fit what a method of the catalog is compared with: the others, by their labels.

    One that cannot be fitted, since a group lacks an outcome or outcomes are not known,
    is missing.
    """
    fitted = {}
    for key, correction in corrections().items():
        if key == beside:
            continue
        for label, params in correction.compared.items():
            try:
                method = correction.make(rows.score_type, **params).fit_rows(rows)
            except ValueError:
                continue
            fitted[label] = method
    return fitted


def trade_off_table(
    report: Report, baselines: Baselines, *, label: str = "Ramp"
) -> pd.DataFrame:
    """Return accuracy and DI of a correction, of none, and of other methods.

    All are of the rows of ``report``, which is that of the correction of this
    ``label``.

    Returns
    -------
    DataFrame with columns method, selection_rate, and accuracy and
    demographic_parity_difference, each also with ``_low`` and ``_high``
    """
    rows = report.rows
    before = expected_outcome(rows, rows.before.astype(np.float64))
    outcomes = {
        f"{label}, this setting": (report.outcome, report.accepted[1]),
        BEFORE: (before, report.accepted[0]),
    }
    for label, method in baselines.items():
        baseline = method.report(rows)
        _, rate = baseline.accepted
        outcomes[label] = (baseline.outcome, rate)
    lines = []
    for label, (outcome, rate) in outcomes.items():
        line: dict[str, Any] = {"method": label, "selection_rate": rate}
        for cell in outcome.to_dict("records"):
            name = cell["metric"]
            line[name] = cell["value"]
            line |= {f"{name}_{end}": cell[end] for end in ("low", "high")}
        lines.append(line)
    return pd.DataFrame(lines)
