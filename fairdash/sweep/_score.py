"""The metrics of models, on rows they were chosen by and on rows they never saw."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets import Dataset, Subgroups, split
from fairdash.metrics import evaluate


def score(
    dataset: Dataset,
    seed: int,
    scores: NDArray[np.floating],
    subgroups: Subgroups,
) -> pd.DataFrame:
    """Evaluate models on the validation and the test rows of a seed.

    Parameters
    ----------
    dataset : Dataset
    seed : int
        Seed of the split.
    scores : ndarray of shape (n_models, n_rows)
        Probability of the positive outcome for all rows of the data set.
    subgroups : Subgroups
        Of the local metrics.

    Returns
    -------
    DataFrame
        One row per model: the columns of `fairdash.metrics.evaluate`, once with prefix
        ``validation_`` and once with ``test_``.
    """
    rows = split(dataset, seed)
    labels = subgroups.label(dataset.frame)
    groups = dataset.sensitive_features
    parts = [
        evaluate(
            dataset.y[where],
            scores[:, where],
            sensitive_features=groups[where],
            subgroups=labels.iloc[where],
            min_size=subgroups.min_size,
        ).add_prefix(f"{part}_")
        for part, where in (("validation", rows.validation), ("test", rows.test))
    ]
    return pd.concat(parts, axis=1)
