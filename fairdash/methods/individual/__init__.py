"""Networks that treat people who are alike under a fair metric alike."""

from fairdash.methods.individual.clp import CLP
from fairdash.methods.individual.sensei import SenSeI, SenSR

__all__ = ["CLP", "SenSR", "SenSeI"]
