"""What is wrong, doubtful or worth knowing about a table and its roles."""

from fairdash.datasets.checks.leakage import rank_proxies
from fairdash.datasets.checks.table import check_subgroups, check_table, join_checks

__all__ = ["check_subgroups", "check_table", "join_checks", "rank_proxies"]
