"""Runs: what has been tried."""

from fairdash import ui
from fairdash.ui import data, pages, runs

view = ui.page(pages.RUNS)
runs.note_old_link()
if not ui.store().runs():
    ui.empty(
        "No run yet",
        "Every training is kept here: open it again, or delete it.",
        {"Open a table": lambda: ui.open_page(pages.DATA)},
    )
else:
    runs.run_list()
data.list_own_scores()
runs.import_bundle()
runs.kept_files()
ui.freeze_imports()
