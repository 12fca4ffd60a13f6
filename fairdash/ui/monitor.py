"""The page of monitors: pick one, look at its batches, run it."""

import streamlit as st

from fairdash import ui
from fairdash.audits import Watch


def watches() -> dict[str, Watch]:
    """Return all monitors of the store by name."""
    found = [Watch.of_json(text) for text in ui.store().monitors()]
    return {
        one.monitor.name: one for one in sorted(found, key=lambda w: w.monitor.name)
    }


def pick_watch(known: dict[str, Watch]) -> Watch:
    """Draw the choice of a monitor, if there are several."""
    names = list(known)
    if len(names) == 1:
        return known[names[0]]
    return known[st.selectbox("Monitor", names, format_func=ui.plain)]


def show_watch(watch: Watch) -> None:
    """Draw the series of a monitor, and the button that looks at new batches."""
    name = watch.monitor.name
    if st.button("Look at new batches", key="run monitor"):
        try:
            watch = watch.run()
        except (ValueError, OSError) as error:
            ui.problem("The batches were not audited", error, {})
            return
        ui.store().keep_monitor(name, watch.to_json())
    if not watch.batches:
        st.caption("No batch was audited yet.")
        return
    ui.show_answer(watch.answer(), "monitor")
