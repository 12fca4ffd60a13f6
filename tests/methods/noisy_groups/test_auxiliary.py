"""What an auxiliary sample says of the noise, and what methods make of it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from fairdash.methods import NoisyGroupsDRO, NoisyGroupsSoft
from fairdash.methods.noisy_groups import (
    estimate_from_counts,
    read_counts,
    share_limits,
    simulate_noise,
    write_counts,
)

TEXT = ",a,b\na,380,20\nb,30,170\n"
FEW = {"max_iter": 50, "slack": 0.02}


def rows(n=600, seed=0):
    rng = np.random.default_rng(seed)
    groups = rng.choice(["a", "b"], n, p=[0.65, 0.35])
    X = rng.normal(size=(n, 3)) + (groups == "b")[:, None] * [0.8, 0, 0]
    y = X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.3
    return X, y.astype(int), simulate_noise(groups, 0.08, random_state=seed)


def test_intervals_are_exact_and_hold_together():
    known = estimate_from_counts(read_counts(TEXT)).bounds
    wrong = {"a": [(20, 400), (30, 410)], "b": [(30, 200), (20, 190)]}
    for name, pairs in wrong.items():
        exact = [  # four rates, so that all hold with 95 %
            binomtest(k, n).proportion_ci(1 - 0.05 / 4, method="exact")
            for k, n in pairs
        ]
        assert known.loc[name, "paper_low"] == pytest.approx(exact[0].low)
        assert known.loc[name, "paper_high"] == pytest.approx(exact[0].high)
        assert known.loc[name, "general_high"] == pytest.approx(
            max(end.high for end in exact)
        )
        assert known.loc[name, "general"] == pytest.approx(max(k / n for k, n in pairs))


def test_counts_are_read_as_pasted_and_written_back():
    known = read_counts(TEXT)
    for other in (
        TEXT.replace(",", "\t"),
        TEXT.replace(",", ";").replace("\n", "\n\n"),
        "a , b\na, 380, 20\nb, 30, 170",  # without a corner
        write_counts(known),
    ):
        pd.testing.assert_frame_equal(read_counts(other), known)
    odd = pd.DataFrame([[3, 0], [1, 2]], ["x, y", "z; z"], ["x, y", "z; z"])
    pd.testing.assert_frame_equal(read_counts(write_counts(odd)), odd.astype(float))


@pytest.mark.parametrize(
    "text, message",
    [
        (",a,b\na,3,\nb,1,2", "empty cell: true group 'a', recorded group 'b'"),
        (",a,b\na,3,x\nb,1,2", "'x', no number >= 0"),
        (",a,a\na,3,1\nb,1,2", "recorded group 'a' twice"),
        (",a,b\na,3,1\n,1,2", "A true group of the counts has no name"),
        ("a,b", "a line for each true group"),
        (",a,b\na,3,0\nb,1,0", "no row of the noisy group 'b'"),
        (",a,b\na,3,1\nb,0,0", "no row of the true group 'b'"),
    ],
)
def test_counts_that_say_nothing_are_refused_by_every_method(text, message):
    X, y, noisy = rows()
    for method in (NoisyGroupsDRO, NoisyGroupsSoft):
        with pytest.raises(ValueError, match=message):
            method(auxiliary=text, **FEW).fit(X, y, sensitive_features=noisy)


def test_groups_that_do_not_match_are_refused():
    X, y, noisy = rows()
    other = TEXT.replace("b", "c")
    for method in (NoisyGroupsDRO, NoisyGroupsSoft):
        with pytest.raises(ValueError, match="no row of the noisy group 'b'"):
            method(auxiliary=other, **FEW).fit(X, y, sensitive_features=noisy)
    unequal = ",a,b\nold,3,5\nyoung,4,6\nmiddle,1,1"
    for method in (NoisyGroupsDRO, NoisyGroupsSoft):
        with pytest.raises(ValueError, match="must have the same names"):
            method(auxiliary=unequal, **FEW).fit(X, y, sensitive_features=noisy)


@pytest.mark.parametrize("mode", ["paper", "exact"])
def test_a_model_told_counts_is_the_one_told_what_they_say(mode):
    X, y, noisy = rows()
    known = estimate_from_counts(read_counts(TEXT))
    radii = known.bounds["general_high"].to_dict()
    how = {**FEW, "mode": mode, "random_state": 0}
    for told, spelled in (
        (NoisyGroupsDRO(auxiliary=TEXT, **how), NoisyGroupsDRO(tv_radius=radii, **how)),
        (
            NoisyGroupsSoft(auxiliary=TEXT, **how),
            NoisyGroupsSoft(group_given_noisy=known.group_given_noisy, **how),
        ),
    ):
        for model in (told, spelled):
            model.fit(X, y, sensitive_features=noisy)
        np.testing.assert_array_equal(told.coef_, spelled.coef_)
        assert told.violation_ == spelled.violation_
    dro = NoisyGroupsDRO(auxiliary=TEXT, **how).fit(X, y, sensitive_features=noisy)
    assert dro.radius_ == pytest.approx(radii)


def test_shares_that_are_known_have_limits_without_error():
    counts = read_counts(TEXT)
    known = estimate_from_counts(counts / counts.to_numpy().sum())
    for limit in share_limits(known.counts, 0.95):
        np.testing.assert_allclose(limit, known.group_given_noisy)
    low, high = share_limits(counts, 0.95)
    assert (low < known.group_given_noisy).all(axis=None)
    assert (known.group_given_noisy < high).all(axis=None)
