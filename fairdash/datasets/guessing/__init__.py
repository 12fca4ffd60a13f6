"""A first guess of what the columns of a table mean."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "Candidate",
    "RoleGuess",
    "chosen_of",
    "groups_of",
    "guess_classes",
    "guess_features",
    "guess_groups",
    "guess_meaning",
    "guess_positive",
    "guess_rest",
    "guess_score",
    "more_roles",
    "rank_roles",
    "with_groups_of",
    "zero_one_columns",
]

if TYPE_CHECKING:
    from fairdash.datasets.guessing.features import guess_features
    from fairdash.datasets.guessing.groups import chosen_of, groups_of, guess_groups
    from fairdash.datasets.guessing.offers import more_roles
    from fairdash.datasets.guessing.positive import guess_positive
    from fairdash.datasets.guessing.ranking import Candidate
    from fairdash.datasets.guessing.roles import RoleGuess, guess_rest, rank_roles
    from fairdash.datasets.guessing.scores import guess_classes, guess_score
    from fairdash.datasets.guessing.several import with_groups_of, zero_one_columns
    from fairdash.datasets.guessing.words import guess_meaning
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
