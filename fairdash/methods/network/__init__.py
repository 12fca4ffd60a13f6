"""Stacked networks: many models of one shape, run and trained as one."""

from fairdash.methods.network.classifier import StackedClassifier
from fairdash.methods.network.groups import (
    Groups,
    binary_cross_entropy,
    group_cross_entropy,
)
from fairdash.methods.network.planning import CACHED_ROWS, training_device
from fairdash.methods.network.sparse import n_multiplied_columns
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.methods.network.training import Batch, StackView

__all__ = [
    "CACHED_ROWS",
    "Batch",
    "Groups",
    "StackView",
    "StackedClassifier",
    "StackedNetwork",
    "binary_cross_entropy",
    "group_cross_entropy",
    "n_multiplied_columns",
    "training_device",
]
