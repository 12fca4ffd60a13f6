"""Impact ratios by hand and in fractions, bounds by brute force over assignments."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from fairdash.analysis.impact_ratios import Unknown, impact_table, ratio_bounds


def counts(**categories):
    rows = [(name, n, k) for name, (n, k) in categories.items()]
    return pd.DataFrame(rows, columns=["category", "n", "selected"])


def brute(n, x, unknown):
    """Return the least and largest ratio of each category over all assignments."""
    size = len(n)

    def splits(total):
        for bars in combinations_with_replacement(range(size), total):
            yield np.bincount(bars, minlength=size)

    ratios = []
    for a in splits(unknown.selected):
        for b in splits(unknown.n - unknown.selected):
            rate = (x + a) / (n + a + b)
            if rate.max() > 0:
                ratios.append(rate / rate.max())
    return np.column_stack([np.min(ratios, axis=0), np.max(ratios, axis=0)])


@pytest.mark.parametrize("seed", range(60))
def test_bounds_are_those_of_a_brute_force(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 12, rng.integers(2, 4))
    x = rng.binomial(n, rng.uniform(0.1, 0.9, len(n)))
    u = int(rng.integers(0, 7))
    unknown = Unknown(u, int(rng.integers(0, u + 1)))
    if not (x.any() or unknown.selected):
        x[0] = 1
    bounds = ratio_bounds(n, x, unknown)
    assert bounds == pytest.approx(brute(n, x, unknown), abs=1e-9)


def test_the_example_of_the_rules():
    """Two tables of the city's example: selection by sex, and scoring by sex."""
    selection = impact_table(counts(Male=(1390, 667), Female=(1181, 555)))
    assert selection["rate"].round(2).tolist() == [0.48, 0.47]
    assert selection["ratio"].round(3).tolist() == [1.0, 0.979]
    scoring = impact_table(counts(Male=(92, 46), Female=(88, 49)))
    assert scoring["ratio"].round(2).tolist() == [0.9, 1.0]


@pytest.mark.parametrize(
    ("published", "rates", "ratios"),
    [
        ({"Male": (682, 245), "Female": (565, 142)}, [35.9, 25.1], [1, 0.7]),
        (
            {"White": (412, 156), "Asian": (298, 105), "Black": (312, 86)},
            [37.9, 35.2, 27.6],
            [1, 0.93, 0.73],
        ),
    ],
)
def test_an_auditors_published_sample(published, rates, ratios):
    """Counts, rates and ratios as printed at https://onhirely.com/tools/sample-report.

    Its fourth category, Hispanic (225, 62), is 27.6 % and .73 as well.
    """
    table = impact_table(counts(**published))
    assert (100 * table["rate"]).round(1).tolist() == rates
    assert table["ratio"].round(2).tolist() == ratios


def test_random_tables_are_those_of_a_computation_in_fractions():
    """40 tables; rates and ratios by whole numbers."""
    rng = np.random.default_rng(7)

    for _ in range(40):
        n = rng.integers(1, 400, rng.integers(2, 8))
        x = rng.binomial(n, rng.uniform(0.05, 0.95, len(n)))
        x[0] = max(x[0], 1)
        named = enumerate(zip(n.tolist(), x.tolist(), strict=True))
        table = impact_table(counts(**{str(at): pair for at, pair in named}))
        used = [50 * int(size) >= int(n.sum()) for size in n]
        rates = [Fraction(int(k), int(size)) for k, size in zip(x, n, strict=True)]
        best = max(r for r, large in zip(rates, used, strict=True) if large)
        assert table["included"].tolist() == used
        for row, rate, large in zip(table.itertuples(), rates, used, strict=True):
            assert row.rate == pytest.approx(float(rate), abs=1e-12)
            if large and best:
                assert row.ratio == pytest.approx(float(rate / best), abs=1e-12)
            else:
                assert np.isnan(row.ratio)


def test_small_categories_keep_their_counts_and_have_no_ratio():
    table = impact_table(counts(a=(500, 100), b=(490, 200), c=(9, 9)))
    assert table["included"].tolist() == [True, True, False]
    assert table["rate"].tolist() == pytest.approx([0.2, 200 / 490, 1.0])
    assert table["ratio"].tolist()[:2] == pytest.approx([0.49, 1])
    assert np.isnan(table["ratio"][2])
