"""Public tables: downloaded from their publishers, checked, with their roles."""

from fairdash.datasets.public.fetch import fetch, fetch_table
from fairdash.datasets.public.tables import PUBLIC, PublicTable, Variant

__all__ = ["PUBLIC", "PublicTable", "Variant", "fetch", "fetch_table"]
