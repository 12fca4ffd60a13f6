"""Judgements of a limit by an estimate: four of them, and three ways to come to one.

An estimate keeps a limit or is beyond it. Its interval lies on the same side as a
whole, or reaches to the other. A policy says by ``judge`` what follows: `JUDGEMENTS`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Literal, get_args

Judge = Literal["sure_keep", "estimate", "sure_break"]
JUDGES: tuple[Judge, ...] = get_args(Judge)
ROUNDING = 1e-12  # a quotient of rates that is .8 may be rounded to less


class Judgement(StrEnum):
    """Judgements of a limit, from best to worst."""

    PASS = "pass"
    NOT_SURELY_BROKEN = "not surely broken"
    UNDECIDED = "undecided"
    FAIL = "fail"

    @property
    def exit_status(self) -> int:
        """With what `fairdash check` ends."""
        return _EXIT_STATUS[self]

    @property
    def of_limit(self) -> str:
        """The word for the judgement: "kept", "broken"."""
        return _OF_LIMIT.get(self, self.value)


_EXIT_STATUS = {
    Judgement.PASS: 0,
    Judgement.FAIL: 1,
    Judgement.UNDECIDED: 2,
    Judgement.NOT_SURELY_BROKEN: 3,
}
_OF_LIMIT = {Judgement.PASS: "kept", Judgement.FAIL: "broken"}


class LimitSide(IntEnum):
    """On which side of a limit an estimate and its interval lie."""

    WHOLLY_WITHIN = 0
    WITHIN = 1
    BEYOND = 2
    WHOLLY_BEYOND = 3

    @property
    def words(self) -> str:
        """The side in words."""
        return _SIDES[self]


_SIDES = {
    LimitSide.WHOLLY_WITHIN: "the whole interval keeps the limit",
    LimitSide.WITHIN: "the estimate keeps it, the interval reaches beyond",
    LimitSide.BEYOND: "the estimate is beyond it, the interval reaches back",
    LimitSide.WHOLLY_BEYOND: "the whole interval is beyond it",
}

#: The judgement of each way to judge, by `LimitSide`.
JUDGEMENTS: dict[Judge, tuple[Judgement, ...]] = {
    "sure_keep": (
        Judgement.PASS,
        Judgement.UNDECIDED,
        Judgement.UNDECIDED,
        Judgement.FAIL,
    ),
    "estimate": (
        Judgement.PASS,
        Judgement.PASS,
        Judgement.FAIL,
        Judgement.FAIL,
    ),
    "sure_break": (
        Judgement.PASS,
        Judgement.PASS,
        Judgement.NOT_SURELY_BROKEN,
        Judgement.FAIL,
    ),
}
_WHY = {
    (LimitSide.WITHIN, Judgement.UNDECIDED): "the interval reaches beyond the limit",
    (LimitSide.BEYOND, Judgement.UNDECIDED): "beyond the limit, but not surely",
    (LimitSide.BEYOND, Judgement.NOT_SURELY_BROKEN): "beyond the limit, but not surely",
}


@dataclass(frozen=True)
class Bound:
    """The end of a limit: a value that an estimate may reach, but not pass."""

    value: float
    upper: bool

    def keeps(self, estimate: float) -> bool:
        """Return whether an estimate is not beyond it, rounding aside."""
        if math.isclose(estimate, self.value, rel_tol=ROUNDING, abs_tol=ROUNDING):
            return True
        return estimate < self.value if self.upper else estimate > self.value

    def side(self, estimate: float, low: float, high: float) -> LimitSide:
        """Return where an estimate and its interval lie."""
        farther_end = high if self.upper else low
        nearer_end = low if self.upper else high
        if self.keeps(estimate):
            is_whole = self.keeps(farther_end)
            return LimitSide.WHOLLY_WITHIN if is_whole else LimitSide.WITHIN
        reaches_back = self.keeps(nearer_end)
        return LimitSide.BEYOND if reaches_back else LimitSide.WHOLLY_BEYOND


def judge(
    how: Judge, bound: Bound, estimate: float, low: float, high: float
) -> tuple[Judgement, str]:
    """Judge an estimate with its interval against the end of a limit.

    Returns
    -------
    judgement : Judgement
        Undecided where there is no estimate, and where there is no interval but one is
        needed.
    reason : str
        Why it is neither kept nor broken, else "".
    """
    if math.isnan(estimate):
        return Judgement.UNDECIDED, "no estimate"
    if math.isnan(low) or math.isnan(high):
        if how != "estimate":
            return Judgement.UNDECIDED, "no interval"
        low = high = estimate
    side = bound.side(estimate, low, high)
    judgement = JUDGEMENTS[how][side]
    return judgement, _WHY.get((side, judgement), "")


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """Return the worst judgement of some."""
    order = list(Judgement)
    return max(judgements, key=order.index)


def judgement_rows() -> Iterable[tuple[str, ...]]:
    """Yield the cells of the table of judgements, after those of its head."""
    yield ("", *(f"`{how}`" for how in JUDGES))
    for side in LimitSide:
        yield (side.words, *(JUDGEMENTS[how][side] for how in JUDGES))


def exit_rows() -> Iterable[tuple[str, ...]]:
    """Yield the cells of the table of exit statuses, after those of its head."""
    yield "exit status", "when"
    yield "0", "every limit passes"
    yield "1", "a limit fails"
    yield "2", "none fails, but one is undecided"
    yield "3", "none fails or is undecided, but one is not surely broken"
    yield "4", "a file, a column or an option cannot be used"
