"""What is wrong, doubtful or worth knowing about a table and its roles."""

from fairdash.datasets.checks.columns import (
    KIND_NAMES,
    column_facts,
    column_table,
    edited_roles,
)
from fairdash.datasets.checks.leakage import rank_proxies
from fairdash.datasets.checks.table import (
    check_subgroups,
    check_table,
    join_checks,
    readable_checks,
)

__all__ = [
    "KIND_NAMES",
    "check_subgroups",
    "check_table",
    "column_facts",
    "column_table",
    "edited_roles",
    "join_checks",
    "rank_proxies",
    "readable_checks",
]
