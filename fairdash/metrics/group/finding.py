"""Findings: who differs from whom, where, by which measure and how much, in one form.

One `sentence` writes them all, so a finding reads alike on a page, in a report, in a
shell and in a notebook.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fairdash._change import excludes_zero
from fairdash._wording import MINUS, group_label, in_decimals, whole_points
from fairdash.metrics.group.catalog import measure_in_text, measure_of
from fairdash.metrics.group.cell_values import TOO_FEW


@dataclass(frozen=True)
class Finding:
    """A difference between two groups, with its interval.

    Attributes
    ----------
    subgroup : str or None
        Where; None for all rows.
    group, reference : str
        Who, and than whom: values of the sensitive feature.
    value, low, high : float
        The measure of ``group`` minus that of ``reference``, and its interval.
    n : int
        Rows that the difference is about.
    sure : bool
        Whether it is said as a difference; else ``reason`` says why not.
    """

    measure: str
    subgroup: str | None
    group: str
    reference: str
    value: float
    low: float
    high: float
    n: int = 0
    sure: bool = True
    reason: str = ""

    @property
    def clear(self) -> bool:
        """Whether the interval excludes 0."""
        return bool(excludes_zero(self.low, self.high))

    def turned(self) -> "Finding":
        """Return the same difference, said of the other group."""
        return replace(
            self,
            group=self.reference,
            reference=self.group,
            value=-self.value,
            low=-self.high,
            high=-self.low,
        )


def choose_finding(
    findings: Iterable[Finding], widest: Finding | None, *, beyond_chance: bool
) -> Finding | None:
    """Return the gap inside subgroups to name: the widest beyond chance, else a sure.

    The widest gap may be within the reach of chance, as that of a small subgroup often
    is, and the gap of a larger one still be sure. There are two ways to be sure, and
    each has half of the error.

    Parameters
    ----------
    findings : iterable of Finding
        One of each subgroup, ``sure`` where its interval at half the error excludes 0.
    widest : Finding or None
        That of the subgroup with the widest gap.
    beyond_chance : bool
        Whether this gap exceeds the largest one that chance alone shows.

    Returns
    -------
    Finding or None
        The widest where it is beyond chance and clear, and its groups have enough rows.
        Else, of those that are sure, the one whose interval is farthest from 0; None
        where none is.
    """
    if widest is not None and beyond_chance and _is_clear(widest):
        return widest
    sure = (finding for finding in findings if finding.sure)
    return max(sure, key=lambda f: max(f.low, -f.high), default=None)


def _is_clear(finding: Finding) -> bool:
    """Return whether an interval excludes 0, of groups with enough rows to say so."""
    return finding.clear and finding.reason != TOO_FEW


@dataclass(frozen=True)
class Speech:
    """A table's names of a positive decision, the outcome, and the column of groups.

    ``favourable`` says whether a positive decision is good for the person; None where
    that is not known.
    """

    decided: str = "predicted positive"
    outcome: str = "outcome 1"
    feature: str = ""
    favourable: bool | None = None

    @property
    def missed(self) -> str:
        """The fate of a row with the outcome that is not decided positive."""
        return "wrongly rejected" if self.favourable else "missed"

    @classmethod
    def of(cls, outcome: str, feature: str, favourable: bool | None = None) -> "Speech":
        """Return the words for a predicted outcome, such as "approved = yes"."""
        return cls(f"predicted “{outcome}”", f"“{outcome}”", feature, favourable)


def clause(finding: Finding, speech: Speech) -> str:
    """Return who differs from whom and by how much, without an interval.

    Examples
    --------
    >>> women = Finding("selection_rate", None, "women", "men", -0.24, -0.3, -0.18)
    >>> clause(women, Speech("approved", feature="gender"))
    'gender: women is approved 24 points less often than gender: men'
    """
    more = finding.value > 0
    measure = finding.measure
    side = "more" if more else "less"
    height = "higher" if more else "lower"
    if finding.value == 0:  # no difference has no direction
        side = "more or less"
        height = "higher or lower"
    kind = measure_of(measure)
    text = kind.among + kind.clause
    return text.format(
        group=group_label(speech.feature, finding.group),
        other=group_label(speech.feature, finding.reference),
        decided=speech.decided,
        missed=speech.missed,
        outcome=speech.outcome,
        points=whole_points(finding.value),
        decimals=in_decimals(abs(finding.value)),
        often=f"{side} often",
        frequent=f"{side} frequent",
        higher=height,
        more=side,
    )


def sentence(
    finding: Finding, speech: Speech | None = None, *, with_ends: bool = True
) -> str:
    """Return a finding as one sentence, with its interval unless asked without."""
    speech = speech or Speech()
    if math.isnan(finding.value):
        name = measure_in_text(finding.measure)
        groups = (
            group_label(speech.feature, group)
            for group in (finding.group, finding.reference)
        )
        return f"The {name} of {' or '.join(groups)} is undefined."
    place = "" if finding.subgroup is None else f"in {finding.subgroup}, "
    ends = ""
    if with_ends:
        limits = gap_ends(finding.measure, finding.value, finding.low, finding.high)
        ends = f" ({limits})"
    text = f"{place}{clause(finding, speech)}{ends}."
    if not place and measure_of(finding.measure).names_group_first:
        return text  # a user's word stays as it is written
    return f"{text[0].upper()}{text[1:]}"


def gap_ends(measure: str, difference: float, low: float, high: float) -> str:
    """Return the interval of a difference, turned to its sign: "13 to 34".

    In points, and for AUC, Brier score and error cost in decimals; "no interval"
    if undefined.
    """
    if math.isnan(low) or math.isnan(high):
        return "no interval"
    ends = (low, high) if difference > 0 else (-high, -low)
    scale, usual = (100, 0) if measure_of(measure).in_points else (1, 3)
    # a rounded end must not say that an interval reaches 0, or does not, wrongly, nor
    # that it has no width
    near = min((abs(scale * end) for end in ends if end), default=1.0)
    wide = scale * abs(high - low) or 1.0
    more = range(usual, usual + 3)
    digits = max(
        next((n for n in more if near >= 0.5 / 10**n), usual),
        next((n for n in more if wide >= 1 / 10**n), usual + 2),
    )
    texts = (f"{scale * end:z.{digits}f}" for end in ends)
    return " to ".join(end.replace("-", MINUS) for end in texts)
