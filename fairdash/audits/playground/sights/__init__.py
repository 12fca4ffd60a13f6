"""What a method itself sees of people at one setting: a kind for each family."""

from fairdash.audits.playground.sights.adversary import Guess
from fairdash.audits.playground.sights.base import MOST_WEIGHT, Sight
from fairdash.audits.playground.sights.counterparts import Counterparts
from fairdash.audits.playground.sights.families import sight_of
from fairdash.audits.playground.sights.records import Records
from fairdash.audits.playground.sights.rules import (
    RandomThresholds,
    Rules,
    Truncation,
)

__all__ = [
    "MOST_WEIGHT",
    "Counterparts",
    "Guess",
    "RandomThresholds",
    "Records",
    "Rules",
    "Sight",
    "Truncation",
    "sight_of",
]
