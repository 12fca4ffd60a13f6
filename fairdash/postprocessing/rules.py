"""Decision rules as data: what a post-processing method has learned, for any language.

A rule says with which probability a score is decided positive. It is a polygon through
a few knots; two knots at the same score are a jump, and the score itself already takes
the upper value.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._record import InvalidError, Record
from fairdash._validation import CROSS, parsed, value_label
from fairdash.postprocessing.inputs import (
    Array,
    ScoreType,
    as_margins,
    cross,
    fill_missing,
    known_codes,
    within,
)

FORMAT = "fairdash thresholds 2"
SAY_TYPE = "Say which they are: score_type={}, on the command line --score-type."
_RANGES = {
    "margin": "margins in [-1, 1]",
    "probability": "probabilities in [0, 1]",
    "decision": "decisions 0 or 1",
}
_READ = ("fairdash thresholds 1", FORMAT)  # the first had neither range nor rates


class Rule(Record):
    """Decision rule of one group.

    Attributes
    ----------
    score : tuple of float
        Knots as margins in rising order; below the first and above the last the
        probability is constant.
    probability : tuple of float
        Probability of a positive decision at each knot, not falling.
    """

    score: tuple[float, ...]
    probability: tuple[float, ...]

    def _check(self) -> None:
        if not self.score:
            raise ValueError("`score` must have at least one knot.")
        if len(self.score) != len(self.probability):
            raise ValueError("`score` and `probability` must be of the same length.")
        if np.any(np.diff(self.score) < 0) or np.any(np.diff(self.probability) < 0):
            raise ValueError("`score` and `probability` must not fall.")
        if self.probability[0] < 0 or self.probability[-1] > 1:
            raise ValueError("`probability` must lie in [0, 1].")

    @classmethod
    def ramp(cls, start: float, width: float) -> "Rule":
        """Return 0 up to ``start``, 1 from ``start + width``, linear between."""
        return cls(score=(start, start + width), probability=(0.0, 1.0))

    @classmethod
    def steps(cls, jumps: list[tuple[float, float]], floor: float = 0.0) -> "Rule":
        """Return a staircase from ``floor`` that gains ``jump[1]`` at ``jump[0]``."""
        score: list[float] = []
        probability: list[float] = []
        level = floor
        for at, gain in sorted(jumps):
            score += [at, at]
            probability += [level, min(level + gain, 1.0)]
            level = probability[-1]
        return cls(score=tuple(score), probability=tuple(probability))

    def __call__(self, margins: Array) -> Array:
        """Return the probability of a positive decision of every margin."""
        score, probability = np.array(self.score), np.array(self.probability)
        place = np.searchsorted(score, margins, side="right")
        left = np.maximum(place - 1, 0)
        right = np.minimum(place, len(score) - 1)
        width = score[right] - score[left]
        share = np.divide(
            margins - score[left], width, out=np.zeros(len(margins)), where=width > 0
        )
        rise = probability[right] - probability[left]
        value = probability[left] + np.clip(share, 0, 1) * rise
        # left of the first knot left is right, and a jump there starts from below
        return np.where(place == 0, probability[0], value)


@dataclass(frozen=True)
class Thresholds:
    """The rules of all groups, with what is needed to apply them elsewhere.

    Attributes
    ----------
    rules : dict of str to Rule
        By group; a group crossed from several columns is "Female × Black".
    score_type : {"margin", "probability", "decision"}
        What scores they are applied to; knots are margins 2p - 1 in any case.
    expected_rates : dict of str to float
        Share of positive decisions by group on the rows they were learned on; empty if
        not known.
    score_range : (float, float), optional
        Smallest and largest score of these rows, in ``score_type``.
    """

    rules: dict[str, Rule]
    method: str
    score_type: ScoreType = "margin"
    expected_rates: dict[str, float] = field(default_factory=dict)
    score_range: tuple[float, float] | None = None

    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike
    ) -> Array:
        """Return the probability of a positive decision of every row."""
        margins = as_margins(scores, self.score_type)
        codes = known_codes(sensitive_features, list(self.rules), margins)
        h = np.empty(len(margins))
        for code, rule in enumerate(self.rules.values()):
            rows = codes == code
            h[rows] = rule(margins[rows])
        return h

    def predict(
        self,
        scores: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        random_state: int | np.random.Generator = 0,
    ) -> NDArray[np.int64]:
        """Draw a decision for every row; see :meth:`PostProcessor.predict`."""
        h = self.predict_proba(scores, sensitive_features=sensitive_features)
        return draw(h, random_state)

    def to_json(self) -> str:
        """Return the rules as JSON; ``docs/post_processing.md`` describes it."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "method": self.method,
            "score_type": self.score_type,
            "score_range": self.score_range,
            "groups": {
                name: {
                    **rule.model_dump(),
                    "expected_rate": self.expected_rates.get(name),
                }
                for name, rule in self.rules.items()
            },
        }
        return json.dumps(document, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read rules that :meth:`to_json` or another program wrote.

        Raises ValueError that says where if the text is not of this format.
        """
        try:
            document = parsed(text, "JSON")
        except ValueError as error:
            message = f"The thresholds cannot be read. {error} Export them again."
            raise ValueError(message) from error
        if not isinstance(document, dict) or document.get("format") not in _READ:
            raise ValueError(f"The thresholds must have the format {FORMAT!r}.")
        try:
            checked = _Document.model_validate(document)
        except InvalidError as error:
            where = ".".join(map(str, error.problems[0].place))
            message = error.problems[0].message.removesuffix(".")
            raise ValueError(f"Thresholds, {where}: {message}.") from error
        return cls(
            {
                name: Rule(score=group.score, probability=group.probability)
                for name, group in checked.groups.items()
            },
            checked.method,
            checked.score_type,
            {
                name: group.expected_rate
                for name, group in checked.groups.items()
                if group.expected_rate is not None
            },
            checked.score_range,
        )

    def check_score_type(self, lowest: float) -> None:
        """Refuse scores that may be probabilities where margins are asked for.

        Margins of a table nearly always include some below 0, probabilities never do;
        probabilities taken for margins would be decided positive nearly all.

        Raises
        ------
        ValueError
            If thresholds are for margins, were learned on some below 0 (or do not
            say), and no score is below 0.
        """
        learned_below_0 = self.score_range is None or self.score_range[0] < 0
        if self.score_type == "margin" and lowest >= 0 and learned_below_0:
            raise ValueError(
                "The thresholds are for margins 2p - 1 from -1 to 1, and no score is "
                "below 0, so these may be probabilities. "
                + SAY_TYPE.format("'probability' or 'margin'")
            )


class _Group(Rule):
    expected_rate: float | None = None

    def _check(self) -> None:
        super()._check()
        if self.expected_rate is not None and not 0 <= self.expected_rate <= 1:
            raise ValueError("`expected_rate` must lie in [0, 1].")


class _Document(Record):
    format: str
    method: str
    score_type: ScoreType
    score_range: tuple[float, float] | None = None
    groups: dict[str, _Group]

    def _check(self) -> None:
        if not self.groups:
            raise ValueError("`groups` is empty; give at least one.")


def draw(h: Array, random_state: int | np.random.Generator) -> NDArray[np.int64]:
    """Draw 0/1 decisions with the probabilities ``h``, one number a row."""
    generator = np.random.default_rng(random_state)
    return (generator.random(len(h)) < h).astype(np.int64)


def apply_thresholds(
    thresholds: Thresholds,
    scores: "pd.Series[Any]",
    groups: "Sequence[pd.Series[Any]]",
    *,
    score_type: ScoreType | None = None,
    random_state: int | np.random.Generator = 0,
    first_row: int = 1,
) -> pd.DataFrame:
    """Return h and a drawn decision of every row of a table.

    Parameters
    ----------
    groups : sequence of Series
        One column, or those that groups are crossed from, in that order.
    score_type : {"margin", "probability", "decision"}, optional
        What the scores are; they are turned into what the thresholds ask for. Without
        it they are of that type, and doubtful ones are refused, see
        :meth:`Thresholds.check_score_type`.
    random_state : int or Generator, default=0
        One generator for consecutive parts gives the decisions of the whole table.

    Raises
    ------
    ValueError
        When scores may be of the other type, a score is no number or out of range, a
        group is missing or has no thresholds, or a value of crossed groups holds
        " × "; the message names column, row and way out.
    """
    given = score_type or thresholds.score_type
    values = _numbers(scores, first_row)
    outside = ~within(values, given)
    if outside.any():
        where, cell = _first(scores, outside, first_row)
        raise ValueError(
            f"Column {scores.name!r} must hold {_RANGES[given]}; "
            f"{int(outside.sum())} rows do not, first row {where} with {cell}. "
            + _way_out(given, values[outside])
        )
    if score_type is None:
        thresholds.check_score_type(float(values.min(initial=np.inf)))
    for column in groups if len(groups) > 1 else ():
        _check_crossable(column, first_row)
    names = cross(*map(fill_missing, groups))
    known = pd.Series(names).isin(list(thresholds.rules)).to_numpy()
    if not known.all():
        columns = " × ".join(str(column.name) for column in groups)
        place = int(np.argmin(known))
        absent = any(pd.isna(column.iloc[place]) for column in groups)
        cell = "no value" if absent else repr(names[place])
        raise ValueError(
            f"Column {columns!r} has {cell} in row {first_row + place} "
            f"({int((~known).sum())} such rows), for which there are no thresholds; "
            f"known are {list(thresholds.rules)[:10]}. Exclude these rows, or learn "
            "thresholds with them."
        )
    if given != thresholds.score_type:
        if "decision" in (given, thresholds.score_type):
            raise ValueError(
                f"The thresholds are for {_RANGES[thresholds.score_type]}, and column "
                f"{scores.name!r} is said to hold {_RANGES[given]}. Apply them to such "
                "scores, or learn thresholds on these."
            )
        values = 2 * values - 1 if given == "probability" else (values + 1) / 2
    h = thresholds.predict_proba(values, sensitive_features=names)
    decided = {"h": h, "decision": draw(h, random_state).astype(np.int8)}
    return pd.DataFrame(decided, index=scores.index)


def _way_out(given: ScoreType, outside: NDArray[np.float64]) -> str:
    """Say what may be wrong with scores out of range."""
    if given == "probability" and bool(np.all(np.abs(outside) <= 1)):
        return "If all are margins 2p - 1: " + SAY_TYPE.format("'margin'")
    return "Rescale the column or exclude these rows."


def _check_crossable(column: "pd.Series[Any]", first_row: int) -> None:
    """Refuse a value such as "a × b", which crossed with "c" reads like three."""
    inside = column.astype(str).str.contains(CROSS, regex=False).to_numpy()
    if inside.any():
        where, cell = _first(column, inside, first_row)
        raise ValueError(
            f"Column {column.name!r} has {cell!r} in row {where}; a value of crossed "
            f"groups must not hold {CROSS!r}, which joins them. Rename it, or give one "
            "column of crossed names."
        )


def _numbers(scores: "pd.Series[Any]", first_row: int) -> NDArray[np.float64]:
    numbers = pd.to_numeric(scores, errors="coerce")
    text = (numbers.isna() & scores.notna()).to_numpy()
    if text.any():
        where, cell = _first(scores, text, first_row)
        raise ValueError(
            f"Column {scores.name!r} must hold numbers; row {where} has {cell}. Choose "
            "the column of scores or exclude these rows."
        )
    return numbers.to_numpy(dtype=np.float64, na_value=np.nan)


def _first(
    column: "pd.Series[Any]", wrong: NDArray[np.bool_], first_row: int
) -> tuple[int, str]:
    place = int(np.argmax(wrong))
    cell = column.iloc[place]
    return first_row + place, "no value" if pd.isna(cell) else value_label(cell)
