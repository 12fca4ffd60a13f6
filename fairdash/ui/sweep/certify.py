"""Find a model, certified: within which limits."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from fairdash._escaping import plain
from fairdash.audits import StoredSweep, both_parts, certified_words
from fairdash.sweep import choose_certified
from fairdash.ui.selection import Fields
from fairdash.ui.widgets.blocks import problem

WORST_LIMIT = 0.15  # on Worst-1-DI, where none was chosen


@dataclass(frozen=True)
class Search(Fields):
    """How a model is found: by a rule, within limits."""

    rule: str | None = None
    most_di: float | None = None
    most_worst: float | None = None


def certify(sweep: StoredSweep, limits: Mapping[str, float]) -> int | None:
    """Draw what is guaranteed within limits; return the setting it chose."""
    testable = {name: value for name, value in limits.items() if 0 < value < 1}
    if not testable:
        st.markdown("A limit between 0 and 1 can be certified.")
        return None
    try:
        choice = sweep.once(
            lambda: choose_certified(sweep, limits=testable),
            "certified",
            *testable.items(),
        )
    except ValueError as error:
        problem("Nothing can be certified", error)
        return None
    st.markdown(plain(certified_words(choice, testable)))
    st.caption(
        "The confidence is that of one question: each further limit tried on the same "
        "test rows weakens it."
    )
    if choice.model is None:
        return None
    st.markdown(both_parts(sweep.result, choice.model))
    return int(choice.model)
