"""What is taken away of a run: a report, and what reproduces it elsewhere."""

from fairdash._lazy import load

load("jinja2")


from fairdash.reports._blocks import blocks_of
from fairdash.reports._facts import portable_spec
from fairdash.reports._packs import PackName, adverse_pack, ll144_pack, pack
from fairdash.reports._report import Report, report, score_report
from fairdash.reports._shown import show
from fairdash.reports._small_groups import SMALLEST_GROUP
