"""Limits: whether a table keeps the limits of a policy."""

from fairdash import ui
from fairdash.ui import data, limits, pages

view = ui.page(pages.LIMITS)
if view.data is None:
    ui.stop_empty(
        "No table yet",
        "A policy holds the decisions or scores of a table against limits.",
        data.ways_to_a_table(pages.LIMITS),
    )
page = ui.result_page("limits")
with page.controls:
    policy = limits.ask_policy(view.data)
checked = policy and limits.judge(view.data, policy)
if checked:
    page.show(checked.answer())
    with page.tray:
        limits.show_remarks(checked)
    with view.export():
        limits.offer_packs(view.data, policy)
    page.evidence()
ui.freeze_imports()
