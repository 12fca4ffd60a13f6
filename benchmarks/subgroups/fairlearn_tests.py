"""Run fairlearn's own tests of its metrics with our functions in place of its.

    git clone --depth 1 https://github.com/fairlearn/fairlearn
    python benchmarks/subgroups/fairlearn_tests.py fairlearn/test/unit/metrics

A rate of all rows is that of one of two equal groups, the true negative rate the true
positive one of the other outcome. What the files test beside these functions (counts,
labels of a confusion matrix) stays fairlearn's. Prints what fails, and how many pass.
"""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import fairlearn.metrics
import numpy as np
import pytest

from fairdash import metrics

FILES = ("test_base_metrics.py", "test_fairness_metrics.py", "test_selection_rate.py")
RATES = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "false_negative_rate",
)
PARITY = ("demographic_parity_difference", "demographic_parity_ratio")
ODDS = (
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
)


def rate(
    measure: str,
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> float:
    """Return a rate of all rows."""
    n = len(y_true)
    weight = None if sample_weight is None else np.tile(sample_weight, 2)
    found = metrics.measure_by_group(
        measure,
        None if measure == "selection_rate" else np.tile(y_true, 2),
        np.tile(y_pred, 2),
        sensitive_features=np.repeat([0, 1], n),
        sample_weight=weight,
        pos_label=pos_label,
    )
    return float(found["value"].iloc[0])


def true_negative_rate(
    y_true: Any, y_pred: Any, *, pos_label: Any = None, **asked: Any
) -> float:
    """Return the true positive rate of the other outcome."""
    positive = 1 if pos_label is None else pos_label
    other = ((np.asarray(one) != positive).astype(int) for one in (y_true, y_pred))
    return rate("true_positive_rate", *other, **asked)


def demographic(name: str, y_true: Any, y_pred: Any, **asked: Any) -> float:
    """Return a measure of parity, which needs no outcome here."""
    return float(getattr(metrics, name)(y_pred, **asked))


def main() -> int:
    """Put the functions in place and run the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    ours = {name: partial(rate, name) for name in RATES}
    ours |= {name: partial(demographic, name) for name in PARITY}
    ours |= {name: getattr(metrics, name) for name in ODDS}
    for name, function in {**ours, "true_negative_rate": true_negative_rate}.items():
        if isinstance(function, partial):  # MetricFrame asks for a name
            function.__name__ = name  # type: ignore[attr-defined]
        setattr(fairlearn.metrics, name, function)
    files = [str(folder / name) for name in FILES if (folder / name).exists()]
    own = ["-c", "/dev/null", "--rootdir", str(folder), "-p", "no:cacheprovider"]
    return int(pytest.main([*files, *own, "-q", "--tb=line", "-rf"]))


if __name__ == "__main__":
    raise SystemExit(main())
