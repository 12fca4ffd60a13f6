"""Adult and Credit as in the experiments on noisy groups: one-hot, quartile bins."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import check_random_state


def simulate_noise(
    groups: NDArray[Any], level: float, *, random_state: object = None
) -> NDArray[Any]:
    """Return groups of which a share is wrong, as in the paper.

    Of all rows, ``level`` are drawn without replacement and get a group uniformly among
    the others. The priors change, so the noisy groups do not have the true shares.
    """
    names, codes = np.unique(groups, return_inverse=True)
    random = check_random_state(random_state)
    rows = random.permutation(len(codes))[: round(level * len(codes))]
    steps = random.randint(1, len(names), size=len(rows))
    codes[rows] = (codes[rows] + steps) % len(names)
    return names[codes]


class Case(NamedTuple):
    """A data set with its published setting.

    Attributes
    ----------
    name, constraints : str
    slack : float
        alpha of the paper.
    X : ndarray of shape (n_rows, n_features)
        One-hot, without any group.
    y : ndarray of shape (n_rows,)
    groups : ndarray of shape (n_rows,)
        True groups.
    """

    name: str
    constraints: str
    slack: float
    X: NDArray[np.float32]
    y: NDArray[np.int64]
    groups: NDArray[Any]

    def with_groups(self, noisy: NDArray[Any]) -> NDArray[np.float32]:
        """Return the features with the noisy group as one of them, as in the paper."""
        one_hot = noisy[:, None] == np.unique(self.groups)
        return np.column_stack([self.X, one_hot]).astype(np.float32)


# the bins of the published experiments: quartiles only where these differ
ADULT_BINS: dict[str, list[float] | None] = {
    "age": None,
    "capital_gain": [-1, 1, 4000, 10000, 100000],
    "capital_loss": [-1, 1, 1800, 1950, 4500],
    "hours_per_week": [0, 39, 41, 50, 100],
    "education_num": [0, 8, 9, 11, 16],
}
ADULT_CATEGORIES = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "sex",
    "native_country",
)
MONTHS = range(1, 7)
CREDIT_BINS: dict[str, list[float] | None] = dict.fromkeys(
    [
        "limit_bal",
        "age",
        *(f"bill_amt{month}" for month in MONTHS),
        *(f"pay_amt{month}" for month in MONTHS),
    ]
)
CREDIT_CATEGORIES = (
    "sex",
    "marriage",
    "pay_0",
    *(f"pay_{month}" for month in MONTHS if month > 1),
)


def folder() -> Path:
    """Return the folder of the tidy tables, from FAIRDASH_DATA."""
    return Path(os.environ["FAIRDASH_DATA"])


def adult() -> Case:
    """Return Adult: equal opportunity by race, alpha .05."""
    frame = pd.read_parquet(folder() / "adult.parquet")
    race = frame["race"].str.lower()
    groups = race.where(race.isin(["white", "black"]), "other").to_numpy(dtype=object)
    y = (frame["income"] == ">50K").to_numpy(dtype=np.int64)
    X = one_hot(frame, ADULT_BINS, ADULT_CATEGORIES)
    return Case("Adult", "true_positive_rate_parity", 0.05, X, y, groups)


def credit() -> Case:
    """Return Credit: equalized odds by education, alpha .03."""
    frame = pd.read_parquet(folder() / "credit_default.parquet")
    names = {1: "graduate", 2: "university"}
    groups = frame["education"].map(names).fillna("other").to_numpy(dtype=object)
    y = frame["default_payment_next_month"].to_numpy(dtype=np.int64)
    X = one_hot(frame, CREDIT_BINS, CREDIT_CATEGORIES)
    return Case("Credit", "equalized_odds", 0.03, X, y, groups)


def one_hot(
    frame: pd.DataFrame,
    bins: dict[str, list[float] | None],
    categories: tuple[str, ...],
) -> NDArray[np.float32]:
    """Return one column per category and per bin; without edges, bins are quartiles."""
    columns = {
        name: pd.qcut(frame[name], 4, duplicates="drop")
        if edges is None
        else pd.cut(frame[name], edges)
        for name, edges in bins.items()
    }
    columns |= {name: frame[name].fillna("?") for name in categories}
    table = pd.DataFrame(columns).astype(str)
    return pd.get_dummies(table).to_numpy(dtype=np.float32)


def split_rows(n: int, seed: int) -> tuple[NDArray[np.int64], ...]:
    """Return training, validation and test rows, .6/.2/.2 at random."""
    order = np.random.default_rng(seed).permutation(n)
    return tuple(np.split(order, [int(0.6 * n), int(0.8 * n)]))


def noisy_groups(case: Case, level: float, seed: int) -> NDArray[Any]:
    """Return the groups with the paper's noise."""
    return simulate_noise(case.groups, level, random_state=seed)
