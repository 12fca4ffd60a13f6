"""Subgroups that were found, as facts about a model."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "SEARCHED_MEASURES",
    "Condition",
    "FoundSubgroups",
    "as_subgroups",
    "find_subgroups",
    "search_model",
]

if TYPE_CHECKING:
    from fairdash.analysis.subgroups import (
        SEARCHED_MEASURES,
        Condition,
        as_subgroups,
        find_subgroups,
    )
    from fairdash.audits.subgroups.facts import FoundSubgroups, search_model
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
