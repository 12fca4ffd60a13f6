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
