"""The only Streamlit code of the package: parts of pages, and a folder a page."""

from fairdash._lazy import load

load("streamlit")


from fairdash._escaping import plain
from fairdash._wording import count, number, plural
from fairdash.ui.widgets.blocks import (
    context,
    empty,
    figure,
    form_beside,
    heading,
    kpi_row,
    more,
    problem,
    show_table,
    table_download,
)
from fairdash.ui.widgets.frame import open_page, page, stop_empty
from fairdash.ui.widgets.pick_measure import (
    pick_measure,
)
from fairdash.ui.widgets.pick_models import (
    chosen_subgroups,
    known_models,
    pick_reference,
    pick_seed,
    subgroup_form,
)
from fairdash.ui.widgets.pick_rule import advise_rule, decided, pick_rule
from fairdash.ui.widgets.results import Evidence, result_page, show_answer
from fairdash.ui.widgets.runs import (
    follow,
    rows_to_train,
    start_audit,
    start_training,
)
from fairdash.ui.widgets.scores import (
    cannot_be_asked,
    post_sources,
    scored,
    what_margins_are,
)
from fairdash.ui.widgets.state import freeze_imports, store
from fairdash.ui.widgets.tray import pick_model, pick_models
