"""The Data page: a table comes in, its columns get their roles."""

from fairdash.ui.data.computed import prepared_table
from fairdash.ui.data.draft import (
    delete_button,
    discard_edits,
    edited_checks,
    edited_dataset,
    edited_rates,
    edited_reversal,
    guess_notice,
    keep_edits,
    no_guess_notice,
    offer_roles,
)
from fairdash.ui.data.join_form import join_form
from fairdash.ui.data.review import check_panel, preview
from fairdash.ui.data.roles_form import Unchosen, roles_form
from fairdash.ui.data.rows_form import LiveCounts
from fairdash.ui.data.scores import bring_model, list_own_scores, open_scores
from fairdash.ui.data.several_form import pick_several
from fairdash.ui.data.source_audit import audit_source, audits_source
from fairdash.ui.data.table import (
    add_sample,
    can_train,
    keep_dataset,
    open_finished,
    open_table,
    sample_cards,
    stop_without_features,
    ways_to_a_table,
)
from fairdash.ui.data.upload import choose_table, how_read
from fairdash.ui.data.wide_form import wide_form

__all__ = [
    "LiveCounts",
    "Unchosen",
    "add_sample",
    "audit_source",
    "audits_source",
    "bring_model",
    "can_train",
    "check_panel",
    "choose_table",
    "delete_button",
    "discard_edits",
    "edited_checks",
    "edited_dataset",
    "edited_rates",
    "edited_reversal",
    "guess_notice",
    "how_read",
    "join_form",
    "keep_dataset",
    "keep_edits",
    "list_own_scores",
    "no_guess_notice",
    "offer_roles",
    "open_finished",
    "open_scores",
    "open_table",
    "pick_several",
    "prepared_table",
    "preview",
    "roles_form",
    "sample_cards",
    "stop_without_features",
    "ways_to_a_table",
    "wide_form",
]
