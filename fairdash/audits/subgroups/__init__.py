"""Search of subgroups: conditions, search, chance, list."""

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
    from fairdash.audits.subgroups.conditions import Condition, as_subgroups
    from fairdash.audits.subgroups.facts import FoundSubgroups, search_model
    from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
