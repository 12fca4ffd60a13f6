"""Classifiers with and without fairness constraints, and the catalog of them.

Nothing here loads torch before a network trains.
"""

from typing import TYPE_CHECKING, Any

from fairdash._lazy import lazy

__all__ = [
    "BROAD",
    "CACHED_ROWS",
    "CATALOG",
    "CLP",
    "COMPARABLE",
    "CUMA",
    "FAD",
    "ROAD",
    "AdversarialDebiasing",
    "Effort",
    "FairClassifier",
    "FairLogLoss",
    "HardtLogistic",
    "Method",
    "Network",
    "NoisyGroupsDRO",
    "NoisyGroupsIdeal",
    "NoisyGroupsNaive",
    "NoisyGroupsSoft",
    "Param",
    "RuleList",
    "Scorer",
    "SenSR",
    "SenSeI",
    "Unconstrained",
    "Unfilled",
    "Weighted",
    "fair_log_loss_multiplier",
    "is_mixture",
    "param",
    "scorer_of",
    "unfilled",
]

if TYPE_CHECKING:
    from fairdash.methods.adversarial.fad import CUMA, FAD
    from fairdash.methods.adversarial.road import BROAD, ROAD
    from fairdash.methods.adversarial.zhang import AdversarialDebiasing, Unconstrained
    from fairdash.methods.base import Weighted
    from fairdash.methods.catalog import CATALOG
    from fairdash.methods.classical.hardt import HardtLogistic
    from fairdash.methods.declare import Effort, Method, Param, param
    from fairdash.methods.individual.classifier import COMPARABLE
    from fairdash.methods.individual.sensei import CLP, SenSeI, SenSR
    from fairdash.methods.log_loss.fair_log_loss import FairLogLoss
    from fairdash.methods.log_loss.truncation import (
        fair_log_loss_multiplier,
    )
    from fairdash.methods.network import CACHED_ROWS
    from fairdash.methods.noisy_groups.dro import NoisyGroupsDRO
    from fairdash.methods.noisy_groups.estimators import NoisyGroupsNaive
    from fairdash.methods.noisy_groups.ideal import NoisyGroupsIdeal
    from fairdash.methods.noisy_groups.soft_method import NoisyGroupsSoft
    from fairdash.methods.own import FairClassifier
    from fairdash.methods.scorers import (
        Network,
        RuleList,
        Scorer,
        Unfilled,
        is_mixture,
        scorer_of,
        unfilled,
    )
else:
    _named, __dir__ = lazy(__name__, __file__)

    def __getattr__(name: str) -> Any:
        try:
            return _named(name)
        except AttributeError:
            if name.startswith("__"):
                raise
            from fairdash.methods.catalog import CATALOG

            for method in CATALOG.values():
                if method.class_name == name:
                    return method.estimator_class()
            raise
