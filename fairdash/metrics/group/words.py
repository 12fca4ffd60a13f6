"""What measures are called, and gaps between groups as sentences with a sign."""

import math

from fairdash._wording import MINUS

MEASURE_NAMES = {
    "selection_rate": "Selection rate",
    "true_positive_rate": "True positive rate",
    "false_positive_rate": "False positive rate",
    "false_negative_rate": "False negative rate",
    "precision": "Precision",
    "accuracy": "Accuracy",
    "calibration": "Calibration",
    "brier": "Brier score",
    "auc": "AUC",
}
MEASURE_SYMBOLS = {
    "selection_rate": "P(ŷ = 1)",
    "true_positive_rate": "P(ŷ = 1 | y = 1)",
    "false_positive_rate": "P(ŷ = 1 | y = 0)",
    "false_negative_rate": "P(ŷ = 0 | y = 1)",
    "precision": "P(y = 1 | ŷ = 1)",
    "accuracy": "P(ŷ = y)",
    "calibration": "mean score − P(y = 1)",
    "brier": "mean (score − y)²",
    "auc": "P(score | y = 1 above score | y = 0)",
}
_NORMAL = "normal intervals of means"
INTERVAL_KINDS = {
    **dict.fromkeys(MEASURE_NAMES, "Newcombe intervals"),
    "calibration": _NORMAL,
    "brier": _NORMAL,
    "auc": "DeLong intervals on the logit scale",
}
_AMONG = {
    "true_positive_rate": "among rows with {outcome}, ",
    "false_positive_rate": "among rows without {outcome}, ",
    "false_negative_rate": "among rows with {outcome}, ",
    "precision": "among rows {decided}, ",
}
_CLAUSES = {
    "selection_rate": "{group} are {decided} {points} {often} than {other}",
    "true_positive_rate": "{group} are {decided} {points} {often} than {other}",
    "false_positive_rate": "{group} are {decided} {points} {often} than {other}",
    "false_negative_rate": "{group} are not {decided} {points} {often} than {other}",
    "precision": "{outcome} is {points} {frequent} for {group} than for {other}",
    "accuracy": "decisions are right {points} {often} for {group} than for {other}",
    "calibration": "scores are {points} {higher} against outcomes for {group} than "
    "for {other}",
    "brier": "the Brier score is {decimals} {higher} for {group} than for {other}",
    "auc": "the AUC is {decimals} {higher} for {group} than for {other}",
}


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
    )


def gap_ends(measure: str, difference: float, low: float, high: float) -> str:
    """Return the interval of a difference, turned to its sign: "13 to 34".

    In points, and for AUC and Brier score in decimals; "no interval" if undefined.
    """
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    ends = (low, high) if difference > 0 else (-high, -low)
    if measure in ("auc", "brier"):
        return " to ".join(f"{end:.3f}".replace("-", MINUS) for end in ends)
    # a rounded end must not say that an interval reaches 0, or does not, wrongly
    digits = 0 if all(abs(end) >= 0.005 for end in ends) else 1
    shown = (f"{100 * end:.{digits}f}" for end in ends)
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
        name = MEASURE_NAMES[measure].lower().replace("auc", "AUC")
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
