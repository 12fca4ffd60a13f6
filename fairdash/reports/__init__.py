"""Exports of a run: a report, and the files that reproduce it elsewhere."""

from fairdash._lazy import load

__all__ = [
    "SMALLEST_GROUP",
    "PackName",
    "Report",
    "adverse_pack",
    "blocks_of",
    "ll144_pack",
    "pack",
    "portable_spec",
    "report",
    "score_report",
    "show",
]

load("jinja2")


from fairdash.reports._blocks import blocks_of
from fairdash.reports._facts import portable_spec
from fairdash.reports._packs import PackName, adverse_pack, ll144_pack, pack
from fairdash.reports._report import Report, report, score_report
from fairdash.reports._shown import show
from fairdash.reports._small_groups import SMALLEST_GROUP
