"""Shared parameters with their names, for entries that are not yet declared."""

from dataclasses import replace
from typing import Any

from fairdash.methods import params
from fairdash.methods.declare import Param
from fairdash.methods.params import FAST as FAST
from fairdash.methods.params import PAPER as PAPER

CONSTRAINT: Param = replace(params.CONSTRAINT, name="constraints")
FAIRNESS_WEIGHT: Param = replace(params.FAIRNESS_WEIGHT, name="fairness_weight")
TAU: Param = replace(params.TAU, name="tau")
NORMALISATION: Param = replace(params.NORMALISATION, name="normalisation")
PREDICTOR: Param = replace(params.PREDICTOR, name="predictor_layers")
TRAINING: tuple[Param, ...] = (
    replace(params.EPOCHS, name="n_epochs"),
    replace(params.BATCH_SIZE, name="batch_size"),
    replace(params.LEARNING_RATE, name="learning_rate"),
)


def layers(name: str, label: str, default: str) -> Any:
    """Return the choice of a network's hidden layers."""
    return replace(params.layers(default, label), name=name)


def steps(name: str, label: str) -> Any:
    """Return how many steps a network takes for each of the predictor."""
    return replace(params.steps(label, ""), name=name)
