"""Every method of the catalog keeps scikit-learn's contract, but for what is named."""

import numpy as np
import pytest
from cases import sampled
from contract import LIMITS, QUICK, method_failures

from fairdash.methods import CATALOG, AdversarialDebiasing
from fairdash.testing import with_groups


@pytest.mark.parametrize("key", sampled(CATALOG, 6))
def test_a_method_passes_scikit_learns_checks(key):
    errors = method_failures(CATALOG[key])
    limits = LIMITS.get(key, {})
    assert {name: errors[name] for name in errors if name not in limits} == {}
    assert bool(errors) == bool(limits)


def test_settings_and_limits_are_of_methods_of_the_catalog():
    assert {*QUICK, *LIMITS} <= {*CATALOG}


class Recorder(AdversarialDebiasing):
    """A method that notes the groups it is fitted with."""

    def _fit(self, samples):
        self.groups_seen_ = samples.sensitive_features


def test_groups_made_up_for_the_checks_are_no_copy_of_the_outcome():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.array([1, 2] * 10)
    groups = with_groups(Recorder()).fit(X, y).groups_seen_
    for outcome in (1, 2):
        assert set(groups[y == outcome]) == {0, 1}


def test_rows_that_a_weight_repeats_are_of_one_made_up_group():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    y = np.array([0, 0, 1] * 4)
    weight = rng.integers(0, 4, 12)
    weighted = with_groups(Recorder()).fit(X, y, sample_weight=weight).groups_seen_
    times = [rows.repeat(weight, axis=0) for rows in (X, y, weighted)]
    repeated = with_groups(Recorder()).fit(*times[:2]).groups_seen_
    np.testing.assert_array_equal(repeated, times[2])
