"""The only Streamlit code of the package: page frame, blocks, polling, forms."""

from fairdash.ui._alike import fair_metric
from fairdash.ui._audit import keep_dataset, start_audit, train
from fairdash.ui._blocks import (
    Kpi,
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
    table_download,
)
from fairdash.ui._checks import check_panel, readable_checks
from fairdash.ui._columns import column_editor, preview
from fairdash.ui._delete import delete_button
from fairdash.ui._draft import (
    discard_edits,
    edited_checks,
    edited_dataset,
    edited_rates,
    keep_edits,
    prepared_table,
)
from fairdash.ui._format import (
    UNDEFINED,
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
from fairdash.ui._frame import View, exists, open_page, page
from fairdash.ui._home import first_look, latest_result, recent_runs
from fairdash.ui._individual import audits_of, model_of, people_of
from fairdash.ui._individual_demo import show_individual_demo
from fairdash.ui._individual_form import pick_individual
from fairdash.ui._individual_people import show_people, what_if
from fairdash.ui._individual_view import (
    audit_facts,
    individual_kpis,
    show_certificate,
    show_consistency,
    show_metric,
)
from fairdash.ui._local import LocalResult, local_result
from fairdash.ui._method_form import method_form
from fairdash.ui._models import (
    by_interest,
    known_models,
    of_seed,
    pick_k,
    pick_models,
    pick_seed,
    reference_of,
)
from fairdash.ui._noisy_blocks import show_certificates, show_noise, show_study
from fairdash.ui._noisy_form import pick_noise
from fairdash.ui._noisy_rows import certifiable
from fairdash.ui._noisy_study import study_table
from fairdash.ui._noisy_view import noisy_facts
from fairdash.ui._poll import follow
from fairdash.ui._post_apply import apply_to_file
from fairdash.ui._post_bounds import post_bounds
from fairdash.ui._post_form import (
    flips_without_outcome,
    pick_post,
    post_downloads,
    post_kpis,
    too_small,
)
from fairdash.ui._post_local import local_before_after
from fairdash.ui._post_ramp import live_setting, solve
from fairdash.ui._post_source import post_sources, score_columns, scored
from fairdash.ui._post_tables import others, ramp_curve
from fairdash.ui._post_upload import upload_scores, uploads
from fairdash.ui._public_data import public_cards
from fairdash.ui._results import (
    Setting,
    chance_worst,
    model_label,
    paired_changes,
    settings,
    test_table,
)
from fairdash.ui._roles_form import roles_form
from fairdash.ui._run_view import (
    asked,
    estimate,
    export_run,
    show_run,
    training_facts,
)
from fairdash.ui._runs import run_list
from fairdash.ui._sizes import show_sizes
from fairdash.ui._state import settle, store
from fairdash.ui._subgroup_form import subgroup_form
from fairdash.ui._summary import (
    BaseRates,
    base_rate_kpis,
    base_rates,
    not_estimable,
)
from fairdash.ui._sweep import is_sweep
from fairdash.ui._sweep_form import sweep_form
from fairdash.ui._sweep_growing import show_growing_sweep
from fairdash.ui._sweep_page import show_finished_sweep, sweep_facts
from fairdash.ui._table import (
    OpenTable,
    add_sample,
    open_table,
    sample_cards,
)
from fairdash.ui._train_rows import LARGE, audit_note, train_rows_input
from fairdash.ui._upload import choose_table, how_read, reread
from fairdash.ui._weights import find_top_rows, weight_kpis, weighted_models
from fairdash.ui._weights_form import (
    pick_epoch,
    pick_group,
    pick_share,
    pick_weighted,
)

__all__ = [
    "LARGE",
    "UNDEFINED",
    "BaseRates",
    "Kpi",
    "LocalResult",
    "OpenTable",
    "Setting",
    "View",
    "add_sample",
    "ago",
    "apply_to_file",
    "asked",
    "audit_facts",
    "audit_note",
    "audits_of",
    "base_rate_kpis",
    "base_rates",
    "by_interest",
    "certifiable",
    "chance_worst",
    "change",
    "check_panel",
    "choose_table",
    "column_editor",
    "context",
    "controls",
    "count",
    "decimals",
    "delete_button",
    "discard_edits",
    "duration",
    "edited_checks",
    "edited_dataset",
    "edited_rates",
    "empty",
    "estimate",
    "exists",
    "export_run",
    "fair_metric",
    "figure",
    "find_top_rows",
    "first_look",
    "flips_without_outcome",
    "follow",
    "form_beside",
    "heading",
    "how_read",
    "individual_kpis",
    "interval",
    "is_sweep",
    "keep_dataset",
    "keep_edits",
    "known_models",
    "kpi_row",
    "latest_result",
    "live_setting",
    "local_before_after",
    "local_result",
    "method_form",
    "model_label",
    "model_of",
    "more",
    "noisy_facts",
    "not_estimable",
    "number",
    "of_seed",
    "open_page",
    "open_table",
    "others",
    "page",
    "paired_changes",
    "people_of",
    "percent",
    "pick_epoch",
    "pick_group",
    "pick_individual",
    "pick_k",
    "pick_models",
    "pick_noise",
    "pick_post",
    "pick_seed",
    "pick_share",
    "pick_weighted",
    "plain",
    "plural",
    "points",
    "post_bounds",
    "post_downloads",
    "post_kpis",
    "post_sources",
    "prepared_table",
    "preview",
    "problem",
    "public_cards",
    "ramp_curve",
    "readable_checks",
    "recent_runs",
    "reference_of",
    "reread",
    "roles_form",
    "run_list",
    "sample_cards",
    "score_columns",
    "scored",
    "settings",
    "settle",
    "show_certificate",
    "show_certificates",
    "show_consistency",
    "show_finished_sweep",
    "show_growing_sweep",
    "show_individual_demo",
    "show_metric",
    "show_noise",
    "show_people",
    "show_run",
    "show_sizes",
    "show_study",
    "solve",
    "start_audit",
    "store",
    "study_table",
    "subgroup_form",
    "sweep_facts",
    "sweep_form",
    "table_download",
    "test_table",
    "time_left",
    "too_small",
    "train",
    "train_rows_input",
    "training_facts",
    "upload_scores",
    "uploads",
    "weight_kpis",
    "weighted_models",
    "what_if",
]
