"""Stacked networks: many models of one shape, run and trained as one."""

from fairdash.methods.network.adam import LANES, Adam
from fairdash.methods.network.classifier import CACHED_ROWS, StackedClassifier
from fairdash.methods.network.losses import (
    binary_cross_entropy,
    group_cross_entropy,
    group_slope,
    sigmoid,
)
from fairdash.methods.network.products import product
from fairdash.methods.network.rows import Batch, Groups
from fairdash.methods.network.stacked import StackedNetwork
from fairdash.methods.network.training import StackView, Trainer

__all__ = [
    "CACHED_ROWS",
    "LANES",
    "Adam",
    "Batch",
    "Groups",
    "StackView",
    "StackedClassifier",
    "StackedNetwork",
    "Trainer",
    "binary_cross_entropy",
    "group_cross_entropy",
    "group_slope",
    "product",
    "sigmoid",
]
