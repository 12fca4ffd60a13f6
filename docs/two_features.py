"""Train the networks of two features that Individual fairness draws.

python docs/two_features.py
"""

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file

from fairdash.methods import CATALOG, two_feature_people
from fairdash.methods._two_features import TWO_FEATURE_FILE

GRIDS = {
    "sensei": ("fairness_weight", (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)),
    "sensr": ("fair_radius", (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)),
}
SETTINGS = {
    "metric": "columns",
    "columns": "feature 1",
    "feature_names": ("feature 1", "feature 2"),
    "predictor_layers": (32,),
    "n_epochs": 60,
    "batch_size": 300,  # all people: the result hardly depends on rounding
    "learning_rate": 0.01,
    "device": "cpu",
    "random_state": 0,
}


def trained(method: str) -> dict[str, NDArray[np.floating]]:
    """Return settings and stacked parameters of the networks of a method."""
    X, y, group = two_feature_people()
    name, values = GRIDS[method]
    model = CATALOG[method].estimator_class()(**SETTINGS)
    points = [{name: value} for value in values]
    fitted = model.fit_many(points, X, y, sensitive_features=group)
    arrays = [one.network_.arrays() for one in fitted]
    stacks = {key: np.stack([one[key] for one in arrays]) for key in arrays[0]}
    return {"settings": np.array(values), **stacks}


if __name__ == "__main__":
    torch.set_num_threads(1)
    save_file(
        {f"{m}.{key}": stack for m in GRIDS for key, stack in trained(m).items()},
        TWO_FEATURE_FILE,
    )
