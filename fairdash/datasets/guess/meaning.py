"""What the words in names and values of columns say, for guesses a person corrects."""

from collections.abc import Sequence
from typing import Any, Literal

import pandas as pd

from fairdash._validation import value_label
from fairdash.datasets._columns import SCREEN_ROWS, words
from fairdash.datasets._roles import Cut

ETHNICITY = {"race", "ethnicity", "ethnic", "hispanic"}
SEX = {"sex", "gender", "male", "female"}
ETHNICITIES = {
    "white", "black", "asian", "hispanic", "caucasian", "african-american", "latino",
}  # fmt: skip
SEXES = ({"male", "female"}, {"man", "woman"}, {"men", "women"})
MOST_VALUES, MOST_LOOKED_AT = 20, 50

Meaning = Literal["favourable", "unfavourable"] | None
# a word of the name of the outcome: what yes is called, and what it means
OUTCOMES: dict[str, tuple[str, Meaning]] = {
    "recid": ("recidivated", "unfavourable"),
    "recidivism": ("recidivated", "unfavourable"),
    "default": ("defaulted", "unfavourable"),
    "readmitted": ("readmitted", "unfavourable"),
    "fraud": ("fraud", "unfavourable"),
    "churn": ("left", "unfavourable"),
    "dropout": ("dropped out", "unfavourable"),
    "rejected": ("rejected", "unfavourable"),
    "arrest": ("arrested", "unfavourable"),
    "died": ("died", "unfavourable"),
    "crime": ("crime", "unfavourable"),
    "approved": ("approved", "favourable"),
    "accepted": ("accepted", "favourable"),
    "admitted": ("admitted", "favourable"),
    "hired": ("hired", "favourable"),
    "granted": ("granted", "favourable"),
    "bar": ("passed the bar", "favourable"),
    "pass": ("passed", "favourable"),
    "passed": ("passed", "favourable"),
    "survived": ("survived", "favourable"),
    "income": ("high income", "favourable"),
    "salary": ("high salary", "favourable"),
    "credit": ("good credit", "favourable"),
}
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


def concept(column: "pd.Series[Any]") -> set[str] | None:
    """Return `ETHNICITY` or `SEX` if the name or else the values of a column say so."""
    named = words(str(column.name))
    for known in (ETHNICITY, SEX):
        if named & known:
            return known
    if pd.api.types.is_numeric_dtype(column):
        return None
    values = {value_label(v).strip().lower() for v in _first_values(column)}
    if values in SEXES:
        return SEX
    if len(values) <= MOST_VALUES and len(values & ETHNICITIES) >= 2:
        return ETHNICITY
    return None


def _first_values(column: "pd.Series[Any]") -> Sequence[Any]:
    """Return the first different values, as many as a decision needs."""
    for part in (column.head(SCREEN_ROWS), column):
        values = part.dropna().unique()
        if len(values) >= MOST_LOOKED_AT:
            break
    return list(values[:MOST_LOOKED_AT])


def guess_meaning(
    target: str, positive: str | tuple[str, ...] | Cut
) -> tuple[str, Meaning]:
    """Guess the outcome 1 in words and whether it is favourable to the person.

    Parameters
    ----------
    target : str
        Name of the column of the outcome.
    positive : str, tuple of str or Cut
        As in `Roles`.

    Returns
    -------
    name : str
        Such as "recidivated"; "" where neither the name nor the value says.
    meaning : {"favourable", "unfavourable"}, optional
    """
    known = [OUTCOMES[word] for word in OUTCOMES if word in words(target)]
    name, meaning = known[0] if known else ("", None)
    if isinstance(positive, Cut):
        below = positive.sign in ("<", "<=")
        return "", _OPPOSITE[meaning] if below else meaning
    values = (positive,) if isinstance(positive, str) else positive
    plain = {value.strip().lower() for value in values}
    if plain <= YES:
        return name, meaning
    if plain <= NO:
        return f"not {name}" if name else "", _OPPOSITE[meaning]
    said = " or ".join(value.strip() for value in values)
    if plain <= GOOD:
        return said, "favourable"
    if plain <= BAD:
        return said, "unfavourable"
    return said, None
