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

from fairdash._arrays import FloatArray
from fairdash._parsing import parsed
from fairdash._record import InvalidError, Record
from fairdash._validation import CROSS
from fairdash.postprocessing import inputs

FORMAT = "fairdash thresholds 2"
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
            upper = min(level + gain, 1.0)  # gains that sum to 1 may round beyond it
            score += [at, at]
            probability += [level, upper]
            level = upper
        return cls(score=tuple(score), probability=tuple(probability))

    def __call__(self, margins: FloatArray) -> FloatArray:
        """Return the probability of a positive decision of every margin."""
        score = np.array(self.score)
        probability = np.array(self.probability)
        index = np.searchsorted(score, margins, side="right")
        left_knot = np.maximum(index - 1, 0)
        right_knot = np.minimum(index, len(score) - 1)
        # The share of the way between two knots; 0 where they are one.
        width = score[right_knot] - score[left_knot]
        share = np.divide(
            margins - score[left_knot],
            width,
            out=np.zeros(len(margins)),
            where=width > 0,
        )
        rise = probability[right_knot] - probability[left_knot]
        value = probability[left_knot] + np.clip(share, 0, 1) * rise
        # Below the first knot both knots are the first, and a jump there has not begun.
        return np.where(index == 0, probability[0], value)


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
    score_type: inputs.ScoreType = "margin"
    expected_rates: dict[str, float] = field(default_factory=dict)
    score_range: tuple[float, float] | None = None

    def predict_proba(
        self, scores: ArrayLike, *, sensitive_features: ArrayLike
    ) -> FloatArray:
        """Return the probability of a positive decision of every row."""
        margins = inputs.as_margins(scores, self.score_type)
        codes = inputs.known_codes(sensitive_features, list(self.rules), margins)
        return self.at(margins, codes)

    def at(self, margins: FloatArray, codes: NDArray[np.int64]) -> FloatArray:
        """Return the same of margins, ``codes`` being places among ``rules``."""
        h = np.empty(len(margins))
        for code, rule in enumerate(self.rules.values()):
            rows = codes == code
            h[rows] = rule(margins[rows])
        return h

    def curves(self) -> pd.DataFrame:
        """Return the rules as lines from score -1 to 1.

        Returns
        -------
        DataFrame of group, score, probability
        """
        parts = []
        for name, rule in self.rules.items():
            ends = rule(np.array([-1.0, 1.0]))
            parts.append(
                pd.DataFrame(
                    {
                        "group": name,
                        "score": [-1.0, *np.clip(rule.score, -1, 1), 1.0],
                        "probability": [ends[0], *rule.probability, ends[1]],
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

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
        groups = {}
        for name, rule in self.rules.items():
            expected_rate = self.expected_rates.get(name)
            groups[name] = {**rule.model_dump(), "expected_rate": expected_rate}
        document: dict[str, Any] = {
            "format": FORMAT,
            "method": self.method,
            "score_type": self.score_type,
            "score_range": self.score_range,
            "groups": groups,
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
            entry = ".".join(map(str, error.problems[0].place))
            message = error.problems[0].message.removesuffix(".")
            raise ValueError(f"Thresholds, {entry}: {message}.") from error
        rules = {}
        expected_rates = {}
        for name, group in checked.groups.items():
            rules[name] = Rule(score=group.score, probability=group.probability)
            if group.expected_rate is not None:
                expected_rates[name] = group.expected_rate
        return cls(
            rules=rules,
            method=checked.method,
            score_type=checked.score_type,
            expected_rates=expected_rates,
            score_range=checked.score_range,
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
                "The thresholds are for margins 2p - 1 from -1 to 1. No score is below "
                "0, so these may be probabilities. Say which they are: "
                "score_type='probability' or 'margin', on the command line "
                "--score-type."
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
    score_type: inputs.ScoreType
    score_range: tuple[float, float] | None = None
    groups: dict[str, _Group]

    def _check(self) -> None:
        if not self.groups:
            raise ValueError("`groups` is empty; give at least one.")


def draw(h: FloatArray, random_state: int | np.random.Generator) -> NDArray[np.int64]:
    """Draw 0/1 decisions with the probabilities ``h``, one number a row."""
    generator = np.random.default_rng(random_state)
    return (generator.random(len(h)) < h).astype(np.int64)


def apply_thresholds(
    thresholds: Thresholds,
    scores: "pd.Series[Any]",
    groups: "Sequence[pd.Series[Any]]",
    *,
    score_type: inputs.ScoreType | None = None,
    random_state: int | np.random.Generator = 0,
) -> pd.DataFrame:
    """Return h and a drawn decision of every row of a table.

    Parameters
    ----------
    groups : sequence of Series
        One column, or those that groups are crossed from, in that order.
    score_type : {"margin", "probability", "decision"}, optional
        What the scores are. Without it they are of the type that the thresholds record,
        and doubtful ones are refused, see :meth:`Thresholds.check_score_type`.

    Raises
    ------
    ValueError
        When scores may be of the other type, a score is no number or out of range, or a
        group is missing or has no thresholds; rows are counted from 1.
    """
    margins = inputs.read_margins(scores, score_type or thresholds.score_type)
    if score_type is None:
        thresholds.check_score_type(float(margins.min(initial=np.inf)))
    columns = CROSS.join(str(column.name) for column in groups)
    names = inputs.cross(*map(inputs.fill_missing, groups))
    codes = inputs.known_codes(
        names, list(thresholds.rules), margins, columns, first_row=1
    )
    h = thresholds.at(margins, codes)
    decided = {"h": h, "decision": draw(h, random_state).astype(np.int8)}
    return pd.DataFrame(decided, index=scores.index)
