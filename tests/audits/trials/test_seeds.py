from types import SimpleNamespace

import numpy as np
import pytest

from fairdash.audits import Setting, one_of_seeds
from fairdash.audits.groups.evaluation import between_seeds
from fairdash.audits.trials.models import Trained

METRICS = ("test_accuracy", "test_demographic_parity_difference", "test_worst_1_di")


def model(*rows, method="road", trained=None):
    """A setting with one seed for each triple of accuracy, DI and Worst-1-DI."""
    trials = tuple(
        SimpleNamespace(
            params={"fairness_weight": len(rows)},
            seed=seed,
            row=None if row is None else dict(zip(METRICS, row, strict=True)),
        )
        for seed, row in enumerate(rows)
    )
    return Setting(method, "label", trials, trained or Trained())


MANY = model((0.7, 0.10, 0.3), (0.8, 0.14, np.nan), (0.9, 0.06, 0.5))
TWO = model((0.6, 0.20, 0.2), (0.8, 0.20, 0.4))
ALONE = model((0.7, 0.1, 0.2))


def test_the_spread_is_over_the_seeds_of_a_setting_never_between_settings():
    assert between_seeds([MANY])["test_accuracy"] == pytest.approx(0.1)
    assert between_seeds([MANY])["test_worst_1_di"] == pytest.approx(
        np.std([0.3, 0.5], ddof=1)
    )
    both = between_seeds([MANY, TWO, ALONE])
    variances = [np.var([0.7, 0.8, 0.9], ddof=1), np.var([0.6, 0.8], ddof=1)]
    assert both["test_accuracy"] == pytest.approx(np.sqrt(np.mean(variances)))
    assert between_seeds([ALONE, model(None)]) == {}


def test_of_several_seeds_the_models_own_spread_is_told():
    words = one_of_seeds(MANY, [MANY, TWO])
    assert words.startswith("The 3 seeds of this model differ by 0.100 in accuracy, ")
    assert "0.040 in demographic parity difference" in words
    assert words.endswith("(± 1 sd over splits and starts together, test rows).")


def test_of_one_seed_that_of_models_of_the_same_method_trained_alike_is_told():
    words = one_of_seeds(ALONE, [MANY, TWO, ALONE])
    known = between_seeds([MANY, TWO])["test_accuracy"]
    assert words.startswith(
        f"One seed: at other settings of ROAD seeds differ by {known:.3f} in accuracy"
    )
    others = [
        model((0.1, 0, 0), (0.9, 1, 1), method="broad"),
        model((0.1, 0, 0), (0.9, 1, 1), trained=Trained(scaling="minmax")),
    ]
    assert one_of_seeds(ALONE, [ALONE, *others]) == (
        "One seed: how far others of ROAD differ is not known."
    )
