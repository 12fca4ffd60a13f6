from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash.audits.trials.memo import Memo


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 4))
def test_the_values_asked_for_last_are_made_once(asked, most):
    memo = Memo(most)
    calls = []
    last = OrderedDict()  # the same said again
    expected = []
    for one in asked:
        assert memo(lambda one=one: calls.append(one) or -one, "value", one) == -one
        if one not in last:
            expected.append(one)
        last[one] = None
        last.move_to_end(one)
        if len(last) > most:
            last.popitem(last=False)
        assert len(memo) == len(last) <= most
    assert calls == expected


def test_nothing_is_kept_of_what_fails():
    memo = Memo(2)
    with pytest.raises(ZeroDivisionError):
        memo(lambda: 1 / 0, "value")
    assert memo(lambda: 5, "value") == 5


def test_of_calls_at_the_same_time_one_makes_the_value():
    memo = Memo(2)
    calls = []

    def make():
        sleep(0.1)  # long enough for the others to ask
        calls.append(5)
        return 5

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: memo(make, "value"), range(4)))
    assert answers == [5] * 4
    assert calls == [5]
