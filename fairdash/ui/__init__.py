"""The only Streamlit code of the package: parts of pages, and a folder a page."""

from fairdash._wording import (
    UNDEFINED,
    Kpi,
    ago,
    change,
    count,
    duration,
    interval,
    number,
    percent,
    plain,
    plural,
    points,
    time_left,
)
from fairdash.results import reference_of
from fairdash.ui.widgets.blocks import (
    context,
    controls,
    decimals,
    empty,
    figure,
    form_beside,
    heading,
    kpi_row,
    more,
    problem,
    verdict,
)
from fairdash.ui.widgets.downloads import table_download
from fairdash.ui.widgets.frame import View, exists, open_page, page
from fairdash.ui.widgets.pick_models import (
    by_interest,
    known_models,
    offer_missing_seeds,
    pick_k,
    pick_models,
    pick_seed,
)
from fairdash.ui.widgets.score_source import post_sources, score_columns, scored
from fairdash.ui.widgets.score_upload import upload_scores, uploads
from fairdash.ui.widgets.start_runs import (
    LARGE,
    audit_note,
    keep_dataset,
    start_audit,
    start_training,
    train_rows_input,
)
from fairdash.ui.widgets.state import freeze_imports, store
from fairdash.ui.widgets.subgroup_form import subgroup_form
from fairdash.ui.widgets.watch import follow

__all__ = [
    "LARGE",
    "UNDEFINED",
    "Kpi",
    "View",
    "ago",
    "audit_note",
    "by_interest",
    "change",
    "context",
    "controls",
    "count",
    "decimals",
    "duration",
    "empty",
    "exists",
    "figure",
    "follow",
    "form_beside",
    "freeze_imports",
    "heading",
    "interval",
    "keep_dataset",
    "known_models",
    "kpi_row",
    "more",
    "number",
    "offer_missing_seeds",
    "open_page",
    "page",
    "percent",
    "pick_k",
    "pick_models",
    "pick_seed",
    "plain",
    "plural",
    "points",
    "post_sources",
    "problem",
    "reference_of",
    "score_columns",
    "scored",
    "start_audit",
    "start_training",
    "store",
    "subgroup_form",
    "table_download",
    "time_left",
    "train_rows_input",
    "upload_scores",
    "uploads",
    "verdict",
]
