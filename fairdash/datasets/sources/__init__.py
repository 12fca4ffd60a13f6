"""Tables by address: a folder of Parquet files, an object store, a database."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = [
    "ANYBODY",
    "CountedSource",
    "check_configured",
    "count_choices",
    "count_listed",
    "count_source",
    "is_address",
    "listed_columns",
    "listed_sources",
    "shown",
    "source_columns",
    "table_file",
    "write_listed",
    "write_source",
]

if TYPE_CHECKING:
    from fairdash.datasets.sources.address import check_configured, is_address, shown
    from fairdash.datasets.sources.choices_counted import count_choices
    from fairdash.datasets.sources.counted import (
        CountedSource,
        count_source,
        source_columns,
    )
    from fairdash.datasets.sources.draw import table_file, write_source
    from fairdash.datasets.sources.listed import (
        ANYBODY,
        count_listed,
        listed_columns,
        listed_sources,
        write_listed,
    )
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
