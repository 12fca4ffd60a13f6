"""Measures in words: names, symbols, questions, and for whom they are good news."""

import numpy as np

from fairdash.metrics.group.measured import COST, Array, error_costs


class MeasureWords(dict[str, str]):
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


MEASURE_NAMES = MeasureWords(
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
MEASURE_SYMBOLS = MeasureWords(
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
_NORMAL = "normal intervals of means"
INTERVAL_KINDS = MeasureWords(
    {
        **dict.fromkeys(MEASURE_NAMES, "Newcombe intervals"),
        "calibration": _NORMAL,
        "brier": _NORMAL,
        "auc": "DeLong intervals on the logit scale",
        COST: _NORMAL,
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
