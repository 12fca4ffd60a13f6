"""Statistics without store and sentences: arrays and tables in, results out.

Searches of subgroups, judgements of limits, sequential tests, impact ratios, shifts of
columns, noise of group records, and search among the people of a table.
`fairdash.audits` asks them.
"""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "JUDGEMENTS",
    "JUDGES",
    "NOISE_CONFIDENCE",
    "Bound",
    "Earlier",
    "Judge",
    "Judgement",
    "LimitSide",
    "Masses",
    "Noise",
    "Places",
    "Sample",
    "TableColumn",
    "cells_of",
    "column_shifts",
    "holm",
    "impact_ratios",
    "in_table",
    "judge",
    "judgement_rows",
    "most_assumed",
    "nearest_rows",
    "sequential",
    "standardised_difference",
    "subgroups",
    "surely_broken",
    "table_columns",
    "table_search",
    "worst",
]

if TYPE_CHECKING:
    from fairdash.analysis import impact_ratios, sequential, subgroups, table_search
    from fairdash.analysis.adjustment import holm
    from fairdash.analysis.breaks import surely_broken
    from fairdash.analysis.condensing import cells_of
    from fairdash.analysis.dealing import Sample
    from fairdash.analysis.earlier import Earlier, Masses
    from fairdash.analysis.judgement import (
        JUDGEMENTS,
        JUDGES,
        Bound,
        Judge,
        Judgement,
        LimitSide,
        judge,
        judgement_rows,
        worst,
    )
    from fairdash.analysis.mean_differences import standardised_difference
    from fairdash.analysis.noise import NOISE_CONFIDENCE, Noise, Places, most_assumed
    from fairdash.analysis.shifts import column_shifts
    from fairdash.analysis.table_search import (
        TableColumn,
        in_table,
        nearest_rows,
        table_columns,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
