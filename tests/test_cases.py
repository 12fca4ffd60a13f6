"""A sample of cases has each value, and each two of them together."""

from itertools import combinations
from types import SimpleNamespace

import pytest
from cases import THOROUGH, paired, sampled
from conftest import check_sample, mark_inner_cases
from hypothesis import given
from hypothesis import strategies as st


def in_sample(params):
    return [param for param in params if THOROUGH not in getattr(param, "marks", ())]


def test_a_sample_has_every_value_beside_every_other():
    axes = ["ab", range(3), [True, False], "wxyz"]
    params = paired(*axes)
    sample = [param.values for param in in_sample(params)]
    assert len(params) == 2 * 3 * 2 * 4 > 3 * len(sample)
    for first, second in combinations(range(4), 2):
        met = {(values[first], values[second]) for values in sample}
        assert len(met) == len(axes[first]) * len(axes[second])
    alone = [param.values for param in in_sample(paired(*axes, together=1))]
    assert [len({values[at] for values in alone}) for at in range(4)] == [2, 3, 2, 4]
    assert len(alone) == 4


def test_a_sample_of_one_list_leaves_its_cases_as_they_are():
    params = sampled([1, (2, 3), pytest.param(4, id="four", marks=pytest.mark.core)], 3)
    assert params[0] == 1
    assert params[1] == pytest.param(2, 3, marks=THOROUGH)
    assert params[2].id == "four"
    assert {mark.name for mark in params[2].marks} == {"core", "thorough"}
    assert in_sample(params) == [1]


def test_tests_with_cases_inside_of_them_have_more_beyond_the_sample():
    def item(test, *fixtures):
        marks = []
        return SimpleNamespace(
            obj=test, fixturenames=fixtures, marks=marks, add_marker=marks.append
        )

    @given(st.integers())
    def made_up(number):
        pass

    def plain():
        pass

    items = [item(made_up), item(plain, "times", "thorough"), item(plain, "home")]
    mark_inner_cases(items)
    assert [each.marks for each in items] == [["thorough"], ["thorough"], []]


@pytest.mark.parametrize("n", range(3))
def test_a_sample_repeats_less_often(times, thorough, n):
    assert times(10 * n) == (10 * n if thorough else 3 * n)
    assert times(20 * n, 0.1) == (20 * n if thorough else 2 * n)


def test_a_test_without_a_case_in_the_sample_is_refused():
    def item(name, *marks):
        return SimpleNamespace(nodeid=name, get_closest_marker=lambda m: m in marks)

    tried = [item("a.py::test_x[1]"), item("a.py::test_x[2]", "thorough")]
    check_sample(tried)
    with pytest.raises(pytest.UsageError, match=r"sample: \['a.py::test_y'\]"):
        check_sample([*tried, item("a.py::test_y[1]", "thorough")])
