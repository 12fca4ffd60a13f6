"""What thresholds by group change: the verdict on a correction of decisions."""

from fairdash._wording import alike_words
from fairdash.audits.brief import accuracy_brief, brief, moved_brief
from fairdash.postprocessing import Report

_ALIKE = 1e-9  # of rates: everybody is decided alike


def correction_verdict(report: Report, label: str = "The ramp") -> str:
    """Return what a correction changes on rows it was not learned on, in 20 words.

    Changes are paired: both the decisions before and after are of the same rows, and a
    change is said only if its 95 % interval excludes 0.
    """
    rates = report.changed["rate"]
    if rates.max() < _ALIKE or rates.min() > 1 - _ALIKE:
        return alike_words(label).split(",")[0] + "."
    accuracy, gap = (
        {"difference": row["change"], "low": row["change_low"]}
        | {"high": row["change_high"]}
        for row in report.outcome.to_dict("records")
    )
    first = moved_brief(gap, label, "narrows", "widens", "the gap")
    left = report.outcome.iloc[1]
    none = ["No clear gap remains."] if gap["high"] < 0 and not left["low"] > 0 else []
    price = accuracy_brief(accuracy)
    if price.startswith("It"):
        none = []  # what it costs comes before what is left
    return brief(first or "The gap is undefined on these rows.", *none, price)
