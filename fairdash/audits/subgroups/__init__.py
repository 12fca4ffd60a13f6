"""Search of subgroups: conditions, search, chance, list."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.audits.subgroups.conditions import Condition, as_subgroups
    from fairdash.audits.subgroups.facts import FoundSubgroups, search_model
    from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
