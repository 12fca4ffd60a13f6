"""Measures and gaps in words: names, symbols, questions, and who is apart by what."""

import math

import numpy as np

from fairdash._wording import MINUS
from fairdash.metrics.group.estimates import COST, Array, error_costs


class _Words(dict[str, str]):
    """Words by measure; an error cost with weights has those of one without, and more.

    ``more`` is filled with the weights.
    """

    def __init__(self, words: dict[str, str], more: str = "") -> None:
        super().__init__(words)
        self.more = more

    def __missing__(self, measure: str) -> str:
        if error_costs(measure) is None:
            raise KeyError(measure)
        ratio = measure.partition(" ")[2].replace(":", " : ")
        return self[COST] + self.more.format(ratio=ratio)


MEASURE_NAMES = _Words(
    {
        "selection_rate": "Selection rate",
        "true_positive_rate": "True positive rate",
        "false_positive_rate": "False positive rate",
        "false_negative_rate": "False negative rate",
        "precision": "Precision",
        "accuracy": "Accuracy",
        "calibration": "Calibration",
        "brier": "Brier score",
        "auc": "AUC",
        COST: "Error cost",
    },
    " {ratio}",
)
MEASURE_SYMBOLS = _Words(
    {
        "selection_rate": "P(ŷ = 1)",
        "true_positive_rate": "P(ŷ = 1 | y = 1)",
        "false_positive_rate": "P(ŷ = 1 | y = 0)",
        "false_negative_rate": "P(ŷ = 0 | y = 1)",
        "precision": "P(y = 1 | ŷ = 1)",
        "accuracy": "P(ŷ = y)",
        "calibration": "mean score − P(y = 1)",
        "brier": "mean (score − y)²",
        "auc": "P(score | y = 1 above score | y = 0)",
        COST: "mean cost of wrong decisions",
    },
    ", {ratio}",
)
# the first that is a yes names the measure: question, measure, source
MEASURE_QUESTIONS = (
    (
        "Is the recorded outcome itself doubtful, such as arrests for crimes?",
        "selection_rate",
        "Barocas, Hardt and Narayanan, Fairness and Machine Learning, chapter 3",
    ),
    (
        "Do people read the score itself, rather than a decision?",
        "calibration",
        "Kleinberg, Mullainathan and Raghavan (2017)",
    ),
    (
        "Does a wrong 1 hurt the person, such as a detention or an accusation?",
        "false_positive_rate",
        "Angwin et al. (2016); Chouldechova (2017)",
    ),
    (
        "Does a wrong 0 hurt the person, such as a loan or a treatment denied?",
        "false_negative_rate",
        "Hardt, Price and Srebro (2016)",
    ),
    (
        "Are those decided 1 searched or checked, so that hits are what counts?",
        "precision",
        "Simoiu, Corbett-Davies and Goel (2017)",
    ),
)
_NORMAL = "normal intervals of means"
INTERVAL_KINDS = _Words(
    {
        **dict.fromkeys(MEASURE_NAMES, "Newcombe intervals"),
        "calibration": _NORMAL,
        "brier": _NORMAL,
        "auc": "DeLong intervals on the logit scale",
        COST: _NORMAL,
    }
)
_AMONG = {
    "true_positive_rate": "among rows with {outcome}, ",
    "false_positive_rate": "among rows without {outcome}, ",
    "false_negative_rate": "among rows with {outcome}, ",
    "precision": "among rows {decided}, ",
}
_CLAUSES = _Words(
    {
        "selection_rate": "{group} are {decided} {points} {often} than {other}",
        "true_positive_rate": "{group} are {decided} {points} {often} than {other}",
        "false_positive_rate": "{group} are {decided} {points} {often} than {other}",
        "false_negative_rate": "{group} are wrongly not {decided} {points} {often} "
        "than {other}",
        "precision": "{outcome} is {points} {frequent} for {group} than for {other}",
        "accuracy": "decisions are right {points} {often} for {group} than for {other}",
        "calibration": "scores are {points} {higher} against outcomes for {group} "
        "than for {other}",
        "brier": "the Brier score is {decimals} {higher} for {group} than for {other}",
        "auc": "the AUC is {decimals} {higher} for {group} than for {other}",
        COST: "wrong decisions cost {decimals} a row {more} for {group} than for "
        "{other}",
    }
)


def better_when(measure: str, *, favourable: bool = True) -> str:
    """Return for whom a measure is good news: where it is "high" or "low".

    With a favourable positive decision a group is better off with more of it, deserved
    or not: high selection, true positive and false positive rate and scores that are
    too high, low false negative rate; with an unfavourable one the other way round.
    High precision, accuracy and AUC, and a low Brier score and error cost are better in
    either case.
    """
    if measure in ("precision", "accuracy", "auc"):
        return "high"
    if measure == "brier" or error_costs(measure):
        return "low"
    return "high" if favourable != (measure == "false_negative_rate") else "low"


def best_off(measure: str, value: Array, *, favourable: bool = True) -> int:
    """Return the place of the group that is best off, the first if none is known."""
    if np.isnan(value).all():
        return 0
    high = better_when(measure, favourable=favourable) == "high"
    return int(np.nanargmax(value) if high else np.nanargmin(value))


def gap_words(
    measure: str,
    group: str,
    other: str,
    difference: float,
    *,
    decided: str = "predicted positive",
    outcome: str = "outcome 1",
) -> str:
    """Return who is apart from whom and by how much, as a clause.

    Parameters
    ----------
    difference : float
        Value of ``group`` minus that of ``other``.
    decided : str
        What a positive decision is, such as "approved".

    Examples
    --------
    >>> gap_words("selection_rate", "Women", "men", -0.24, decided="approved")
    'Women are approved 24 points less often than men'
    """
    more = difference > 0
    text = _AMONG.get(measure, "") + _CLAUSES[measure]
    return text.format(
        group=group,
        other=other,
        decided=decided,
        outcome=outcome,
        points=whole_points(difference),
        decimals=f"{abs(difference):.3f}",
        often="more often" if more else "less often",
        frequent="more frequent" if more else "less frequent",
        higher="higher" if more else "lower",
        more="more" if more else "less",
    )


def in_points(measure: str) -> bool:
    """Tell whether gaps of a measure are in percentage points, not in decimals."""
    return measure not in ("auc", "brier") and error_costs(measure) is None


def gap_ends(measure: str, difference: float, low: float, high: float) -> str:
    """Return the interval of a difference, turned to its sign: "13 to 34".

    In points, and for AUC, Brier score and error cost in decimals; "no interval"
    if undefined.
    """
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    ends = (low, high) if difference > 0 else (-high, -low)
    scale, usual = (100, 0) if in_points(measure) else (1, 3)
    # a rounded end must not say that an interval reaches 0, or does not, wrongly
    near = min((abs(scale * end) for end in ends if end), default=1.0)
    more = (n for n in range(usual, usual + 3) if near >= 0.5 / 10**n)
    digits = next(more, usual)
    shown = (f"{scale * end:z.{digits}f}" for end in ends)
    return " to ".join(end.replace("-", MINUS) for end in shown)


def gap_sentence(
    measure: str,
    group: str,
    other: str,
    difference: float,
    low: float,
    high: float,
    *,
    decided: str = "predicted positive",
    outcome: str = "outcome 1",
) -> str:
    """Return `gap_words` with its interval as a sentence; says what is undefined."""
    if math.isnan(difference):
        name = MEASURE_NAMES[measure].lower()
        name = name.replace("auc", "AUC").replace("brier", "Brier")
        return f"The {name} of {group} or {other} is undefined."
    clause = gap_words(
        measure, group, other, difference, decided=decided, outcome=outcome
    )
    ends = gap_ends(measure, difference, low, high)
    if not clause.startswith(f"{group} "):  # a name stays as it is
        clause = f"{clause[0].upper()}{clause[1:]}"
    return f"{clause} ({ends})."


def whole_points(difference: float) -> str:
    """Return the size of a difference of shares: 24 points, 1 point, 0 points."""
    n = round(100 * abs(difference))
    return f"{n} point" if n == 1 else f"{n} points"


def in_text(name: str) -> str:
    """Return a measure's name inside a sentence: "false positive rate", "AUC"."""
    proper = name.isupper() or name.startswith("Brier")
    return name if proper else name[0].lower() + name[1:]
