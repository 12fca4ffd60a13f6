"""Who may be of a group, where groups are recorded with noise: the worst case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from fairdash._wording import percent
from fairdash.audits.playground.encoding import as_bytes, as_numbers
from fairdash.audits.playground.people import Array, People
from fairdash.audits.playground.sights.base import MOST_WEIGHT, Sight
from fairdash.methods import NoisyGroupsDRO, NoisyGroupsIdeal, NoisyGroupsSoft

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
    noise : str
        What is known of the records, in words.
    """

    kind: ClassVar[str] = "records"
    title: ClassVar[str] = "Accepted, as recorded and in the worst case"

    weights: Array
    group: int
    recorded: Array
    worst: Array
    overall: float
    rate: _Rate
    noise: str

    @classmethod
    def of(
        cls,
        model: NoisyGroupsDRO | NoisyGroupsSoft | NoisyGroupsIdeal,
        people: People,
    ) -> Self:
        """Return the worst case under a trained model."""
        chances = _chances(model, people)
        cases = [_case(model, people, chances, r) for r in _RATES[model.constraints]]
        return max((cls(*case, _noise(model)) for case in cases), key=cls._violation)

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
            f"{self.noise.format(*names)} The worst case is one of {name}: "
            f"{self.rate.words}{percent(self.worst[self.group])} of {name} are "
            f"accepted. As recorded, it is {percent(self.recorded[self.group])}."
        )

    def payload(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON."""
        return {
            "weights": as_bytes(self.weights, MOST_WEIGHT),
            "recorded": as_numbers(self.recorded),
            "worst": as_numbers(self.worst),
            "overall": as_numbers(self.overall),
        }


def _chances(
    model: NoisyGroupsDRO | NoisyGroupsSoft | NoisyGroupsIdeal, people: People
) -> Array:
    """Return the chance of each person to be accepted; 0 or 1 without a mixture."""
    positive: Array = model.predict_proba(people.features)[:, 1]
    if isinstance(model, NoisyGroupsIdeal):
        return positive
    return (positive > 0.5).astype(np.float64)


def _noise(model: NoisyGroupsDRO | NoisyGroupsSoft | NoisyGroupsIdeal) -> str:
    """Return what is known of the records; {0} and {1} stand for both groups."""
    if isinstance(model, NoisyGroupsDRO):
        radius = max(model.radius_.values())
        return f"Up to {percent(radius)} of each recorded group may be other people."
    first, second = np.diag(model.noise_)
    return (
        f"Of those recorded as {{0}}, {percent(first)} are; of those recorded as "
        f"{{1}}, {percent(second)} are."
    )


class _Case(NamedTuple):
    """The worst case of one rate, as the first fields of `Records`."""

    weights: Array
    group: int
    recorded: Array
    worst: Array
    overall: float
    rate: _Rate


def _case(
    model: NoisyGroupsDRO | NoisyGroupsSoft | NoisyGroupsIdeal,
    people: People,
    chances: Array,
    rate: _Rate,
) -> _Case:
    counted = np.isin(people.outcome, rate.outcomes).astype(np.float64)
    harmed = counted * (chances if rate.harms else 1 - chances)
    parts = np.stack([harmed, 1 - counted, counted - harmed])
    members = np.eye(2)[people.group].T
    if isinstance(model, NoisyGroupsDRO):
        radii = model.radius_.values()
        cases = [_in_ball(*case, parts) for case in zip(members, radii, strict=True)]
    else:
        cases = [_soft(members, shares, parts) for shares in model.noise_.T]
    recorded = np.array([_accepted(mine * parts, rate) for mine in members])
    worst = np.array([_accepted(case, rate) for case in cases])
    overall = _accepted(parts, rate)
    gaps = worst - overall if rate.harms else overall - worst
    group = int(np.nan_to_num(gaps, nan=-np.inf).argmax())
    weights = cases[group].sum(axis=0)
    return _Case(weights, group, recorded, worst, overall, rate)


# People have three parts, (3, n_people), that sum to one: the chance to be harmed by
# the decision, 1 if the rate is not over them, and the chance to be spared.


def _in_ball(members: Array, radius: float, parts: Array) -> Array:
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


def _soft(members: Array, shares: Array, parts: Array) -> Array:
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


def _accepted(counted: Array, rate: _Rate) -> float:
    """Return the share accepted of the people that a rate is over."""
    harmed, _, spared = counted.sum(axis=1)
    if harmed + spared < _NOTHING:
        return float("nan")
    return float((harmed if rate.harms else spared) / (harmed + spared))
