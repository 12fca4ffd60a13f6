"""What is shown first of a table, computed once and kept with it."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "FEW_VALUES",
    "STEPS",
    "TASK",
    "UNCHECKED",
    "Overview",
    "few_valued_columns",
    "overview_apart",
    "overview_of",
    "overview_version",
    "read_overview",
]

if TYPE_CHECKING:
    from fairdash.datasets.overviews.apart import TASK, overview_apart
    from fairdash.datasets.overviews.overview import (
        FEW_VALUES,
        STEPS,
        UNCHECKED,
        Overview,
        few_valued_columns,
        overview_of,
        overview_version,
        read_overview,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
