"""Checks: errors, doubts and facts about a table and its roles."""

from typing import TYPE_CHECKING

from fairdash._lazy import lazy

__all__ = ["Check", "CheckNote", "Examined", "add", "checks"]

if TYPE_CHECKING:
    from fairdash.datasets.checks.catalog import Check, CheckNote, add, checks
    from fairdash.datasets.checks.examined import Examined
else:
    __getattr__, __dir__ = lazy(__name__, __file__)
