"""Trained models as plain arrays, which predict by NumPy alone: pages need no torch."""

from fairdash.methods.scorers.base import Arrays, Scorer, is_mixture
from fairdash.methods.scorers.composed import (
    EXTREME,
    GroupThresholds,
    Mixture,
    Recalibrated,
    Unfilled,
    audited_rows,
    unfilled,
)
from fairdash.methods.scorers.network import Network
from fairdash.methods.scorers.reading import scorer_of
from fairdash.methods.scorers.simple import (
    Constant,
    Linear,
    LinearMixture,
    RuleList,
    Unkept,
)
from fairdash.methods.scorers.trees import Boosted, Forest

__all__ = [
    "EXTREME",
    "Arrays",
    "Boosted",
    "Constant",
    "Forest",
    "GroupThresholds",
    "Linear",
    "LinearMixture",
    "Mixture",
    "Network",
    "Recalibrated",
    "RuleList",
    "Scorer",
    "Unfilled",
    "Unkept",
    "audited_rows",
    "is_mixture",
    "scorer_of",
    "unfilled",
]
