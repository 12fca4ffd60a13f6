"""The meaning of words in names and values of columns, in several languages."""

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._values import Cut
from fairdash.datasets.column_kinds import READ_LETTERS, is_number, words

LISTS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def _by_strength(table: dict[str, str]) -> dict[float, str]:
    """Return stems by their weight, which TOML can only write as text."""
    return {float(weight): stems for weight, stems in table.items()}


OUTCOME_WORDS = _by_strength(LISTS["outcome"])
# These speak against an outcome: where, when and how a case was recorded ...
CONTEXT_WORDS = LISTS["context"]
# ... and traits of the person or the thing.
DESCRIPTION_WORDS = LISTS["description"]
# By attribute: the words that name it, by how strongly they do.
SENSITIVE_WORDS = {
    attribute: _by_strength(table) for attribute, table in LISTS["sensitive"].items()
}
SEXES = (
    {"male", "female"}, {"man", "woman"}, {"men", "women"},
    {"maennlich", "weiblich"}, {"homme", "femme"}, {"hombre", "mujer"},
    {"boy", "girl"}, {"boys", "girls"},
)  # fmt: skip
ETHNICITIES = {
    "white", "black", "asian", "hispanic", "caucasian", "african-american", "latino",
    "cauc", "afam", "non-white", "nonwhite", "native american", "not black",
    "african american", "indigenous", "aboriginal",
}  # fmt: skip
BY_VALUE = {"ethnicity": 9.9, "sex": 9.6}
MOST_VALUES = 20  # of a column that two of them may make an ethnicity
MOST_LOOKED_AT = 50
CLEAR = 9.5  # how strongly a column must say which attribute it holds

Meaning = Literal["favourable", "unfavourable"] | None
# a word of the name of the outcome: what yes is called, and what it means
OUTCOMES: dict[str, tuple[str, Meaning]] = {
    word: (name, meaning)
    for meaning in ("unfavourable", "favourable")
    for word, name in LISTS[meaning].items()
}
PER_UNIT = re.compile(r"(?i)[ _.-]+per[ _.-]+(week|year|month|day|hour|capita)\b")
PREFIX = re.compile(r"(?i)^[a-z]{1,2}\d{1,4}_?(?=[a-z]{3})")
YES = {"1", "yes", "y", "true", "p"}
NO = {"0", "no", "n", "false", "f"}
GOOD = {"approved", "accepted", "admitted", "hired", "granted", "good", "pass"}
GOOD |= {"passed", ">50k", ">50k.", "positive"}
BAD = {"bad", "rejected", "denied", "refused", "failed", "fail", "<=50k", "<=50k."}
_OPPOSITE: dict[Meaning, Meaning] = {
    "favourable": "unfavourable",
    "unfavourable": "favourable",
    None: None,
}


@lru_cache(maxsize=10_000)
def name_words(name: str) -> list[str]:
    """Return the words of a column name and, last, the name as one word.

    Lower case, without accents and without a unit ("per week"); single letters and
    digits are no words of their own unless they are the name. A second time, as the
    whole, it follows =.
    """
    decomposed = unicodedata.normalize("NFKD", name[:READ_LETTERS])
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    plain = PER_UNIT.sub("", plain)
    whole = re.sub(r"[^a-z0-9]", "", plain.lower())
    parts = [word for word in words(plain) if len(word) > 1 and not word.isdigit()]
    return [*sorted(parts), whole, f"={whole}"]


def listed(name: str) -> set[str]:
    """Return the words of a list of ``words.toml``."""
    return set(LISTS[name].split())


def truths(names: Iterable[str]) -> list[str]:
    """Return the names that say truth, such as "y_true"."""
    truth = listed("truth")
    return [name for name in names if truth & words(name)]


def is_score(name: str, beside: Iterable[str] = ()) -> bool:
    """Tell whether a column name says that it is another model's output.

    "prob" alone does; a word such as "score" alone where a column ``beside`` it is
    named as the truth, such as "label_value" or "y_true".
    """
    named = words(name)
    if any(set(score.split()) <= named for score in LISTS["score"]):
        return True
    # "model" says nothing alone: a car has a model too
    bare = {word for word in named if not word.isdigit()} - {"model", "binary"}
    certain = listed("probability")
    possible = listed("output")
    if not bare or not bare <= certain | possible:
        return False
    return bare <= certain or bool(truths(beside))


def strength(name: str, table: dict[float, str]) -> float:
    """Return the largest weight whose stems a word of the name matches; 0 if none."""
    candidates = name_words(name)
    for weight in sorted(table, reverse=True):
        if any(map(_pattern(table[weight]).fullmatch, candidates)):
            return weight
    return 0.0


def outcome_strength(name: str) -> float:
    """Return how strongly a name says outcome; an outcome's code or number does not."""
    last_word = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)[-1:]
    if any(word.lower() in listed("code") for word in last_word):
        return 0.0
    return strength(name, OUTCOME_WORDS)


def says(name: str, stems: str) -> bool:
    """Tell whether a word of a name is among those listed."""
    return strength(name, {1.0: stems}) > 0


@cache
def _pattern(stems: str) -> re.Pattern[str]:
    """Return a pattern of any of some words; a star stands for any letters."""
    words_or_stems = stems.split()
    parts = [re.escape(stem).replace(r"\*", "[a-z0-9]*") for stem in words_or_stems]
    return re.compile("|".join(parts))


def concept(column: "pd.Series[Any]") -> str | None:
    """Return "ethnicity" or "sex" if the name or else the values of a column say so."""
    attribute, strongly = sensitive_strength(column)
    clear = attribute in ("ethnicity", "sex") and strongly >= CLEAR
    return attribute if clear else None


def sensitive_strength(column: "pd.Series[Any]") -> tuple[str | None, float]:
    """Return which sensitive attribute a column holds, and how strongly it says so."""
    name = str(column.name)
    attribute, weight = _named_attribute(name)
    by_value = None if is_number(column) else _attribute_of_values(column)
    if by_value is not None and weight < BY_VALUE[by_value]:
        attribute = by_value
        weight = BY_VALUE[by_value]
    elif by_value == attribute == "ethnicity":
        weight += 1  # words are read more easily than codes
    if weight and says(name, LISTS["not_of_the_person"]):
        weight -= 3
    return attribute, weight


def _named_attribute(name: str) -> tuple[str | None, float]:
    """Return the attribute that a name says most strongly, and how strongly."""
    strongest: str | None = None
    most = 0.0
    without_prefix = PREFIX.sub("", name)  # e16sex of a questionnaire is sex
    for attribute, table in SENSITIVE_WORDS.items():
        weight = max(strength(name, table), strength(without_prefix, table))
        if weight > most:
            strongest = attribute
            most = weight
    return strongest, most


def _attribute_of_values(column: "pd.Series[Any]") -> str | None:
    """Return "sex" or "ethnicity" if the values of a column are words for it."""
    distinct = column.dropna().unique()[:MOST_LOOKED_AT]
    values = {value_label(value).strip().lower() for value in distinct}
    if values in SEXES:
        return "sex"
    if len(values) <= MOST_VALUES and len(values & ETHNICITIES) >= 2:
        return "ethnicity"
    return None


def guess_meaning(
    target: str, positive: str | tuple[str, ...] | Cut
) -> tuple[str, Meaning]:
    """Guess the outcome 1 in words and whether it is favourable to the person.

    The words are such as "recidivated", "" where neither the name nor the value says.
    """
    name, meaning = _meaning_of_name(target)
    if isinstance(positive, Cut):
        if positive.sign in ("<", "<="):
            meaning = _OPPOSITE[meaning]
        return "", meaning
    values = (positive,) if isinstance(positive, str) else positive
    plain = {value.strip().lower() for value in values}
    if plain <= YES:
        return name, meaning
    if plain <= NO:
        negated = f"not {name}" if name else ""
        return negated, _OPPOSITE[meaning]
    words_of_values = " or ".join(value.strip() for value in values)
    if plain <= GOOD:
        return words_of_values, "favourable"
    if plain <= BAD:
        return words_of_values, "unfavourable"
    return words_of_values, None


def _meaning_of_name(target: str) -> tuple[str, Meaning]:
    """Return what the first listed word in a name calls yes, and what yes means."""
    for word, outcome in OUTCOMES.items():
        if says(target, word):
            return outcome
    return "", None
