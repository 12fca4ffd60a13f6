"""Networks without a fairness term, and with an adversary that guesses the group."""

from fairdash.methods.adversarial.broad import BROAD
from fairdash.methods.adversarial.fad import FAD
from fairdash.methods.adversarial.road import ROAD
from fairdash.methods.adversarial.unconstrained import Unconstrained, WideNetwork
from fairdash.methods.adversarial.zhang import AdversarialDebiasing

__all__ = [
    "BROAD",
    "FAD",
    "ROAD",
    "AdversarialDebiasing",
    "Unconstrained",
    "WideNetwork",
]
