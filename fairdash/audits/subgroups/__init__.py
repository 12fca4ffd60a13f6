"""Search of subgroups: conditions, counts, statistic, search, chance, list."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

if TYPE_CHECKING:
    from fairdash.audits.subgroups.counts import Condition, as_subgroups
    from fairdash.audits.subgroups.facts import (
        FoundSubgroups,
        refinements,
        search_model,
    )
    from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
    from fairdash.audits.subgroups.guarantees import (
        Guarantee,
        certified_model,
        guarantee,
        offered,
        rows_inside,
        search_for_guarantee,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
