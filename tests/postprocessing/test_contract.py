"""Every post-processing method keeps scikit-learn's contract, but for its draws."""

import pytest
from contract import failures, with_scores

from fairdash.postprocessing import corrections

DRAWN = dict.fromkeys(
    ("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
    "a decision is drawn by the place of its row, see `PostProcessor.predict`",
)
LIMITS = {"ramp": DRAWN}  # others draw too, not on the rows of these checks


@pytest.mark.parametrize("key", corrections())
def test_a_method_passes_scikit_learns_checks(key):
    errors = failures(with_scores(corrections()[key].estimator()))
    limits = LIMITS.get(key, {})
    assert {name: errors[name] for name in errors if name not in limits} == {}
    assert bool(errors) == bool(limits)
