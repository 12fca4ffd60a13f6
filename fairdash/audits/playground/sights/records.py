"""Who may be of a group, where groups are recorded with noise: the worst case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from fairdash._arrays import FloatArray
from fairdash._wording import percent
from fairdash.audits.playground.encoding import as_bytes, as_numbers
from fairdash.audits.playground.people import People
from fairdash.audits.playground.sights.base import MOST_WEIGHT, Sight
from fairdash.methods import NoisyGroupsDRO, NoisyGroupsIdeal, NoisyGroupsSoft

_NoisyGroups = NoisyGroupsDRO | NoisyGroupsSoft | NoisyGroupsIdeal
_NOTHING = 1e-12


class _Rate(NamedTuple):
    """A rate of accepted people that a constraint compares.

    Attributes
    ----------
    outcomes : tuple of int
        Of the people that it is over.
    harms : {0, 1}
        The decision that makes the rate of a group worse.
    words : str
        Before the group's share.
    """

    outcomes: tuple[int, ...]
    harms: int
    words: str


_TPR = _Rate((1,), 0, "of people with outcome 1, ")
_FPR = _Rate((0,), 1, "of people with outcome 0, ")
_RATES = {
    "true_positive_rate_parity": (_TPR,),
    "false_positive_rate_parity": (_FPR,),
    "equalized_odds": (_TPR, _FPR),
    "demographic_parity": (_Rate((0, 1), 0, ""),),
}


@dataclass(frozen=True)
class Records(Sight):
    """The worst case for a group among all that the records of groups allow.

    It is the exact one under the decisions of the trained model, whatever way the
    method took in training. Of all rates and groups it is the one farthest below (or
    above) the rate of all people.

    Attributes
    ----------
    weights : ndarray, (n_people,)
        How much each person counts as a member of the group: 1 is one person.
    group : int
    recorded, worst : ndarray, (2,)
        Share accepted of each recorded group, and in the worst case for it.
    overall : float
        Share accepted of all people that the rate is over.
    radius : float
        Share of each recorded group that may be other people, at most, of DRO.
    kept : ndarray, (2,), optional
        Share of each recorded group that is of it, of soft memberships.
    """

    kind: ClassVar[str] = "records"
    title: ClassVar[str] = "Accepted, as recorded and in the worst case"

    weights: FloatArray
    group: int
    recorded: FloatArray
    worst: FloatArray
    overall: float
    rate: _Rate
    radius: float
    kept: FloatArray | None

    @classmethod
    def of(cls, model: _NoisyGroups, people: People) -> Self:
        """Return the worst case under a trained model."""
        cases = [
            cls._of_rate(rate, model, people) for rate in _RATES[model.constraints]
        ]
        return max(cases, key=cls._violation)

    @classmethod
    def _of_rate(cls, rate: _Rate, model: _NoisyGroups, people: People) -> Self:
        chances = _chances(model, people)
        counted = np.isin(people.outcome, rate.outcomes).astype(np.float64)
        harmed = counted * (chances if rate.harms else 1 - chances)
        parts = np.stack([harmed, 1 - counted, counted - harmed])
        members = np.eye(2)[people.group].T
        radius = 0.0
        stored_rows = None
        if isinstance(model, NoisyGroupsDRO):
            radii = list(model.radius_.values())
            radius = max(radii)
            cases = [
                _in_ball(mine, share, parts)
                for mine, share in zip(members, radii, strict=True)
            ]
        else:
            stored_rows = np.diag(model.noise_)
            cases = [_soft(members, shares, parts) for shares in model.noise_.T]
        recorded = np.array([_accepted(mine * parts, rate) for mine in members])
        worst = np.array([_accepted(case, rate) for case in cases])
        overall = _accepted(parts, rate)
        gaps = worst - overall if rate.harms else overall - worst
        group = int(np.nan_to_num(gaps, nan=-np.inf).argmax())
        weights = cases[group].sum(axis=0)
        return cls(weights, group, recorded, worst, overall, rate, radius, stored_rows)

    def _violation(self) -> float:
        gap = self.worst[self.group] - self.overall
        return float(gap if self.rate.harms else -gap)

    def key(self, names: Sequence[str]) -> str:
        """Return what the marks in the plane mean."""
        return (
            f"Larger points: they count more as {names[self.group]} in the worst case "
            "that the records allow."
        )

    def caption(self, names: Sequence[str]) -> str:
        """Return what the records allow, and the worst case."""
        name = names[self.group]
        return (
            f"{self._noise(names)} The worst case is one of {name}: "
            f"{self.rate.words}{percent(self.worst[self.group])} of {name} are "
            f"accepted. As recorded, it is {percent(self.recorded[self.group])}."
        )

    def _noise(self, names: Sequence[str]) -> str:
        """Return what is known of the records."""
        if self.kept is None:
            share = percent(self.radius)
            return f"Up to {share} of each recorded group may be other people."
        first, second = map(percent, self.kept)
        a, b = names
        return (
            f"Of those recorded as {a}, {first} are {a}; of those recorded as {b}, "
            f"{second} are {b}."
        )

    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
        return {
            "weights": as_bytes(self.weights, MOST_WEIGHT),
            "recorded": as_numbers(self.recorded),
            "worst": as_numbers(self.worst),
            "overall": as_numbers(self.overall),
        }


def _chances(model: _NoisyGroups, people: People) -> FloatArray:
    """Return the chance of each person to be accepted; 0 or 1 without a mixture."""
    positive: FloatArray = model.predict_proba(people.features)[:, 1]
    if isinstance(model, NoisyGroupsIdeal):
        return positive
    return (positive > 0.5).astype(np.float64)


# People have three parts, (3, n_people), that sum to one: the chance to be harmed by
# the decision, 1 if the rate is not over them, and the chance to be spared.


def _in_ball(members: FloatArray, radius: float, parts: FloatArray) -> FloatArray:
    r"""Return how much of each part counts in the worst distribution of a ball.

    A share ``radius`` of the group's mass goes from members who are spared, from all
    alike, to people who are harmed, whatever their group, to all alike. No distribution
    within total variation ``radius`` has a worse rate.
    """
    counted = members * parts
    harmed = parts[0].sum()
    spared = counted[2].sum()
    if min(harmed, spared) < _NOTHING:
        return counted
    moved = min(radius * members.sum(), spared)
    counted[0] += parts[0] * (moved / harmed)
    counted[2] *= 1 - moved / spared
    return counted


def _soft(members: FloatArray, shares: FloatArray, parts: FloatArray) -> FloatArray:
    """Return how much of each part counts under the worst memberships in a group.

    ``shares`` is the group's share of each recorded group, whose ``members`` are given.
    It goes first to people who are harmed, then to those whom the rate is not over,
    last to those who are spared.
    """
    counted = np.zeros_like(parts)
    for mine, share in zip(members, shares, strict=True):
        budget = share * mine.sum()
        for place, part in enumerate(mine * parts):
            size = part.sum()
            taken = min(budget, size)
            counted[place] += part * (taken / max(size, _NOTHING))
            budget -= taken
    return counted


def _accepted(counted: FloatArray, rate: _Rate) -> float:
    """Return the share accepted of the people that a rate is over."""
    harmed, _, spared = counted.sum(axis=1)
    if harmed + spared < _NOTHING:
        return float("nan")
    return float((harmed if rate.harms else spared) / (harmed + spared))
