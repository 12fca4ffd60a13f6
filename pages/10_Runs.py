"""Runs: what has been tried."""

from fairdash import ui
from fairdash.ui import data, runs

view = ui.page("Runs", "What has been tried?")
runs.note_old_link()
if not ui.store().runs():
    ui.empty(
        "No run yet",
        "Every training is kept here: open it again, or delete it.",
        {"Open a table": lambda: ui.open_page("pages/1_Data.py")},
    )
else:
    runs.run_list()
data.list_own_scores()
runs.import_bundle()
runs.kept_files()
ui.freeze_imports()
