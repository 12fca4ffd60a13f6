"""The model in question on a page: that of its address."""

from collections.abc import Sequence

from fairdash.audits import Setting, question
from fairdash.ui.selection import SharedFields
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.state import store


def model_in_question(
    models: Sequence[Setting], run_id: str | None
) -> question.ModelInQuestion:
    """Return the model of ``models`` that the address names, else the opening one.

    An address that names no model may name those pinned: then it is the last of them.
    """
    chosen = SharedFields.here()
    ids = {model.id for model in models}
    pinned = [name for name in chosen.models if name in ids]
    name = None
    if chosen.model in ids:
        name = chosen.model
    elif pinned:
        name = pinned[-1]
    return question.ModelInQuestion.of(
        store(), run_id, models, name=name, seed=chosen.seed, rule=chosen_rule()
    )
