"""Made-up people of two features, and small networks trained on them beforehand.

What a demonstration draws at once, in a process that does not load torch.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import numpy as safetensors

from fairdash._validation import check_one_of
from fairdash.methods.plain_network import Network

TWO_FEATURE_FILE = Path(__file__).with_name("two_features.safetensors")
_ROWS = 150  # of each group


def two_feature_people() -> tuple[
    NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]
]:
    """Return X (n, 2), outcome and group of 300 made-up people, always the same.

    Group 1 lies 0.7 higher along both features and has more positive outcomes:
    logit P(y = 1) = 1.4 x1 + 0.8 x2 + 0.3 (2 group - 1).
    """
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], _ROWS)
    X = rng.normal(size=(2 * _ROWS, 2)) + np.where(group[:, None] == 1, 0.35, -0.35)
    logit = X @ np.array([1.4, 0.8]) + 0.3 * (2 * group - 1)
    y = (rng.random(2 * _ROWS) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    return X, y, group


def two_feature_networks(method: str) -> dict[float, Network]:
    """Return networks trained on these people when feature 1 does not count.

    Parameters
    ----------
    method : {"sensei", "sensr"}

    Returns
    -------
    dict: by fairness weight ρ (SenSeI) or fair radius ε (SenSR), ascending. Written by
    ``docs/two_features.py``.
    """
    check_one_of("method", method, ("sensei", "sensr"))
    stored = safetensors.load_file(TWO_FEATURE_FILE)
    settings = stored[f"{method}.settings"]
    stacks = {
        name.removeprefix(f"{method}."): stack
        for name, stack in stored.items()
        if name.startswith(f"{method}.") and not name.endswith(".settings")
    }
    return {
        float(setting): Network.from_arrays({k: v[i] for k, v in stacks.items()})
        for i, setting in enumerate(settings)
    }
