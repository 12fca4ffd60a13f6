"""Monitor: whether a deployed model keeps its limits, batch by batch."""

import streamlit as st

from fairdash import ui
from fairdash.ui import monitor, pages

view = ui.page(pages.MONITOR)
watches = monitor.watches()
if not watches:
    ui.stop_empty(
        "No monitor yet",
        "A monitor audits each new batch of a deployed model's decisions. Whoever runs "
        "the app adds one on the command line: `fairdash monitor add`.",
        {},
    )
page = ui.result_page("monitor")
with page.controls:
    watch = monitor.pick_watch(watches)
if watch.batches:
    page.show(watch.answer())
    page.evidence()
else:
    st.caption("No batch was audited yet.")
ui.freeze_imports()
