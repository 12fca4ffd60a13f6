"""Classifiers with and without fairness constraints, and the catalog of them.

The classes load on first use, so that reading the catalog does not load torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairdash.methods._common_values import n_multiplied_columns
from fairdash.methods._fair_multiplier import fair_log_loss_multiplier
from fairdash.methods._held import hold_multiplier
from fairdash.methods._method import CACHED_ROWS, Device, Effort, Method, Param
from fairdash.methods._network import Network
from fairdash.methods._scorers import Scorer, scorer_of
from fairdash.methods._truncation import TruncatedLogistic
from fairdash.methods._two_features import two_feature_networks, two_feature_people
from fairdash.methods.catalog import CATALOG

if TYPE_CHECKING:
    from fairdash.methods._stacks import training_device
    from fairdash.methods._training import StackView
    from fairdash.methods.adversarial import AdversarialDebiasing
    from fairdash.methods.base_models import (
        LogisticCV,
        NearestNeighbours,
        RandomForest,
        WideNetwork,
    )
    from fairdash.methods.broad import BROAD
    from fairdash.methods.clp import CLP
    from fairdash.methods.covariance import CovarianceConstraint
    from fairdash.methods.fair_log_loss import FairLogLoss
    from fairdash.methods.fair_log_loss_cv import FairLogLossCV
    from fairdash.methods.hardt import HardtLogistic
    from fairdash.methods.logistic import Logistic
    from fairdash.methods.noisy_groups.dro import NoisyGroupsDRO
    from fairdash.methods.noisy_groups.estimators import (
        NoisyGroupsNaive,
        NoisyGroupsUnconstrained,
    )
    from fairdash.methods.noisy_groups.ideal import NoisyGroupsIdeal
    from fairdash.methods.noisy_groups.soft_method import NoisyGroupsSoft
    from fairdash.methods.reductions import GridReductions, Reductions
    from fairdash.methods.reweighing import Reweighing
    from fairdash.methods.road import ROAD
    from fairdash.methods.sensei import SenSeI
    from fairdash.methods.sensr import SenSR
    from fairdash.methods.unconstrained import Unconstrained

__all__ = [
    "BROAD",
    "CACHED_ROWS",
    "CATALOG",
    "CLP",
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
    "hold_multiplier",
    "n_multiplied_columns",
    "scorer_of",
    "training_device",
    "two_feature_networks",
    "two_feature_people",
]

_LAZY = {method.class_name: method.module for method in CATALOG.values()}
_LAZY["FairLogLossCV"] = "fairdash.methods.fair_log_loss_cv"
_LAZY["training_device"] = "fairdash.methods._stacks"
_LAZY["StackView"] = "fairdash.methods._training"


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
