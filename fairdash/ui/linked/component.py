"""The component of linked pictures: a summary in, the reader's choices out.

The browser holds the numbers of every setting. While a slider moves it draws all
pictures anew, without a question to the server, and tells it the setting on release.

Its data are bytes of compressed JSON, made once a sweep and a limit: of an object
Streamlit would write the JSON twice at every release. The setting that the server
stands at goes beside them, as a hidden text, so that the bytes never change: Streamlit
then sends a reference to what the browser has.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import streamlit as st

from fairdash.audits import StoredSweep, linked, trials
from fairdash.audits.trials import Memo
from fairdash.linked import (
    EVERY_PART,
    MEASURES,
    LinkedView,
    kept_data,
    script,
    styles,
)

_DATA = Memo(64)  # a sweep that grows is read anew every second


def draw_linked(
    sweep: StoredSweep,
    place: int,
    *,
    limit: float,
    limited: str,
    measure: str | None = None,
    shows: Sequence[str] = EVERY_PART,
    scale: float = 1.0,
    on_place: Callable[[int], None],
    on_subgroup: Callable[[str], None] | None = None,
    on_measure: Callable[[str], None] | None = None,
) -> None:
    """Draw the linked pictures of a sweep, at the setting of a place.

    Parameters
    ----------
    limit, limited : float, str
        The largest gap that is accepted, and which one it is on.
    measure : str, optional
        What map and curves show first, of `MEASURES`; see `linked.first_measure`.
    shows : sequence of str
        The pictures, of `EVERY_PART`.
    scale : float
        Of text and marks; above 1 the pictures stand in one row as high as the window.
    on_place, on_subgroup, on_measure : callable
        Called with the place of the setting, the name of a subgroup or the name of a
        measure that the reader chose.
    """
    key = f"{sweep.run.id} linked"

    def moved() -> None:
        chosen = st.session_state[key].get("place")
        if chosen is not None and 0 <= int(chosen) < len(sweep.ids):
            on_place(int(chosen))

    def opened() -> None:
        chosen = st.session_state[key].get("subgroup")
        names = linked.summary(sweep)["subgroups"]
        if on_subgroup and chosen is not None and 0 <= int(chosen) < len(names):
            on_subgroup(names[int(chosen)])

    def looked() -> None:
        chosen = st.session_state[key].get("measure")
        if on_measure and chosen in MEASURES:
            on_measure(chosen)

    opens = on_subgroup is not None
    view = LinkedView(
        limit, limited, measure, shows=tuple(shows), opens=opens, scale=scale
    )
    own_models = trials.own_models(sweep.store, sweep.run.dataset_id)
    with st.spinner("Summarising all settings, once…", show_time=True):
        data = _DATA(
            lambda: kept_data(sweep, view),
            sweep.store,
            sweep.run.id,
            sweep.run.over,
            *linked.follows_from(sweep),
            view,
            # Own scores may be added and deleted any time.
            *(model.contents for model in own_models),
        )
    st.html(f'<i class="fairdash-place" hidden>{place}</i>')
    _component()(
        data=data,
        key=key,
        on_place_change=moved,
        on_subgroup_change=opened,
        on_measure_change=looked,
    )


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fairdash.linked",
        html='<div class="linked"></div>',
        css=styles(),
        js=script(),
    )
