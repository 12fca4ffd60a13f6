"""Home and Runs: what there is, and what can be done with it."""

from fairdash.ui.runs.home import first_look, latest_result, recent_runs
from fairdash.ui.runs.kept import kept_files
from fairdash.ui.runs.list import run_list
