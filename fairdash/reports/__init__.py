"""What is taken away of a run: a report, and what reproduces it elsewhere."""

from fairdash.reports._report import SECTIONS, SMALLEST_GROUP, Report, report
from fairdash.reports._reproduce import portable_spec
