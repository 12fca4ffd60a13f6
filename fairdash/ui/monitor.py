"""The page of monitors: pick one, look at its batches, run it."""

import streamlit as st

from fairdash import ui
from fairdash._escaping import visible
from fairdash.audits import tables


def watches() -> dict[str, tables.Watch]:
    """Return all monitors of the store by name, in the order of their names.

    One that cannot be opened is named with the reason.
    """
    by_name = {}
    for text in ui.store().monitors():
        name = tables.stored_name(text)
        try:
            by_name[name] = tables.Watch.of_json(text)
        except ValueError as error:
            ui.problem(f"The monitor {name} cannot be opened", error, {})
    return dict(sorted(by_name.items()))


def pick_watch(by_name: dict[str, tables.Watch]) -> tables.Watch:
    """Draw the choice of a monitor, if there are several, and the button to run it."""
    names = list(by_name)
    name = names[0]
    if len(names) > 1:
        name = st.selectbox(
            "Monitor", names, format_func=visible, label_visibility="collapsed"
        )
    watch = by_name[name]
    if st.button("Look at new batches", key="run monitor"):
        try:
            watch = watch.run()
        except (ValueError, OSError) as error:
            ui.problem("The batches were not audited", error, {})
        else:
            ui.store().keep_monitor(name, watch.to_json())
    return watch
