"""A first guess of what the columns of a table mean."""

from fairdash.datasets.guess.features import features_after, left_out_reasons
from fairdash.datasets.guess.ranking import Candidate
from fairdash.datasets.guess.roles import (
    RoleGuess,
    guess_groups,
    guess_positive,
    guess_rest,
    guess_roles,
    rank_roles,
)
from fairdash.datasets.guess.words import guess_meaning

__all__ = [
    "Candidate",
    "RoleGuess",
    "features_after",
    "guess_groups",
    "guess_meaning",
    "guess_positive",
    "guess_rest",
    "guess_roles",
    "left_out_reasons",
    "rank_roles",
]
