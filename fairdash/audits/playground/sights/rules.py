"""Rules that turn a score into a chance, group by group: cut, raised, or at random."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from fairdash._arrays import FloatArray
from fairdash._wording import percent
from fairdash.audits.playground.encoding import as_bytes, as_numbers
from fairdash.audits.playground.grid import SIDE, grid_points
from fairdash.audits.playground.people import People
from fairdash.audits.playground.ramp import RampedLogistic
from fairdash.audits.playground.sights.base import Sight
from fairdash.methods import FairLogLoss, HardtLogistic

_NOTHING = 1e-9


@dataclass(frozen=True)
class Rules(Sight):
    """What a method makes of a score that is the same for both groups.

    Attributes
    ----------
    before : ndarray, (SIDE, SIDE)
        The score at the points of the plane, from 0 to 1.
    knots : ndarray, (2, n_knots, 2)
        By group, the score and P(1) after the rule: a line through these points.
    bands : ndarray, (2, n_bands, 3)
        By group, spans of scores, lowest and highest, and 1 where the rule changes
        them, else 0.
    shares : ndarray, (2,)
        Of each group's people whose score lies in such a span.
    """

    kind: ClassVar[str] = "rules"

    before: FloatArray
    knots: FloatArray
    bands: FloatArray
    shares: FloatArray

    @classmethod
    def _at(
        cls,
        score: Callable[[FloatArray, NDArray[np.int64]], FloatArray],
        people: People,
        knots: Sequence[Any],
        bands: Sequence[Any],
    ) -> Self:
        """Return rules of a score; it takes rows and their group, which it ignores."""
        plane = people.at(grid_points())
        before = score(plane, np.zeros(len(plane), np.int64)).reshape(SIDE, SIDE)
        scores = score(people.features, people.group)
        spans = np.array(bands, dtype=np.float64)
        shares = [
            _share_inside(scores[people.group == code], spans[code]) for code in (0, 1)
        ]
        return cls(before, np.array(knots, np.float64), spans, np.array(shares))

    def caption(self, names: Sequence[str]) -> str:
        """Return what happens to the scores of each group."""
        return " ".join(self._words(code, name) for code, name in enumerate(names))

    @abstractmethod
    def _words(self, group: int, name: str) -> str: ...

    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
        return {
            "before": as_bytes(self.before),
            "knots": as_numbers(self.knots),
            "bands": as_numbers(self.bands),
        }


class Truncation(Rules):
    """Probabilities of fair log-loss, raised to a floor and cut at a cap by group."""

    title: ClassVar[str] = "Probability before and after"

    @classmethod
    def of(cls, model: FairLogLoss, people: People) -> Self | None:
        """Return where a trained model truncates.

        None where that depends on more than the score: where the group is a feature, or
        the constraint looks at outcomes.
        """
        network = model.network_
        floors, caps = network.levels()
        same = np.array_equal(network.pulls[0], network.pulls[1])
        if network.offsets.any() or not same:
            return None
        knots = [
            [[0, floor], [floor, floor], [cap, cap], [1, cap]]
            for floor, cap in zip(floors[0], caps[0], strict=True)
        ]
        bands = [
            [[0, floor, floor > 0], [cap, 1, cap < 1]]
            for floor, cap in zip(floors[0], caps[0], strict=True)
        ]
        return cls._at(network.plain, people, knots, bands)

    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean."""
        return (
            "Hatched, in the colour of the group: its probability is raised to the "
            "floor, or cut at the cap."
        )

    def _words(self, group: int, name: str) -> str:
        (_, floor, raised), (cap, _, cut) = self.bands[group]
        people = f"for {percent(self.shares[group])} of {name}"
        if raised:
            return (
                f"Probabilities of {name} below {percent(floor)} are raised to it, "
                f"{people}."
            )
        if cut:
            return f"Probabilities of {name} above {percent(cap)} are cut, {people}."
        return f"Probabilities of {name} stay as they are."


class RandomThresholds(Rules):
    """Scores that are accepted, refused, or decided by chance, by group."""

    title: ClassVar[str] = "Chance to be accepted, by score"

    @classmethod
    def of(cls, model: HardtLogistic, people: People) -> Self:
        """Return the thresholds of a trained model: a staircase for each group."""
        network = model.network_
        knots = []
        bands = []
        columns = (network.thresholds, network.shares, network.constants)
        for thresholds, steps, level in zip(*columns, strict=True):
            first, second = np.clip(thresholds, 0, 1)
            levels = level + np.array([0, steps[0], steps.sum()])
            ends = [0, first, second, 1]
            spans = list(zip(ends[:-1], ends[1:], levels, strict=True))
            knots.append([[x, p] for low, high, p in spans for x in (low, high)])
            bands.append(
                [[low, high, _NOTHING < p < 1 - _NOTHING] for low, high, p in spans]
            )
        return cls._at(network.base.positive, people, knots, bands)

    @classmethod
    def of_ramp(cls, model: RampedLogistic, people: People) -> Self:
        """Return where the ramp of each group begins and ends."""
        knots = []
        bands = []
        for rule in model.ramp_.rules_.values():
            low, high = np.clip((np.array(rule.score) + 1) / 2, 0, 1)
            scores = np.array([0, low, high, 1])
            knots.append(np.column_stack([scores, rule(2 * scores - 1)]))
            bands.append([[low, high, high > low]])
        return cls._at(model.base_.network_.positive, people, knots, bands)

    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean."""
        return "Hatched, in the colour of the group: chance decides there."

    def _words(self, group: int, name: str) -> str:
        drawn = self.bands[group][self.bands[group][:, 2] > 0]
        sure = self.knots[group][self.knots[group][:, 1] > 1 - _NOTHING]
        accepted = ""
        if len(sure) and sure[0, 0] < 1:
            accepted = f"{name} is accepted above a score of {percent(sure[0, 0])}."
        if not len(drawn):
            return accepted or f"{name} is never accepted."
        chance = (
            f"From {percent(drawn[0, 0])} to {percent(drawn[-1, 1])} chance decides, "
            f"for {percent(self.shares[group])} of {name}."
        )
        return f"{accepted} {chance}".strip()


def _share_inside(scores: FloatArray, spans: FloatArray) -> float:
    inside = np.zeros(len(scores), bool)
    for low, high, changed in spans:
        inside |= (changed > 0) & (scores > low) & (scores <= high)
    return float(inside.mean())
