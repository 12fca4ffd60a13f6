"""Tables and data sets in memory: the latest, and no more than fit."""

import pytest

from fairdash.store._tables import Recent


@pytest.fixture
def made():
    return []


@pytest.fixture
def recent(made):
    def make(text):
        made.append(text)
        return text

    return Recent(make, len, most=3, limit=10)


def test_what_was_used_last_is_kept(recent, made):
    for text in ("a", "b", "c", "a", "d", "a", "c", "d"):
        assert recent(text) == text
    assert made == ["a", "b", "c", "d"]
    recent("b")
    assert made == ["a", "b", "c", "d", "b"]


def test_no_more_bytes_than_the_limit_are_kept(recent, made):
    recent("1234567")
    recent("89")
    recent("1234567")
    assert made == ["1234567", "89"]
    recent("abcde")  # 7 and 2 and 5 are too many: the oldest goes, 89, then 1234567
    recent("abcde")
    assert made == ["1234567", "89", "abcde"]
    recent("89")
    assert made == ["1234567", "89", "abcde", "89"]


def test_one_that_is_too_large_is_kept_alone(recent, made):
    recent("a")
    recent("x" * 100)
    recent("x" * 100)
    assert made == ["a", "x" * 100]
    recent("a")
    recent("x" * 100)
    assert made == ["a", "x" * 100, "a", "x" * 100]


def test_cleared_nothing_is_kept(recent, made):
    recent("a")
    recent.clear()
    recent("a")
    assert made == ["a", "a"]


def test_a_key_that_cannot_be_made_is_not_kept():
    def refuse(key):
        raise ValueError("not there")

    recent = Recent(refuse, len, most=1, limit=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="not there"):
            recent("a")
