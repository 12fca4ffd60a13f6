"""Many columns of scores corrected at once, each by every method."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fairdash._wording import change, listing, number, plural, points
from fairdash.postprocessing.choice import choose_ramp
from fairdash.postprocessing.comparison import BEFORE, RAMP, FittedBaselines
from fairdash.postprocessing.inputs import ScoreType
from fairdash.postprocessing.ramp import RampThreshold
from fairdash.postprocessing.rows import ScoredRows, SplitScores, TableScores

MOST_SCORES = 40
_MEASURED = ["accuracy", "demographic_parity_difference"]
_WIDTH = 0.1
_SIGNS = {-1.0, 1.0}


@dataclass(frozen=True, eq=False)
class ManyScores:
    """What every method does to every column of scores, on held-out rows.

    Attributes
    ----------
    table : DataFrame
        By column and method: score, outcome, method, n of held-out rows, gamma and
        target_rate of the ramp, and accuracy and demographic_parity_difference, each
        also with ``_low`` and ``_high``.
    refused : dict of str to str
        Columns that could not be corrected, and why.
    """

    table: pd.DataFrame
    refused: dict[str, str]

    def summary(self) -> pd.DataFrame:
        """Return means over columns: method, scores, and per measure mean and ``_sd``.

        ``largest_di`` is that of the worst column. A method that fails on some column
        counts those it can do.
        """
        groups = self.table.groupby("method", sort=False)
        found = groups.agg(
            scores=("score", "size"),
            **{name: (name, "mean") for name in _MEASURED},
            **{f"{name}_sd": (name, "std") for name in _MEASURED},
            largest_di=(_MEASURED[1], "max"),
        ).reset_index()
        order = ["method", "scores"]
        order += [f"{name}{end}" for name in _MEASURED for end in ("", "_sd")]
        return found[[*order, "largest_di"]]

    def verdict(self) -> str:
        """Say what the ramp does to all columns, and which are not corrected."""
        before, ramp = (
            self.table[self.table["method"] == method].set_index("score")[_MEASURED]
            for method in (BEFORE, RAMP)
        )
        price, moved = (ramp - before).mean()
        narrower = int((ramp < before)[_MEASURED[1]].sum())
        said = (
            f"On held-out rows the ramp narrows the gap of {narrower} of "
            f"{plural(len(ramp), 'column')} of scores; DI changes by {change(moved)} "
            f"on average, from {number(before[_MEASURED[1]].mean())} to "
            f"{number(ramp[_MEASURED[1]].mean())}"
        )
        said += f", accuracy by {points(price)}." if np.isfinite(price) else "."
        if self.refused:
            said += f" Not corrected: {listing(self.refused)}."
        return said


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


def compare_scores(
    frame: pd.DataFrame,
    scores: Mapping[str, str | None],
    groups: Sequence[str],
    *,
    positive: Mapping[str, str] | None = None,
    gamma: float | None = _WIDTH,
    tolerance: float = 0.0,
) -> ManyScores:
    """Correct many columns of scores, each on its own, and compare all methods.

    Every fifth row of each group is held out; thresholds are learned on the others.

    Parameters
    ----------
    frame : DataFrame
    scores : mapping of str to str
        At most 40 columns, each with the column of its outcome or None; see
        `scores_with_outcomes`. Without one accuracy is NaN and the ramp aims for the
        balanced rate. Columns of 0 and 1, or of -1 and 1, are decisions.
    groups : sequence of str
        Columns that groups are crossed from.
    positive : mapping of str to str, optional
        By outcome the value that counts as 1; by default the last in order.
    gamma : float, optional
        Width of the ramp; None chooses width and target rate of each by `choose_ramp`.

    Raises
    ------
    ValueError
        For more than 40 columns, none that can be corrected, or a column that is not
        in the table.
    """
    if not 0 < len(scores) <= MOST_SCORES:
        raise ValueError(
            f"These are {len(scores)} columns of scores, numbers from -1 to 1; from 1 "
            f"to {MOST_SCORES} can be corrected at once."
        )
    named = [*scores, *groups, *(o for o in scores.values() if o is not None)]
    absent = [name for name in named if name not in frame]
    if absent:
        known = list(map(str, frame.columns))[:20]
        raise ValueError(f"The table has no column {absent[0]!r}; it has {known}.")
    parts, refused = [], {}
    for score, outcome in scores.items():
        try:
            good = (positive or {}).get(outcome or "")
            split = split_scores(frame, score, groups, outcome, good)
            found = _compared(split, gamma, tolerance)
        except ValueError as error:
            refused[score] = str(error)
            continue
        parts.append(found.assign(score=score, outcome=outcome))
    if not parts:
        first, why = next(iter(refused.items()))
        raise ValueError(f"None of the columns can be corrected. {first}: {why}")
    table = pd.concat(parts, ignore_index=True)
    first_columns = ["score", "outcome", "method", "n", "gamma", "target_rate"]
    ends = ("", "_low", "_high")
    measured = [f"{name}{end}" for name in _MEASURED for end in ends]
    return ManyScores(table[first_columns + measured], refused)


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


def _compared(
    split: SplitScores, gamma: float | None, tolerance: float
) -> pd.DataFrame:
    """Return a row for no correction, the ramp and every other method."""
    learned, fresh = split.calibration, split.test
    ramp = _ramp(learned, gamma, tolerance)
    others = (
        FittedBaselines.fit(learned).table(fresh).rename(columns={"label": "method"})
    )
    outcome = ramp.report(fresh).outcome
    own = {"method": RAMP, "gamma": ramp.gamma, "target_rate": ramp.target_rate_}
    for cell in outcome.to_dict("records"):
        for end, name in (("", "value"), ("_low", "low"), ("_high", "high")):
            own[f"{cell['metric']}{end}"] = cell[name]
    table = pd.concat(
        [others.iloc[:1], pd.DataFrame([own]), others.iloc[1:]], ignore_index=True
    )
    return table.assign(n=len(fresh.margins))


def _ramp(rows: ScoredRows, gamma: float | None, tolerance: float) -> RampThreshold:
    if gamma is None and rows.y is not None:
        return choose_ramp(rows, tolerance=tolerance).ramp(rows)
    target = "balanced" if rows.y is None else "accuracy"
    width = _WIDTH if gamma is None else gamma
    return RampThreshold(width, target, tolerance, score_type=rows.score_type).fit_rows(
        rows
    )
