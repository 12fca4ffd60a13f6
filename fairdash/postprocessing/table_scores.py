"""A column of scores of a table with its outcome, and its rows split in two."""

import re
from collections.abc import Collection, Iterable, Sequence

import pandas as pd

from fairdash.postprocessing.inputs import ScoreType
from fairdash.postprocessing.rows import SplitScores, TableScores

_SIGNS = {-1.0, 1.0}


def outcome_of_scores(score: str, columns: Iterable[str]) -> str | None:
    """Return the column that a column of scores predicts, by its name.

    That is the longest name which, between other letters, stands in the name of the
    scores: "Smiling" for "p_Smiling" or "Smiling score".
    """
    found = [
        name
        for name in columns
        if name != score
        and re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", score, re.IGNORECASE)
    ]
    return max(found, key=len, default=None)


def scores_with_outcomes(
    frame: pd.DataFrame,
    groups: Collection[str],
    outcome: str | None = None,
    scores: Sequence[str] = (),
) -> dict[str, str | None]:
    """Return columns of scores, by default all, each with its outcome.

    Scores are numbers from -1 to 1, none missing; columns of two values are outcomes
    where others have more, else decisions. A column whose outcome the names do not
    tell, see `outcome_of_scores`, has ``outcome``.
    """
    values = {
        str(name): frame[name].nunique()
        for name in frame.select_dtypes("number")
        if name not in groups and name != outcome and frame[name].between(-1, 1).all()
    }
    found = list(scores) or [name for name, n in values.items() if n > 2] or [*values]
    names = [str(name) for name in frame if name not in found and name not in groups]
    pairs = {name: outcome_of_scores(name, names) or outcome for name in found}
    return {name: own for name, own in pairs.items() if name not in pairs.values()}


def split_scores(
    frame: pd.DataFrame,
    score: str,
    groups: Sequence[str],
    outcome: str | None = None,
    positive: str | None = None,
    score_type: ScoreType | None = None,
) -> SplitScores:
    """Return the rows of a column of scores to learn on, and every fifth to report on.

    Without ``positive`` the last value of ``outcome`` counts as 1, without
    ``score_type`` the values tell it; -1 and 1 are decisions.

    Raises
    ------
    ValueError
        As `TableScores.read` and `SplitScores.of`, and when the outcome does not hold
        two values.
    """
    if set(pd.unique(frame[score].dropna())) == _SIGNS:
        frame = frame.assign(**{score: (frame[score] + 1) / 2})
    good = ""
    if outcome is not None:
        column = frame[outcome]
        labels = sorted(map(str, column.dropna().unique()))
        if len(labels) != 2:
            raise ValueError(
                f"{outcome!r} must hold two values to be an outcome; it holds "
                f"{labels[:5]}."
            )
        good = str(column.max()) if positive is None else positive
        if good not in labels:
            raise ValueError(f"{outcome!r} has no value {good!r}; it holds {labels}.")
    read = TableScores.read(frame, score, groups, outcome or "", good, score_type)
    return SplitScores.of(
        read.margins, read.labels, y=read.y, score_type=read.score_type
    )
