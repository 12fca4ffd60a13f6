"""The classical baselines, and the base models of post-processing."""

from fairdash.methods.classical.hardt import HardtLogistic
from fairdash.methods.classical.linear import (
    CovarianceConstraint,
    Logistic,
    LogisticCV,
    Reweighing,
)
from fairdash.methods.classical.plain import NearestNeighbours, RandomForest
from fairdash.methods.classical.reductions import GridReductions, Reductions

__all__ = [
    "CovarianceConstraint",
    "GridReductions",
    "HardtLogistic",
    "Logistic",
    "LogisticCV",
    "NearestNeighbours",
    "RandomForest",
    "Reductions",
    "Reweighing",
]
