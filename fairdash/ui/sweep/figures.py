"""The figures of a sweep, and the search for a model that keeps limits for certain."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import StoredSweep, choices, tables, trials
from fairdash.sweep import PARITY, choose_certified
from fairdash.ui.selection import bound
from fairdash.ui.sweep.controls import Controls, go, go_to_mark
from fairdash.ui.widgets.blocks import draw_picture, heading, more, problem, table_below

_WORST = "worst_1_di"
_WORST_LIMIT = 0.15  # on the largest local gap, where none was chosen
_FRONT_HOW = """
Each mark is a setting of a method, drawn where its **test** rows put it. Filled and
joined: no other setting of the method was both fairer and more accurate. This holds
among those that keep the limit on **validation** rows. Open: over the limit. Pale: no
change of accuracy or gap beyond chance (paired 95% intervals, all settings at once).

A model that **accepts nearly all or none**, or is **not clearly better than guessing**
on validation rows, keeps no limit and is not drawn: its gaps say nothing.
"""


def draw_front(sweep: StoredSweep, state: Controls) -> Callable[[], None]:
    """Draw the front with the chosen model ringed; a click chooses another.

    Returns what draws its table and how to read it.
    """
    result, data = sweep.result, sweep.run.dataset_id

    def make() -> tuple[pd.DataFrame, plots.Picture]:
        models = choices.front_points(
            sweep, state.axes, state.limit, metric=state.limited
        )
        picture = plots.plot_front(
            models,
            axes=state.axes,
            limit=state.limit,
            limited=state.limited,
            n_seeds=result.n_seeds,
            chance=sweep.chance() if state.axes[0] == _WORST else float("nan"),
            own=choices.own_points(sweep, state.axes),
        )
        return models[~models["constant"]], picture

    own = trials.own_models(sweep.store, data)
    contents = (model.contents for model in own)
    drawn, picture = sweep.once(make, "front", *contents, state.axes, state.limit)
    trained = trials.trained_on(sweep.store, data, sweep.run.spec.get("train_rows"))
    key = f"{sweep.run.id} front"
    draw_picture(picture, key=key, on_select=lambda: go_to_mark(sweep, drawn))

    def how() -> None:
        judged = result.ranking_words(state.axes[0])
        notes = [picture.caption, judged, trained, trials.OWN_NOTE * bool(own)]
        heading(picture.headline)
        st.markdown(_FRONT_HOW)
        st.caption(plain(" ".join(filter(None, notes))))
        table_below(picture.table)

    return how


def certify(sweep: StoredSweep, state: Controls) -> None:
    """Draw the model that keeps all limits for certain, and lead to it."""
    place = more(
        "Certify", icon=":material/verified:", key="certify", on_change="rerun"
    )
    if not place.open:
        return  # a certificate of hundreds of models takes seconds
    with place:
        try:
            testable = _asked_limits(state)
            if not testable:
                st.markdown("A limit between 0 and 1 can be certified.")
                return
            choice = sweep.once(
                lambda: choose_certified(sweep, limits=testable),
                "certified",
                *testable.items(),
            )
        except ValueError as error:
            problem("Nothing can be certified", error)
            return
        st.markdown(plain(choices.certified_words(choice, testable)))
        st.caption(
            "The confidence is that of one question: each further limit tried on the "
            "same test rows weakens it."
        )
        if choice.model is not None:
            st.button("Show it", on_click=go, args=(sweep, int(choice.model)))


def _asked_limits(state: Controls) -> dict[str, float]:
    di = _limit("Gap at most", "most_di", state.limit)
    worst = _limit("Largest local gap at most", "most_worst", _WORST_LIMIT)
    sent = st.file_uploader(
        "In their place: the limits of a policy (YAML)",
        type=["yaml", "yml"],
        max_upload_size=1,
        key="certified policy",
    )
    if sent is not None:
        return tables.Policy.parse(sent.getvalue(), sent.name).certifiable()
    limits = {PARITY: di, _WORST: worst}
    return {name: value for name, value in limits.items() if 0 < value < 1}


def _limit(label: str, field: str, default: float) -> float:
    limit: float = st.number_input(
        label,
        0.0,
        1.0,
        step=0.01,
        **bound(field, default, shown=lambda value: min(max(value, 0.0), 1.0)),
    )
    return limit
