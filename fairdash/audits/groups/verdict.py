"""What local gaps come to: who is worse off where, by how much and how surely."""

from collections.abc import Callable
from dataclasses import dataclass
from math import copysign, isclose, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from fairdash._wording import NO_SUBGROUPS, alike_words, number
from fairdash.audits.brief import brief, moved_brief, place_brief
from fairdash.audits.groups.evaluation import MOST_SEEDS
from fairdash.metrics import (
    Finding,
    Speech,
    better_when,
    clause,
    gap_ends,
    in_points,
    sentence,
    whole_points,
)

if TYPE_CHECKING:
    import pandas as pd

    from fairdash.audits.groups.local import LocalResult


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
    speech: Speech
    favourable: bool

    def text(self) -> str:
        """Say who is worse off in which subgroup, then over all rows."""
        found = self.result
        if found.row["constant"] > MOST_SEEDS:
            return alike_words(found.label)
        known = found.own[found.own["estimable"]]
        if known.empty:
            return "No subgroup is estimable: choose wider ones or a smaller size."
        worst = known.nlargest(1, "gap").iloc[0]
        alone = worst["subgroup"] == NO_SUBGROUPS
        place = "Overall" if alone else f"In {worst['subgroup']}"
        whole = "" if alone else self._overall()
        size = self._size(worst["gap"])
        if isnan(found.chance):
            return (
                f"{place} groups are {size} apart by {found.label}; what chance alone "
                f"shows is not known there ({self._rows()}).{whole}"
            )
        if not found.beyond_chance:
            return self._within_chance(float(worst["gap"]), whole, alone=alone)
        pair = found.furthest_inside(worst)
        if pair.apart < worst["ci_low"]:
            return (
                f"{place} groups are {size} apart by {found.label}, but seeds disagree "
                f"on who is ahead ({self._rows()}).{whole}"
            )
        if not pair.low > 0 and found.surest is not None and not alone:
            return (
                f"{self._inside(found.surest)} The largest gap, {size} in "
                f"{pair.place}, is above the {self._size(found.chance)} that a fair "
                "model stays below in 95% of cases, but by how much groups differ "
                f"there is not sure.{whole}"
            )
        return f"{self._inside(pair)}{whole}"

    def brief(self) -> str:
        """Say who is worse off where, and what a remedy does, in at most 20 words."""
        found = self.result
        if found.row["constant"] > MOST_SEEDS:
            return f"{found.label} decides alike for nearly everyone."
        known = found.own[found.own["estimable"]]
        if known.empty:
            return "No subgroup is estimable. Choose wider ones or a smaller size."
        remedy = self._remedy()
        pair = self._pair_beyond_chance(known.nlargest(1, "gap").iloc[0])
        if pair is not None:
            return brief(place_brief(self._finding(pair), self.speech), remedy)
        if isnan(found.chance):
            return brief("What chance alone would show is not known here.", remedy)
        reach = f"A fair model can reach {self._size(found.chance)}."
        return brief("No gap here is larger than chance would show.", remedy, reach)

    def _pair_beyond_chance(self, worst: "pd.Series[Any]") -> Pair | None:
        """Return the groups of the gap to name: the largest, else the surest."""
        found = self.result
        if found.beyond_chance:
            pair = found.furthest_inside(worst)
            if pair.apart >= worst["ci_low"] and pair.low > 0:
                return pair
        return found.surest

    def _remedy(self) -> str:
        """Say what the model changes beside the first one, where it is paired."""
        changes = self.result.changes
        if changes is None:
            return ""
        paired = changes.set_index("metric").to_dict("index").get("worst_1_di")
        if paired is None:
            return ""
        label = self.result.label
        return moved_brief(paired, label, "narrows", "widens", "the largest gap")

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
            return f"{self._inside(found.surest)} The largest gap, {reach}.{whole}"
        gaps = "gap" if alone else "gap in a subgroup"
        return (
            f"No {gaps} exceeds what chance alone shows: the largest, {reach} "
            f"({self._rows()}).{whole}"
        )

    def _inside(self, pair: Pair) -> str:
        """Say who is worse off than whom in a subgroup, and by how much."""
        inside = self._finding(pair)
        model = self.result.label
        return sentence(inside, self.speech, model=model, rows=self._rows())

    def _finding(self, pair: Pair) -> Finding:
        """Return the gap of a subgroup, said of the group that is worse off."""
        found = self.result
        where = None if pair.place == NO_SUBGROUPS else pair.place
        ends = pair.apart, pair.low, pair.high
        inside = Finding(found.measure, where, pair.higher, pair.lower, *ends)
        better = better_when(found.measure, favourable=self.favourable)
        return inside.turned() if better == "high" else inside

    def _overall(self) -> str:
        """Say how far which groups are apart over all rows, where that is sure."""
        found = self.result
        gap, low, high = found.row[["overall", "overall_low", "overall_high"]]
        if not low > 0 or (found.n_seeds > 1 and not found.overall_sure):
            return ""
        pair = self._furthest_apart(gap)
        if pair is None:
            ends = gap_ends(found.measure, 1, low, high)
            return f" Over all rows groups are {self._size(gap)} apart ({ends})."
        one, other = pair
        signed = copysign(gap, found.overall[one] - found.overall[other])
        if found.named is not None and found.has_pairs:
            first, second = pair if signed > 0 else pair[::-1]
            low, high = found.named.ends(first, second)
        if not low > 0:
            return ""
        ends = gap_ends(found.measure, 1, low, high)
        words = clause(
            Finding(found.measure, None, one, other, signed, low, high), self.speech
        )
        return f" Over all rows, {words} ({ends})."

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
        return f"mean of {found.n_seeds} seeds, {rows}" if found.n_seeds > 1 else rows

    def _size(self, gap: float) -> str:
        return whole_points(gap) if in_points(self.result.measure) else number(gap)


def _tenths(gap: float) -> str:
    return f"{number(100 * gap, 1)} points"
