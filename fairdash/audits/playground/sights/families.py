"""Which sight belongs to which family of methods."""

from typing import Any

from fairdash.audits.playground.people import People
from fairdash.audits.playground.ramp import RampedLogistic
from fairdash.audits.playground.sights.adversary import Guess
from fairdash.audits.playground.sights.base import Sight
from fairdash.audits.playground.sights.counterparts import Counterparts
from fairdash.audits.playground.sights.records import Records
from fairdash.audits.playground.sights.rules import RandomThresholds, Truncation
from fairdash.methods import (
    CLP,
    AdversarialDebiasing,
    FairLogLoss,
    HardtLogistic,
    NoisyGroupsDRO,
    NoisyGroupsIdeal,
    NoisyGroupsSoft,
    SenSeI,
    SenSR,
)


def sight_of(model: Any, people: People) -> Sight | None:
    """Return what a trained model sees of people, None where that is no more."""
    match model:
        case AdversarialDebiasing():
            return Guess.of(model, people)
        case SenSeI() | SenSR() | CLP():
            return Counterparts.of(model, people)
        case FairLogLoss():
            return Truncation.of(model, people)
        case HardtLogistic():
            return RandomThresholds.of(model, people)
        case RampedLogistic():
            return RandomThresholds.of_ramp(model, people)
        case NoisyGroupsDRO() | NoisyGroupsSoft() | NoisyGroupsIdeal():
            return Records.of(model, people)
        case _:
            return None
