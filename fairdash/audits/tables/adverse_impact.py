"""Adverse impact: ratios, tests and shortfall by group, as US practice asks.

The four-fifths rule of thumb and the two-standard-deviation test are those of the
Uniform Guidelines on Employee Selection Procedures (1978, 29 CFR 1607) and of Hazelwood
School District v. United States (1977).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact, norm

from fairdash._wording import FOUR_FIFTHS
from fairdash.audits.arguments import Arguments
from fairdash.audits.tables.audit import CROSSED, decisions_of
from fairdash.audits.tables.counting import CountedRows, TableQuestion, count_rows
from fairdash.metrics import measure_gaps


class AdverseImpact(NamedTuple):
    """Tables by columns of groups, each group against the most selected one."""

    tables: Mapping[str, pd.DataFrame]
    rows: CountedRows


def adverse_impact(frame: pd.DataFrame, question: TableQuestion) -> AdverseImpact:
    """Return `impact_tests` for each column of groups, and for all of them crossed.

    Raises
    ------
    ValueError
        As `fairdash.audits.tables.counting.count_rows`; for weights, since the tests
        count people.
    """
    if question.weight is not None or question.unit is not None:
        raise ValueError("Tests of adverse impact count people; give no weight.")
    rows = count_rows(frame, question)
    if rows.decided is None and question.score is None:
        raise ValueError("Give one of `--decision` and `--score`.")
    decided, scores = decisions_of(rows, question, None)
    tables = {
        CROSSED.join(columns): impact_tests(
            np.asarray(decided, dtype=bool),
            np.asarray(Arguments(rows.frame).groups(list(columns)), dtype=str),
            scores=scores,
            reference=question.reference,
        )
        for columns in rows.crossed
    }
    return AdverseImpact(tables, rows)


def impact_tests(
    selected: Any, groups: Any, *, scores: Any = None, reference: str | None = None
) -> pd.DataFrame:
    r"""Return each group against the most selected one.

    Parameters
    ----------
    selected : array of bool, (n_rows,)
    groups : array of str, (n_rows,)
    scores : array of numbers, (n_rows,), optional
    reference : str, optional
        Group that others are compared with.

    Returns
    -------
    DataFrame, one row per other group
        group, reference, n, selected, rate, reference_rate, ratio, low and high (95 %
        for all pairs at once), below_four_fifths (the ratio itself), deviations
        (:math:`(p_g - p_r) / \sqrt{p (1 - p) (1/n_g + 1/n_r)}` with the rate p of both
        together), two_deviations (below -2), p_fisher (Fisher's exact test, two-sided),
        shortfall (:math:`n_g p - x_g`: how many more were selected at the rate of
        both), smd (mean score less that of the reference, over their pooled standard
        deviation; NaN without scores).
    """
    selected, groups = np.asarray(selected, dtype=bool), np.asarray(groups)
    names = sorted(set(groups.tolist()))
    pairs = len(names) * (len(names) - 1) // 2
    if reference is not None:
        pairs = len(names) - 1
    gaps = measure_gaps(
        "selection_rate",
        None,
        selected.astype(int),
        sensitive_features=groups,
        reference=reference,
        confidence=1 - 0.05 / max(pairs, 1),
    )
    rows = [_tests(gap, selected, groups, scores) for gap in gaps.itertuples()]
    return pd.DataFrame(rows)


def _tests(gap: Any, selected: Any, groups: Any, scores: Any) -> dict[str, Any]:
    own, other = groups == gap.group, groups == gap.reference
    n, m = int(own.sum()), int(other.sum())
    x, y = int(selected[own].sum()), int(selected[other].sum())
    both = (x + y) / (n + m)
    spread = np.sqrt(both * (1 - both) * (1 / n + 1 / m))
    deviations = (x / n - y / m) / spread if spread > 0 else np.nan
    smd = np.nan
    if scores is not None and n > 1 and m > 1:
        a, b = np.asarray(scores, float)[own], np.asarray(scores, float)[other]
        pooled = ((n - 1) * a.var(ddof=1) + (m - 1) * b.var(ddof=1)) / (n + m - 2)
        smd = (a.mean() - b.mean()) / np.sqrt(pooled) if pooled > 0 else np.nan
    return {
        "group": gap.group,
        "reference": gap.reference,
        "n": n,
        "selected": x,
        "rate": x / n,
        "reference_rate": y / m,
        "ratio": gap.ratio,
        "low": gap.ratio_low,
        "high": gap.ratio_high,
        "below_four_fifths": bool(gap.ratio < FOUR_FIFTHS),
        "deviations": deviations,
        "two_deviations": bool(deviations < -2),
        "p_two_deviations": 2 * norm.sf(abs(deviations)),
        "p_fisher": fisher_exact(np.array([[x, n - x], [y, m - y]]))[1],
        "shortfall": max(n * both - x, 0.0),
        "smd": smd,
    }
