"""Every post-processing method keeps scikit-learn's contract, but for its draws."""

import pytest
from contract import failures, with_scores

from fairdash.postprocessing import HardtThreshold, RampThreshold, RejectOption

DRAWN = {  # "a decision is drawn by the place of its row", see `PostProcessor.predict`
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
}


@pytest.mark.parametrize(
    "method, limits",
    [(RampThreshold(), DRAWN), (HardtThreshold(), set()), (RejectOption(), set())],
)
def test_a_method_passes_scikit_learns_checks(method, limits):
    errors = failures(with_scores(method))
    assert {name: errors[name] for name in errors if name not in limits} == {}
    assert bool(errors) == bool(limits)
