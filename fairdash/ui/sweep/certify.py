"""Find a model, certified: which limits, which thresholds are tried."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import (
    Guarantee,
    StoredSweep,
    both_parts,
    guarantee,
)
from fairdash.sweep import THRESHOLDS
from fairdash.ui.selection import Fields, bound
from fairdash.ui.widgets.blocks import download, problem, show_table

WORST_LIMIT = 0.15  # on Worst-1-DI, where none was chosen
_CUTS = {"fixed": "0.5", "shared": "One for all", "by_group": "One per group"}


@dataclass(frozen=True)
class Search(Fields):
    """How a model is found: by a rule, within limits, and what a guarantee is about."""

    rule: str | None = None
    most_di: float | None = None
    most_worst: float | None = None
    # The thresholds tried, see `fairdash.sweep.candidate_table`.
    cut: str | None = None

    def guarantee(self) -> dict[str, Any]:
        """Return thresholds as `fairdash.audits.guarantee` takes them."""
        return {"thresholds": self.cut if self.cut in THRESHOLDS else "fixed"}


def certify(sweep: StoredSweep, limits: Mapping[str, float]) -> int | None:
    """Draw what a guarantee is asked for, and what it says; the setting it chose."""
    testable = {name: value for name, value in limits.items() if 0 < value < 1}
    if not testable:
        st.markdown("A limit between 0 and 1 can be certified.")
        return None
    how = Search.here().guarantee()
    try:
        st.segmented_control(
            "Score above which is accepted",
            required=True,
            help="Other thresholds are tried with every model, chosen on validation "
            "rows. One per group closes a part of the gap between the groups' rates, "
            "and decides by the group: that may not be allowed.",
            **bound("cut", "fixed", named=_CUTS),
        )
        promise = sweep.once(
            lambda: guarantee(sweep, testable, **how),
            "guarantee",
            *testable.items(),
            *how.values(),
        )
    except ValueError as error:
        problem("Nothing can be certified", error)
        return None
    st.markdown(plain(promise.words))
    st.caption(
        "The confidence is that of one question: each further limit or threshold "
        "tried on the same test rows weakens it."
    )
    if promise.place is not None:
        _draw(sweep, promise)
    return promise.place


def _draw(sweep: StoredSweep, promise: Guarantee) -> None:
    """Draw what both parts say of the chosen model."""
    model = promise.choice.model
    place = model.place
    if model.plain:
        st.markdown(both_parts(sweep.result, place))
        return
    st.markdown(f"**{plain(sweep.result.labels[place])}**")
    show_table(promise.chosen)
    download(
        "Model with these thresholds (ZIP)",
        lambda: promise.to_bytes(sweep),
        "fairdash-certified-model.zip",
        icon=":material/deployed_code:",
        type="secondary",
        width="content",
        help="It decides as was certified: `fairdash.load` and "
        "`fairdash model predict` "
        "apply model and thresholds to the table's own columns.",
    )
    st.caption("Elsewhere on these pages this setting decides at 0.5.")
