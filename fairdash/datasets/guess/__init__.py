"""A first guess of what the columns of a table mean."""

from fairdash.datasets.guess.features import features_after, left_out_reasons
from fairdash.datasets.guess.meaning import guess_meaning
from fairdash.datasets.guess.roles import guess_roles

__all__ = ["features_after", "guess_meaning", "guess_roles", "left_out_reasons"]
