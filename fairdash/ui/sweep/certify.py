"""Find a model, certified: what is promised inside, which thresholds are tried."""

from collections.abc import Mapping

import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import count
from fairdash.audits import (
    Guarantee,
    StoredSweep,
    both_parts,
    guarantee,
    offered,
    search_for_guarantee,
)
from fairdash.ui.selection import bound, selection
from fairdash.ui.widgets.blocks import download, problem, show_table

_INSIDE = {"named": "Named", "found": "Found by a search"}
_CUTS = {"fixed": "0.5", "shared": "One for all", "by_group": "One per group"}


def certify(sweep: StoredSweep, limits: Mapping[str, float]) -> int | None:
    """Draw what a guarantee is asked for, and what it says; the setting it chose."""
    testable = {name: value for name, value in limits.items() if 0 < value < 1}
    if not testable:
        st.markdown("A limit between 0 and 1 can be certified.")
        return None
    how = selection().guarantee()
    try:
        if "worst_1_di" in testable:
            _pick_inside()
            if how["inside"] is not None:
                how["inside"] = _pick_found(sweep)
        st.segmented_control(
            "Score above which is accepted",
            required=True,
            help="Other thresholds are tried with every model, chosen on validation "
            "rows. One per group closes a part of the gap between the groups' rates, "
            "and decides by the group: that may not be allowed.",
            **bound("cut", "fixed", named=_CUTS),
        )
        told = sweep.once(
            lambda: guarantee(sweep, testable, **how),
            "guarantee",
            *testable.items(),
            *how.values(),
        )
    except ValueError as error:
        problem("Nothing can be certified", error)
        return None
    st.markdown(plain(told.words))
    st.caption(
        "The confidence is that of one question: each further limit, threshold or "
        "subgroup tried on the same test rows weakens it."
    )
    if told.place is not None:
        _draw(sweep, told)
    return told.place


def _pick_inside() -> None:
    """Draw the choice between named and found subgroups."""
    st.segmented_control(
        "Subgroups in which the gap is limited",
        required=True,
        help="Named are those of the run. A search looks at validation rows only.",
        **bound("inside", "named", named=_INSIDE),
    )


def _pick_found(sweep: StoredSweep) -> tuple[str, ...]:
    """Draw the choice among found subgroups, and say on which rows they were found."""
    with st.spinner("Searching validation rows, then shuffling groups 199 times…"):
        found = search_for_guarantee(sweep)
    names = list(found.table["subgroup"])
    chosen = st.multiselect(
        "Inside",
        names,
        **bound("promised", offered(found), among=names, shown=list, meant=tuple),
    )
    n_test = len(sweep.first_rows("test").where)
    beyond = len(found.beyond)
    st.caption(
        f"Found on the {count(found.n_rows)} validation rows of seed {found.seed}, in "
        f"what {plain(found.label)} decides, the most accurate there: {beyond} of "
        f"{len(names)} listed have a gap beyond chance. Tested on the {count(n_test)} "
        "test rows of that seed, which the search did not see."
    )
    return tuple(chosen)


def _draw(sweep: StoredSweep, told: Guarantee) -> None:
    """Draw what both parts say of the chosen model."""
    model, named = told.choice.model, selection().inside != "found"
    place = model.place
    if model.plain and named:
        st.markdown(both_parts(sweep.result, place))
        return
    st.markdown(f"**{plain(sweep.result.labels[place])}**")
    show_table(told.chosen)
    if model.plain:
        return
    download(
        "Model with these thresholds (ZIP)",
        lambda: told.to_bytes(sweep),
        "fairdash-certified-model.zip",
        icon=":material/deployed_code:",
        type="secondary",
        width="content",
        help="It decides as was certified: `fairdash.load` and "
        "`fairdash model predict` "
        "apply model and thresholds to the table's own columns.",
    )
    st.caption("Elsewhere on these pages this setting decides at 0.5.")
