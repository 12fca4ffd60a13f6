"""Ranking of the models of a sweep by numbers that need no outcome.

A largest local gap is one cell's figure, and on validation rows mostly its noise. The
root mean square over rows a model was made with varies less: docs/measured/sweeps.md.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._metric_names import WORST
from fairdash.datasets import Dataset, Subgroups, split
from fairdash.metrics import Drawn, LocalMeasure

PREFIX = "ranking_"
RANKED_BY = {WORST: f"{PREFIX}local_gap"}


def ranking_column(rows: pd.DataFrame, metric: str) -> str:
    """Return the column by which models are ranked in a metric.

    That of the validation rows, but for the largest local gap ``ranking_local_gap``,
    where all models have it: those trained by earlier versions do not.
    """
    column = RANKED_BY.get(metric, "")
    if column in rows and rows[column].notna().all():
        return column
    return f"validation_{metric}"


def local_gaps(
    dataset: Dataset,
    seed: int,
    scores: NDArray[np.floating],
    subgroups: Subgroups,
    *,
    drawn: bool = False,
) -> pd.DataFrame:
    r"""Return ``ranking_local_gap`` of models: no test row has a part in it.

    :math:`\sqrt{\sum_s n_s g_s^2 / \sum_s n_s}` of the gaps :math:`g_s` between the
    groups' selection rates in estimable subgroups of :math:`n_s` rows, over training
    and validation rows; NaN where no subgroup is estimable.

    Parameters
    ----------
    scores : ndarray of shape (n_models, n_rows)
        Scores of all rows; a row is decided positively above one half.
    drawn : bool, default=False
        Whether scores are chances with which decisions are drawn: gaps are expected.
    """
    parts = split(dataset, seed)
    rows = np.concatenate([parts.train, parts.validation])
    labels = dataset.label_subgroups(subgroups).iloc[rows]
    group = dataset.group[rows]  # numbers are checked sooner than names
    # Subgroups count by their rows, so that small ones, whose gaps are mostly noise, do
    # not decide.
    means = []
    for model in scores[:, rows]:
        decided = Drawn(model) if drawn else (model > 0.5).astype(np.int8)
        measure = LocalMeasure.of(
            "selection_rate",
            None,
            decided,
            sensitive_features=group,
            subgroups=labels,
            min_size=subgroups.min_size,
            sample_weight=dataset.weight_of(rows),
        )
        gaps = measure.gaps()
        n = np.where(np.isnan(gaps), 0, measure.cells.rows.sum(axis=1))
        if not n.any():
            means.append(np.nan)
            continue
        squares = float((np.nan_to_num(gaps) ** 2 * n).sum())
        means.append(np.sqrt(squares / n.sum()))
    return pd.DataFrame({RANKED_BY[WORST]: np.array(means, float)})
