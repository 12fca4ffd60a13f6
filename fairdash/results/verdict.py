"""What local gaps come to: who is worse off where, by how much and how surely."""

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, isclose, isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from fairdash._wording import NO_SUBGROUPS, alike_words, number, spoken_group
from fairdash.metrics import (
    better_when,
    gap_ends,
    gap_words,
    in_points,
    whole_points,
)
from fairdash.results.evaluation import MOST_SEEDS

if TYPE_CHECKING:
    from fairdash.results.local import LocalResult


class Pair(NamedTuple):
    """Two groups of a subgroup, the lower value first, and the interval of the gap."""

    place: str
    lower: str
    higher: str
    apart: float
    low: float
    high: float


@dataclass(frozen=True)
class Verdict:
    """The sentences of `LocalResult.verdict`, whose arguments it has."""

    result: "LocalResult"
    outcome: str
    favourable: bool
    feature: str

    def text(self) -> str:
        """Say who is worse off in which subgroup, then over all rows."""
        found = self.result
        gap = found.names.gap
        if found.row["constant"] > MOST_SEEDS:
            return alike_words(found.label)
        known = found.own[found.own["estimable"]]
        if known.empty:
            return "No subgroup is estimable: choose wider ones or a smaller size."
        worst = known.nlargest(1, gap).iloc[0]
        alone = worst["subgroup"] == NO_SUBGROUPS
        place = "Overall" if alone else f"In {worst['subgroup']}"
        whole = "" if alone else self._overall()
        if isnan(found.chance):
            return (
                f"{place} groups are {self._size(worst[gap])} apart by {found.label}; "
                f"what chance alone shows is not known there ({self._rows()}).{whole}"
            )
        if not found.beyond_chance:
            return self._within_chance(float(worst[gap]), whole, alone=alone)
        pair = found.furthest_inside(worst)
        if pair.apart < worst["ci_low"]:
            return (
                f"{place} groups are {self._size(worst[gap])} apart by {found.label}, "
                f"but seeds disagree on who is ahead ({self._rows()}).{whole}"
            )
        if not pair.low > 0 and found.surest is not None and not alone:
            return (
                f"{self._inside(found.surest)}. The largest gap, "
                f"{self._size(worst[gap])} in {pair.place}, is above the "
                f"{self._size(found.chance)} that a fair model stays below in 95% of "
                f"cases, but by how much groups differ there is not sure.{whole}"
            )
        return f"{self._inside(pair)}.{whole}"

    def _within_chance(self, largest: float, whole: str, *, alone: bool) -> str:
        """Say that the largest gap is within the reach of chance, and what is sure."""
        found = self.result
        size: Callable[[float], str] = self._size
        if in_points(found.measure) and size(largest) == size(found.chance):
            size = _tenths
        reach = (
            f"{size(largest)}, is not above the {size(found.chance)} that a fair model "
            "stays below in 95% of cases"
        )
        if found.surest is not None and not alone:
            return f"{self._inside(found.surest)}. The largest gap, {reach}.{whole}"
        gaps = "gap" if alone else "gap in a subgroup"
        return (
            f"No {gaps} exceeds what chance alone shows: the largest, {reach} "
            f"({self._rows()}).{whole}"
        )

    def _inside(self, pair: Pair) -> str:
        """Say who is worse off than whom in a subgroup, and by how much."""
        found = self.result
        place = "Overall" if pair.place == NO_SUBGROUPS else f"In {pair.place}"
        ends = f"{100 * pair.low:.0f} to {100 * pair.high:.0f}"
        if found.named is not None or found.measure != "selection_rate":
            ends = gap_ends(found.measure, 1, pair.low, pair.high)
        less = better_when(found.measure, favourable=self.favourable) == "high"
        one, other = (pair.lower, pair.higher) if less else (pair.higher, pair.lower)
        if found.measure != "selection_rate":
            words = self._words(one, other, -pair.apart if less else pair.apart)
            return f"{place}, by {found.label}, {words} ({ends}; {self._rows()})"
        often = "less" if less else "more"
        return (
            f"{place}, {found.label} predicts “{self.outcome}” "
            f"{whole_points(pair.apart)} {often} often for {self._named(one)} than for "
            f"{self._named(other)} ({ends}; {self._rows()})"
        )

    def _overall(self) -> str:
        """Say how far which groups are apart over all rows, where that is sure."""
        found = self.result
        name = found.names.overall
        gap, low, high = (
            found.row.get(name + end, nan) for end in ("", "_low", "_high")
        )
        if not low > 0 or (found.n_seeds > 1 and not found.overall_sure):
            return ""
        ends = gap_ends(found.measure, 1, low, high)
        pair = self._furthest_apart(gap)
        if pair is None:
            return f" Over all rows groups are {self._size(gap)} apart ({ends})."
        one, other = pair
        signed = copysign(gap, found.overall[one] - found.overall[other])
        if found.named is not None and found.has_pairs:
            first, second = pair if signed > 0 else pair[::-1]
            low, high = found.named.ends(first, second)
            ends = gap_ends(found.measure, 1, low, high)
        if not low > 0:
            return ""
        words = self._words(one, other, signed)
        where = "Overall," if words.startswith("among") else "Over all rows"
        return f" {where} {words} ({ends})."

    def _furthest_apart(self, gap: float) -> tuple[str, str] | None:
        """Return who is worse off than whom by the gap over all rows.

        None where these are other groups in other seeds: no two are that far apart.
        """
        value, reference = self.result.overall, self.result.reference
        if len(value) < 2:
            return None
        one, other = (end(value, key=value.__getitem__) for end in (min, max))
        if better_when(self.result.measure, favourable=self.favourable) == "low":
            one, other = other, one
        if reference is not None:
            other = reference
            one = max(value, key=lambda name: abs(value[name] - value[other]))
        same = isclose(abs(value[one] - value[other]), gap, abs_tol=1e-6)
        return (one, other) if same else None

    def _rows(self) -> str:
        """Return which rows, of how many seeds, numbers are of."""
        found = self.result
        rows = "all rows" if found.rows == "row" else f"{found.rows}s"
        rows += ", cross-validated" if found.crossed else ""
        return f"mean of {found.n_seeds} seeds, {rows}" if found.n_seeds > 1 else rows

    def _words(self, one: str, other: str, difference: float) -> str:
        quoted = f"“{self.outcome}”"
        return gap_words(
            self.result.measure,
            self._named(one),
            self._named(other),
            difference,
            decided=f"predicted {quoted}",
            outcome=quoted,
        )

    def _named(self, group: str) -> str:
        return spoken_group(self.feature, group)

    def _size(self, gap: float) -> str:
        return whole_points(gap) if in_points(self.result.measure) else number(gap)


def _tenths(gap: float) -> str:
    return f"{number(100 * gap, 1)} points"
