import numpy as np
import pandas as pd
import pytest

from fairdash.datasets import Roles


@pytest.fixture
def people():
    """400 rows: two numbers, two categories, an outcome that depends on all."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "person": np.arange(n) + 1000,
            "sex": rng.choice(["Female", "Male"], n),
            "age": rng.integers(18, 70, n),
            "income": np.round(rng.lognormal(10, 0.4, n), 2),
            "job": rng.choice(["office", "shop", "farm"], n, p=[0.5, 0.3, 0.2]),
        }
    )
    logit = (frame["age"] - 44) / 20 + (frame["sex"] == "Male") + rng.normal(size=n)
    frame["granted"] = np.where(logit > 0.5, "yes", "no")
    return frame


@pytest.fixture
def roles():
    return Roles(
        target="granted",
        positive="yes",
        sensitive_feature="sex",
        features=("age", "income", "job"),
        subgroup_columns=("age",),
    )
