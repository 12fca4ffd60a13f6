"""One small table with a gap planted in one subgroup, for all tests of metrics."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest


class Rows(NamedTuple):
    y: np.ndarray
    scores: np.ndarray  # (models, rows)
    group: np.ndarray
    subgroup: pd.Series

    @property
    def y_pred(self):
        return (self.scores > 0.5).astype(int)

    @property
    def where(self):
        return {"sensitive_features": self.group, "subgroups": self.subgroup}


def make_rows(n=600, groups=("a", "b"), n_models=3, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.choice(groups, n)
    names = ["young", "middle", "old", "rare"]
    label = rng.choice(names, n, p=[0.35, 0.35, 0.25, 0.05])
    subgroup = pd.Series(pd.Categorical(label, names, ordered=True))
    y = rng.integers(0, 2, n)
    tilt = 0.15 * (group == groups[0]) * (label == "young") + 0.15 * y
    noise = rng.random((n_models, n)) * 0.7
    return Rows(y, np.round(np.clip(noise + tilt, 0, 1), 2), group, subgroup)


@pytest.fixture
def rows():
    return make_rows()


@pytest.fixture
def rows_of_three_groups():
    return make_rows(groups=("a", "b", "c"), seed=1)
