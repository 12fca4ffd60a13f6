"""What a reader may open: the cost of choosing."""

from typing import Any

import streamlit as st

from fairdash._escaping import plain
from fairdash.ui.postprocess.ramp import Choice, Ramp, choice_of
from fairdash.ui.selection import bound, selection
from fairdash.ui.widgets.blocks import (
    show_table,
)

_FURTHER = {
    "choosing": ("What choosing γ and ρ costs", "balance"),
}


def opened(name: str) -> Any:
    """Draw an expander; return it once it is open, so that nothing is done unasked."""
    label, icon = _FURTHER[name]

    def meant(now_open: bool) -> tuple[str, ...]:
        others = tuple(one for one in selection().opened if one != name)
        return (*others, name) if now_open else others

    tied = bound(
        "opened", False, shown=lambda names: name in names, meant=meant, key=name
    )
    place = st.expander(label, icon=f":material/{icon}:", **tied)
    return place if place.open else None


def cost_of_choosing(ramp: Ramp, choice: Choice, dataset_id: str) -> None:
    """Draw what folds choose, what that does on test rows, and all that was tried."""
    found, split = choice_of(ramp, choice, dataset_id), ramp.data.split
    st.markdown(plain(found.cost(split.calibration, split.test)))
    table = found.judged(split.calibration, split.test)
    show_table(table.assign(target_rate=table["target_rate"].map(str)))
    st.caption(
        f"Accuracy and DI of held-out fifths of {ramp.data.learned} rows, which "
        "choose; beside them those of test rows, which do not."
    )
