"""Verdicts that a manager can repeat: short sentences, two wherever two are enough.

Intervals, rows and seeds stand behind "how sure?", in `Answer.details`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from fairdash._change import Change
from fairdash._deciding import Deciding
from fairdash._metric_names import PARITY
from fairdash._wording import in_decimals, in_points, sentences, whole_points
from fairdash.metrics import (
    Finding,
    Speech,
    catalog,
    sentence,
    turned_gaps,
    turned_words,
)
from fairdash.postprocessing import Report

_UNCHANGED = 1e-9  # share of decisions
NO_GAP = "No gap can be told from chance."
_NONE_LEFT = "No clear gap remains over all rows."
_TOO_FEW = "Too few rows to say how the gap changes."
UNDEFINED_GAP = "The gap between groups is undefined on these rows."


class GapSize(NamedTuple):
    """The largest gap between groups, whichever these are in each seed."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, row: Mapping[Any, Any]) -> Self:
        """Return that of a row of figures, which are means over seeds."""
        low = row.get(f"{PARITY}_low", math.nan)
        high = row.get(f"{PARITY}_high")
        return cls(row[PARITY], low, math.nan if high is None else high)

    def scattered(self, gap: Finding) -> str:
        """Say that a clear gap is not one of the same two groups; "" where it may be.

        ``gap`` is that of the two groups furthest apart over all seeds: the largest gap
        of each seed is then larger than its interval reaches.
        """
        if gap.clear or not self.low > 0 or not self.value > _reach(gap):
            return ""
        size = whole_points(self.value)
        return f"The gap is {size}, not between the same groups in every seed."


def gap_brief(gap: Finding, speech: Speech, size: GapSize | None = None) -> str:
    """Return who differs from whom, where and by how much, or that no gap is clear."""
    if not math.isfinite(gap.value):
        return UNDEFINED_GAP
    if gap.sure and gap.clear:
        return place_brief(gap, speech)
    scattered = "" if size is None else size.scattered(gap)
    return scattered or sentences(NO_GAP, possible([gap], size))


def possible(gaps: Sequence[Finding], largest: GapSize | None = None) -> str:
    """Return how large gaps may be by their intervals: what few rows cannot exclude.

    "" where none has an interval. A ``largest`` gap beyond them all counts as well.

    Examples
    --------
    >>> possible([Finding("selection_rate", None, "a", "b", -0.04, -0.18, 0.01)])
    'Gaps up to 18 points are possible.'
    """
    reach = [_reach(gap) for gap in gaps]
    reach = [end for end in reach if math.isfinite(end)]
    if not reach:
        return ""
    if largest is not None and largest.value > max(reach):
        reach.append(max(largest.value, largest.high))
    points = catalog.measure_of(gaps[0].measure).in_points
    size = f"{100 * max(reach):.0f} points" if points else in_decimals(max(reach))
    return f"Gaps up to {size} are possible."


def _reach(gap: Finding) -> float:
    return max(abs(gap.low), abs(gap.high))


def place_brief(gap: Finding, speech: Speech) -> str:
    """Return a difference as one sentence without its interval, the place first."""
    return sentence(gap, speech, with_ends=False)


def moved_brief(moved: Change, label: str, less: str, more: str, what: str) -> str:
    """Say a change of a share, as a change only if its interval excludes 0.

    ``less`` and ``more`` are verbs. Empty where there is no interval.
    """
    if not moved.known:
        return ""
    if not moved.clear:
        return f"{label} does not clearly change {what}."
    verb = less if moved.value < 0 else more
    return f"{label} {verb} {what} by {in_points(abs(moved.value))} points."


def accuracy_brief(label: str, accuracy: Change) -> str:
    """Say what a remedy does to accuracy, by a paired interval."""
    if not accuracy.known:
        return ""
    if not accuracy.clear:
        return f"{label} does not clearly change accuracy."
    return f"{label} {_price(accuracy.value)}."


def priced_brief(label: str, gap: Change, accuracy: Change, what: str) -> str:
    """Say how a remedy moves a gap and, in the same sentence, what that costs.

    Empty where the change of the gap is not estimable: see `accuracy_brief`.
    """
    moved = moved_brief(gap, label, "narrows", "widens", what)
    if not moved:
        return ""
    priced = accuracy.known and accuracy.clear
    cost = _price(accuracy.value)
    if not gap.clear:
        if priced:
            return f"{label} {cost} and does not clearly change {what}."
        if accuracy.known:
            return f"{label} does not clearly change {what} or accuracy."
        return moved
    if priced:
        price = f"and {cost}"
    elif accuracy.known:
        price = "at no clear cost in accuracy"
    else:
        price = "at a cost in accuracy that is not known"
    return f"{moved.removesuffix('.')} {price}."


def _price(difference: float) -> str:
    verb = "costs" if difference < 0 else "gains"
    return f"{verb} {in_points(abs(difference))} points of accuracy"


def remedy_brief(
    label: str,
    changes: Mapping[str, Change],
    gap: Finding,
    speech: Speech,
    *,
    before: Finding | None = None,
    size: GapSize | None = None,
) -> str:
    """Say what a remedy changes beside the plain model, and which gap remains.

    Parameters
    ----------
    changes : mapping of str to Change
        By metric.
    gap : Finding
        The widest gap of the corrected model.
    before : Finding or None
        That of the plain model: a gap that points the other way is said.
    size : GapSize or None
        The largest gap of the corrected model, whichever groups it is between.
    """
    moved = changes[PARITY]
    accuracy = changes["accuracy"]
    first = priced_brief(label, moved, accuracy, "the gap")
    turned = turned_words(
        turned_gaps([] if before is None else [before], [gap]),
        speech.feature,
        favourable=speech.favourable is not False,
    )
    if not first:
        return sentences(
            accuracy_brief(label, accuracy), gap_brief(gap, speech, size), turned
        )
    remainder = ""
    if moved.clear and not gap.clear:
        remainder = (size and size.scattered(gap)) or _NONE_LEFT
    return sentences(first, turned, remainder)


def correction_verdict(
    report: Report,
    label: str = "",
    *,
    feature: str = "",
    favourable: bool = True,
) -> str:
    """Return what a correction changes on rows it was not learned on.

    Changes are paired: both the decisions before and after are of the same rows, and a
    change is said only if its 95 % interval excludes 0. Where nearly all or none are
    accepted, gaps say nothing. A gap that points the other way
    than before is said to be against the group of ``feature`` that is worse off.
    ``label`` is the subject, by default that of the method.
    """
    label = label or report.subject
    _, accepted = report.accepted
    deciding = Deciding.of_share(accepted, report.base_rate)
    if deciding.alike:
        return deciding.brief(label)
    if report.changed["changed"].sum() < _UNCHANGED * report.changed["n"].sum():
        return f"{label} changes no decision."
    accuracy, gap = report.changes()
    first = priced_brief(label, gap, accuracy, "the gap")
    if not first:
        unsaid = UNDEFINED_GAP if math.isnan(gap.value) else _TOO_FEW
        first = sentences(unsaid, accuracy_brief(label, accuracy))
    before, after = report.gaps()
    turned = turned_gaps([before], [after])
    narrows = gap.good(rise=False) is True
    none_left = narrows and not report.outcome.iloc[1]["low"] > 0
    return sentences(
        first,
        turned_words(turned, feature, favourable=favourable),
        _NONE_LEFT if none_left else "",
    )
