"""Three facts about decisions, each said in its own words, with the share accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdash._deciding import Deciding, nearly_alike

SHARE = st.floats(0.0, 1.0)


@given(SHARE, SHARE, SHARE, st.floats(0.5, 1.0))
def test_one_fact_holds_and_only_of_models_that_do_not_decide(idle, alike, share, area):
    row = {"constant": idle, "alike": min(alike, idle), "accepted": share}
    fact = Deciding.of(row | {"balanced_accuracy": area})
    assert fact.idle == (idle > 0.5)
    assert fact.idle == (fact.alike + fact.guessing + fact.mixed)
    assert bool(fact.mark()) == fact.idle


@given(st.integers(0, 10_000), st.floats(0.01, 0.99))
def test_what_is_said_to_be_accepted_is_what_was(n, base_rate):
    share = n / 10_000
    fact = Deciding(alike=True, accepted=share)
    text = fact.mark().removeprefix("accepts ")
    assert fact.differs_by_seed == (0.05 < share < 0.95)
    exact = {"all": share == 1, "none": share == 0}
    exact |= {"over 99%": 0.995 <= share < 1, "under 1%": 0 < share <= 0.005}
    if fact.differs_by_seed:  # of one seed such a share is never nearly alike
        assert not nearly_alike(share, base_rate)
        assert text == "all or none in most seeds"
    elif text in exact:
        assert exact[text]
    else:
        assert abs(float(text.removesuffix("%")) - 100 * share) <= 0.5 + 1e-9
    assert bool(nearly_alike(share, base_rate)) == (
        min(share, 1 - share) < min(base_rate, 1 - base_rate) / 10
        or share in (0.0, 1.0)
    )


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"alike": 1.0, "accepted": 1.0}, "m accepts all, so its gaps say nothing."),
        (
            {"alike": 1.0, "accepted": 0.012},
            "m accepts 1%, nearly no one, so its gaps say nothing.",
        ),
        (
            {"alike": 1.0, "accepted": 0.64},
            "m accepts nearly all or none in most seeds (64% on average), so its gaps "
            "say nothing.",
        ),
        (
            {"constant": 2 / 3, "alike": 1 / 3, "accepted": 0.26},
            "m accepts nearly all or none, or is not clearly better than guessing, in "
            "most seeds, so its gaps say nothing.",
        ),
        (
            {"accepted": 0.605},
            "m is not clearly better than guessing, so its gaps say nothing.",
        ),
    ],
)
def test_each_fact_has_its_sentence(row, sentence):
    fact = Deciding.of({"constant": 1.0, **row})
    assert fact.brief("m") == sentence
    assert fact.details("m").startswith(sentence)
    assert ("It accepts 60.5%." in fact.details("m")) == fact.guessing


def test_a_model_decides_unless_it_does_not_in_most_seeds():
    constant = Deciding(alike=True, accepted=1.0, balanced_accuracy=0.5)
    decides = Deciding(accepted=0.4, balanced_accuracy=0.8)
    assert Deciding.of_seeds([decides, constant, decides]).mark() == ""
    fact = Deciding.of_seeds([decides, constant, constant])
    assert fact.mark() == "all or none in most seeds"
    assert fact.accepted == pytest.approx(0.8)
