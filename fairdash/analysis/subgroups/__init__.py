"""Search of subgroups: conditions, search, chance."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "SEARCHED_MEASURES",
    "Condition",
    "as_subgroups",
    "find_subgroups",
    "gaps_of_counts",
]

if TYPE_CHECKING:
    from fairdash.analysis.subgroups.conditions import Condition, as_subgroups
    from fairdash.analysis.subgroups.counted import gaps_of_counts
    from fairdash.analysis.subgroups.find import SEARCHED_MEASURES, find_subgroups
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
