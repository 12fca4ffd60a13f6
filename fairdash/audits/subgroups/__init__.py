"""Search of subgroups: conditions, counts, statistic, search, chance, list."""

from fairdash.audits.subgroups.counts import Condition, as_subgroups
from fairdash.audits.subgroups.facts import (
    FoundSubgroups,
    refinements,
    search_model,
)
from fairdash.audits.subgroups.find import SEARCHED_MEASURES, find_subgroups
from fairdash.audits.subgroups.guarantee import (
    Guarantee,
    certified_model,
    guarantee,
    offered,
    rows_inside,
    search_for_guarantee,
)
