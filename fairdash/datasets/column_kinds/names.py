"""The words in the name of a column."""

import re
from functools import lru_cache

READ_LETTERS = 200  # of a name and of a cell that a guess reads
UNNAMED = re.compile(r"unnamed: \d+|")  # how a column without a name is called
# Before a capital letter that follows a small one, and before a digit after a letter.
WORD_STARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)")
ROW_WORDS = {"index", "row", "rownames", "rowname", "rownumber", "rowid"}


@lru_cache(maxsize=10_000)
def words(name: str) -> frozenset[str]:
    """Return the lower-case words of a column name: "dobYear_2" has dob, year, 2.

    Only the first `READ_LETTERS` of a name are read.
    """
    spaced = WORD_STARTS.sub(" ", name[:READ_LETTERS])
    parts = re.split(r"[^a-z0-9]+", spaced.lower())
    return frozenset(parts) - {""}


def is_age(name: str) -> bool:
    """Tell whether a column name says age."""
    return bool(words(name) & {"age", "ages"})


def is_unnamed(name: str) -> bool:
    """Tell whether a file gives a column no name, or only that of its rows."""
    letters = {word for word in words(name) if not word.isdigit()}
    if letters and letters <= ROW_WORDS:
        return True
    return UNNAMED.fullmatch(name.strip().lower()) is not None
