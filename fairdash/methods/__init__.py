"""Classifiers with and without fairness constraints, and the catalog of them.

Nothing here loads torch before a network trains.
"""

from typing import Any

from fairdash.methods.adversarial import (
    BROAD,
    FAD,
    ROAD,
    AdversarialDebiasing,
    Unconstrained,
    WideNetwork,
)
from fairdash.methods.catalog import CATALOG
from fairdash.methods.classical import (
    CovarianceConstraint,
    GridReductions,
    HardtLogistic,
    Logistic,
    LogisticCV,
    NearestNeighbours,
    RandomForest,
    Reductions,
    Reweighing,
)
from fairdash.methods.declare import Device, Effort, Method, Param
from fairdash.methods.individual import CLP, SenSeI, SenSR
from fairdash.methods.log_loss import (
    FairLogLoss,
    FairLogLossCV,
    TruncatedLogistic,
    fair_log_loss_multiplier,
)
from fairdash.methods.network import (
    CACHED_ROWS,
    StackView,
    n_multiplied_columns,
    training_device,
)
from fairdash.methods.noisy_groups.dro import NoisyGroupsDRO
from fairdash.methods.noisy_groups.estimators import (
    NoisyGroupsNaive,
    NoisyGroupsUnconstrained,
)
from fairdash.methods.noisy_groups.ideal import NoisyGroupsIdeal
from fairdash.methods.noisy_groups.soft_method import NoisyGroupsSoft
from fairdash.methods.plain_network import Network
from fairdash.methods.scorers import Scorer, scorer_of

__all__ = [
    "BROAD",
    "CACHED_ROWS",
    "CATALOG",
    "CLP",
    "FAD",
    "ROAD",
    "AdversarialDebiasing",
    "CovarianceConstraint",
    "Device",
    "Effort",
    "FairLogLoss",
    "FairLogLossCV",
    "GridReductions",
    "HardtLogistic",
    "Logistic",
    "LogisticCV",
    "Method",
    "NearestNeighbours",
    "Network",
    "NoisyGroupsDRO",
    "NoisyGroupsIdeal",
    "NoisyGroupsNaive",
    "NoisyGroupsSoft",
    "NoisyGroupsUnconstrained",
    "Param",
    "RandomForest",
    "Reductions",
    "Reweighing",
    "Scorer",
    "SenSR",
    "SenSeI",
    "StackView",
    "TruncatedLogistic",
    "Unconstrained",
    "WideNetwork",
    "fair_log_loss_multiplier",
    "n_multiplied_columns",
    "scorer_of",
    "training_device",
]


def __getattr__(name: str) -> Any:
    for method in CATALOG.values():
        if method.class_name == name:
            return method.estimator_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
