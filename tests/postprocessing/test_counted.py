"""Thresholds of rows that stand for several people."""

import numpy as np
import pandas as pd

from fairdash._counts import RowCounts
from fairdash.postprocessing import RampThreshold
from fairdash.postprocessing.rows import ScoredRows


def test_thresholds_and_their_report_are_those_of_repeated_rows():
    rng = np.random.default_rng(1)
    n = 80
    table = pd.DataFrame(
        {
            "score": rng.uniform(-0.9, 0.9, n),
            "y": rng.integers(0, 2, n),
            "group": rng.choice(["a", "b"], n),
            "count": rng.integers(1, 20, n),
        }
    )
    people = table.loc[table.index.repeat(table["count"])]
    counts = RowCounts.of("count", table["count"])
    fitted = []
    reports = []
    for part, weight in ((table, counts), (people, None)):
        rows = ScoredRows.read(
            part["score"].to_numpy(),
            sensitive_features=part["group"].to_numpy(),
            y=part["y"].to_numpy(),
            sample_weight=weight,
            score_type="margin",
        )
        method = RampThreshold(gamma=0.3, target_rate=0.4).fit_rows(rows)
        fitted.append(list(method.thresholds_.values()))
        reports.append(method.report(rows).outcome)
    np.testing.assert_allclose(*fitted, atol=1e-9)
    pd.testing.assert_frame_equal(*reports)
