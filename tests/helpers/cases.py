"""Cases of a claim: a sample for `make test`, all of them for `make test-all`."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import settings

THOROUGH = pytest.mark.thorough
EXAMPLES, SAMPLE_EXAMPLES = 50, 8  # of a test with made-up inputs, by default


def examples(n: int) -> settings:
    """Return Hypothesis' settings for so many examples, or for their share in a sample.

    `conftest.pytest_configure` chooses between both.
    """
    share = min(settings().max_examples / EXAMPLES, 1)
    return settings(max_examples=round(n * share), deadline=None)


def sampled(cases: Iterable[Any], every: int) -> list[Any]:
    """Return all cases, of which each ``every``-th is in the sample.

    A case is a `pytest.param`, a tuple for several arguments, or the value of one.
    """
    return [
        case if place % every == 0 else _thorough(case)
        for place, case in enumerate(cases)
    ]


def paired(
    *axes: Sequence[Any], name: Callable[[Any], object] = str, together: int = 2
) -> list[Any]:
    """Return all combinations of values, a value of each axis in a case.

    The sample has each value of an axis beside each value of every other axis, at least
    once: what fails by one value, or by two of them together, fails in it.

    Parameters
    ----------
    name : callable
        From a value to its part in the name of a case.
    together : int
        How many axes the sample has in all combinations; 1 is each value once.
    """
    cases = list(product(*(range(len(axis)) for axis in axes)))
    unmet = {met for case in cases for met in _met(case, together)}
    sample = set()
    while unmet:
        best = max(cases, key=lambda case: len(unmet & _met(case, together)))
        sample.add(best)
        unmet -= _met(best, together)
    params = []
    for case in cases:
        values = [axis[place] for axis, place in zip(axes, case, strict=True)]
        param = pytest.param(*values, id="-".join(str(name(value)) for value in values))
        params.append(param if case in sample else _thorough(param))
    return params


def _met(case: tuple[int, ...], together: int) -> set[tuple[tuple[int, int], ...]]:
    """Return which values of which axes a case has, so many of them together."""
    return set(combinations(enumerate(case), together))


def _thorough(case: Any) -> Any:
    if hasattr(case, "marks"):  # a `pytest.param`
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, THOROUGH])
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=THOROUGH)
