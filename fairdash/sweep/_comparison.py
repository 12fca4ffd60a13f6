r"""Methods over the tables of a benchmark: Friedman, Nemenyi, paired intervals.

Methods are ranked on each block, a table or a split of one. With mean ranks
:math:`R_j` of k methods on N blocks Friedman's test asks whether all are alike, and two
differ clearly (Nemenyi) where :math:`|R_i - R_j|` is at least

.. math:: q_{.95} \sqrt{\frac{k (k + 1)}{6 N}}

with :math:`q` the quantile of the studentised range over :math:`\sqrt 2`.

References
----------
J. Demšar (2006), Statistical comparisons of classifiers over multiple data sets.
Journal of Machine Learning Research 7. C. Nadeau and Y. Bengio (2003), Inference for
the generalization error. Machine Learning 52.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from fairdash._validation import check_one_of
from fairdash.methods import CATALOG
from fairdash.metrics import intervals
from fairdash.sweep._seeds import param_columns
from fairdash.sweep._spec import model_label

Blocks = Literal["tables", "splits"]
TEST_TO_TRAINING = 1 / 3  # rows of a split
_FEWEST = {"methods": 3, "blocks": 2}
_OF_LONG = ("table", "table_digest", "split_digest", "measure", "value")


@dataclass(frozen=True)
class MethodComparison:
    """Comparison of methods in a measure.

    Attributes
    ----------
    blocks : {"tables", "splits"}
        The blocks in which methods were ranked. Splits of one table share rows: then
        Friedman's and Nemenyi's p-values are too small, and only the paired intervals
        allow for it.
    n_blocks : int
    statistic, p_value : float
        Friedman's chi-square, corrected for ties, and its p-value.
    critical_difference : float
        Nemenyi's, of mean ranks at ``confidence``.
    ranks : Series
        Mean rank by method, the best first; 1 is the best.
    pairs : DataFrame
        Nemenyi's p-value of every two methods: method, other, ranks_apart, p_value.
    differences : DataFrame
        method, mean, difference (of the mean to that of the reference), low, high:
        Student's intervals of paired differences, which hold for all methods at once
        (Bonferroni).
    reference : str
        The method that others are held against.
    """

    measure: str
    blocks: Blocks
    n_blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    ranks: "pd.Series[float]"
    pairs: pd.DataFrame
    differences: pd.DataFrame
    reference: str
    confidence: float


def compare_methods(
    rows: pd.DataFrame,
    measure: str,
    *,
    larger_is_better: bool,
    blocks: Blocks | None = None,
    reference: str | None = None,
    confidence: float = 0.95,
) -> MethodComparison:
    """Compare the methods of a benchmark in a measure.

    Parameters
    ----------
    rows : DataFrame
        Table of ``fairdash run --out``: a row a model, with a column per measure, or
        the long table of a benchmark. A setting of a method counts as a method of its
        own.
    measure : str
        Such as "test_accuracy" or "test_demographic_parity_difference".
    larger_is_better : bool
    blocks : {"tables", "splits"}, optional
        Rank on means over the splits of each table, or on each split. By default on
        tables where there are two or more.
    reference : str, optional
        By default the method of the best mean rank.

    Raises
    ------
    ValueError
        When there are fewer than three methods or two blocks, a method lacks a block or
        its value there, or ``measure`` or ``reference`` is unknown.
    """
    intervals.check_confidence(confidence)
    values = _values(rows, measure)
    n_tables = values["table"].nunique()
    blocks = blocks or ("tables" if n_tables > 1 else "splits")
    check_one_of("blocks", blocks, ("tables", "splits"))
    by = ["table"] if blocks == "tables" else ["table", "seed"]
    wide = values.pivot_table("value", by, "method", sort=False, dropna=False)
    _check(wide, measure)
    n, k = wide.shape
    within = wide.rank(axis=1, ascending=not larger_is_better)
    ranks = within.mean().sort_values(kind="stable")
    test = stats.friedmanchisquare(*(wide[name] for name in wide))
    spread = np.sqrt(k * (k + 1) / (6 * n))
    quantile = stats.studentized_range.ppf(confidence, k, np.inf) / np.sqrt(2)
    if reference is None:
        reference = str(ranks.index[0])
    check_one_of("reference", reference, list(map(str, wide)))
    shares_rows = blocks == "splits"
    return MethodComparison(
        measure=measure,
        blocks=blocks,
        n_blocks=n,
        statistic=float(test.statistic),
        p_value=float(test.pvalue),
        critical_difference=float(quantile * spread),
        ranks=ranks,
        pairs=_pairs(ranks, spread),
        differences=_differences(wide[ranks.index], reference, confidence, shares_rows),
        reference=reference,
        confidence=confidence,
    )


def _values(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return table, seed, method and value, of rows in either form."""
    if {"measure", "value"} <= set(rows):
        check_one_of("measure", measure, sorted(rows["measure"].astype(str).unique()))
        rows = rows[rows["measure"] == measure]
        values = rows["value"]
    else:
        if measure not in rows:
            named = [
                c for c in map(str, rows) if c.startswith(("test_", "validation_"))
            ]
            check_one_of("measure", measure, named)
        values = rows[measure]
    missing = [name for name in ("method", "seed") if name not in rows]
    if missing:
        raise ValueError(f"The rows have no column {missing[0]!r}; see `fairdash run`.")
    params = [name for name in param_columns(rows) if name not in _OF_LONG]
    records: list[dict[Any, Any]] = rows[["method", *params]].to_dict("records")
    table = pd.DataFrame(
        {
            "table": rows.get("table", "one table"),
            "seed": rows["seed"],
            "method": [_label(record) for record in records],
            "value": values.astype(np.float64),
        }
    )
    twice = table.duplicated(["table", "seed", "method"])
    if twice.any():
        again = table[twice].iloc[0]
        raise ValueError(
            f"{again['method']} stands twice on {again['table']}, seed "
            f"{again['seed']}: "
            "its settings have one name. Keep the rows of one of them."
        )
    return table.reset_index(drop=True)


def _label(record: dict[Any, Any]) -> str:
    method = str(record["method"])
    return model_label(method, record) if method in CATALOG else method


def _check(wide: pd.DataFrame, measure: str) -> None:
    for what, n in (("methods", wide.shape[1]), ("blocks", wide.shape[0])):
        if n < _FEWEST[what]:
            raise ValueError(
                f"There are {n} {what} with {measure!r}; a comparison needs at least "
                f"{_FEWEST[what]}. Train more methods, seeds or tables."
            )
    absent = wide.isna()
    if absent.to_numpy().any():
        method = str(absent.any().idxmax())
        block = absent.index[int(absent[method].to_numpy().argmax())]
        raise ValueError(
            f"{method} has no value of {measure!r} on {block}. Compare methods that "
            "have all blocks, or train what is missing."
        )


def _pairs(ranks: "pd.Series[float]", spread: float) -> pd.DataFrame:
    """Return Nemenyi's p-value of every two methods, the better ranked first."""
    first, second = np.triu_indices(len(ranks), 1)
    values = ranks.to_numpy(np.float64)
    rank_difference = values[second] - values[first]
    p = stats.studentized_range.sf(
        np.sqrt(2) * rank_difference / spread, len(ranks), np.inf
    )
    names = ranks.index.to_numpy()
    return pd.DataFrame(
        {
            "method": names[first],
            "other": names[second],
            "ranks_apart": rank_difference,
            "p_value": p,
        }
    )


def _differences(
    wide: pd.DataFrame, reference: str, confidence: float, shares_rows: bool
) -> pd.DataFrame:
    r"""Return paired differences to a reference.

    Splits of one table share rows; their variance is that of Nadeau and Bengio,
    :math:`s^2 (1 / N + n_{test} / n_{training})`.
    """
    differences = wide.drop(columns=reference).sub(wide[reference], axis=0)
    n = len(wide)
    level = 1 - (1 - confidence) / differences.shape[1]
    share = 1 / n + (TEST_TO_TRAINING if shares_rows else 0.0)
    half = (
        stats.t.ppf((1 + level) / 2, n - 1) * differences.std(ddof=1) * np.sqrt(share)
    )
    mean = differences.mean()
    table = {
        "method": differences.columns,
        "mean": wide[differences.columns].mean().to_numpy(),
        "difference": mean.to_numpy(),
        "low": (mean - half).to_numpy(),
        "high": (mean + half).to_numpy(),
    }
    return pd.DataFrame(table)
