"""The only Streamlit code of the package: parts of pages, and a folder a page."""

from fairdash._lazy import load

__all__ = [
    "Evidence",
    "advise_rule",
    "chosen_subgroups",
    "context",
    "decided",
    "draw_picture",
    "draw_table",
    "empty",
    "end_page",
    "follow",
    "form_beside",
    "freeze_imports",
    "heading",
    "known_models",
    "more",
    "open_page",
    "page",
    "pick_measure",
    "pick_reference",
    "pick_rule",
    "pick_seed",
    "plain",
    "plural",
    "problem",
    "result_page",
    "rows_to_train",
    "scores",
    "start_audit",
    "start_training",
    "stop_empty",
    "store",
    "subgroup_form",
    "table_download",
    "tray",
]

load("streamlit")


from fairdash._escaping import plain
from fairdash._wording import plural
from fairdash.ui.widgets import scores, tray
from fairdash.ui.widgets.blocks import (
    context,
    draw_picture,
    draw_table,
    empty,
    form_beside,
    heading,
    more,
    problem,
    table_download,
)
from fairdash.ui.widgets.frame import open_page, page, stop_empty
from fairdash.ui.widgets.pick_measure import pick_measure
from fairdash.ui.widgets.pick_models import (
    chosen_subgroups,
    known_models,
    pick_reference,
    pick_seed,
    subgroup_form,
)
from fairdash.ui.widgets.pick_rule import advise_rule, decided, pick_rule
from fairdash.ui.widgets.results import Evidence, result_page
from fairdash.ui.widgets.runs import follow, rows_to_train, start_audit, start_training
from fairdash.ui.widgets.state import end_page, freeze_imports, store
