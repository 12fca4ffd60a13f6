"""What the Noisy groups page says of mean scores, beside that of decisions."""

import streamlit as st

from fairdash._wording import plain
from fairdash.audits import score_shifts, shift_table
from fairdash.ui.noisy_groups.form import Chosen, decisions_of
from fairdash.ui.widgets.blocks import heading

_HOW = """
How far the **mean score** of a true group is from that of its recorded group, on the
rows certified: found, and at most.

**Wasserstein** (Theorem 3 of the paper, appendix A.2): how far scores have to be moved,
on average, to turn the recorded group's into the true one's. It holds for the mean of
the score and of anything that changes no faster than the score, and needs true groups
that are known: simulated noise or a second column. **γ × range** needs the TV radius
alone. A decision jumps at its cut-off, so neither bounds a rate of decisions; the
certificates do.
"""


def show_scores(chosen: Chosen, dataset_id: str | None) -> None:
    """Draw the bounds of mean scores of the model, where true groups are known."""
    model, noise = chosen.model, chosen.noise
    if model is None or noise is None:
        return
    try:
        seeds = [decisions_of(one, dataset_id) for one in model.sources]
        shifts = score_shifts(seeds, noise)
    except ValueError as error:
        heading("How far mean scores can be", _HOW)
        st.caption(plain(error))
        return
    if shifts is None:
        return
    heading("How far mean scores can be", _HOW)
    st.dataframe(shift_table(shifts, chosen.rows.label), hide_index=True)
    st.caption(
        f"{plain(model.label)}, {model.rows}: mean score of the true group less that "
        "of the recorded one; found, and at most by either bound."
    )
