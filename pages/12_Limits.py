"""Limits: whether a table keeps the limits of a policy."""

from fairdash import ui
from fairdash.ui import data, limits

view = ui.page("Limits", "Does the table keep them?", pick="data")
if view.data is None:
    ui.stop_empty(
        "No table yet",
        "A policy holds the decisions or scores of a table against limits.",
        data.ways_to_a_table("pages/12_Limits.py"),
    )
policy = limits.ask_policy()
if policy is not None:
    limits.show_limits(view.data, policy)
ui.freeze_imports()
