"""Names of runs in the picker: both ends stand, no two are alike."""

from hypothesis import given
from hypothesis import strategies as st

from fairdash._wording import shortened

NAMES = st.dictionaries(st.text(max_size=3), st.text(max_size=80), max_size=6)


@given(NAMES)
def test_both_ends_stand_and_names_that_differ_still_differ(names):
    short = shortened(names, 20)
    assert len(set(short.values())) == len(set(names.values()))
    for key, name in names.items():
        head, _, tail = short[key].partition("…")
        if short[key] != name:
            assert len(short[key]) == 20
            assert name.startswith(head)
            assert name.endswith(tail)


def test_a_long_sweep_names_its_table_and_its_method():
    name = "compas two years · sweep of 31 models, ROAD λ 2"
    assert shortened({"a": name}) == {"a": "compas two ye…dels, ROAD λ 2"}
