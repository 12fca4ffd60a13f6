"""How pictures of a sweep are read, and the search for a model that keeps limits."""

import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash._metric_names import PARITY, WORST
from fairdash.audits import StoredSweep, choices, tables, trials
from fairdash.sweep import choose_certified
from fairdash.ui.selection import bound
from fairdash.ui.sweep.controls import Controls, go
from fairdash.ui.widgets.blocks import heading, more, problem, table_below
from fairdash.ui.widgets.uploads import POLICY_MB

_WORST_LIMIT = 0.15  # on the largest local gap, where none was chosen
_HOW = """
Every picture is of one setting; sliders, a click on a mark or a cell, and arrow keys on
the map choose it. **Play** runs a slider back and forth. Each number is of **test**
rows, a mean over seeds.

*Front*: a line for each value of the second axis goes through all values of the first.
Open marks are over the limit on **validation** rows. Pale ones, and thin numbers in the
map, have no change of accuracy or gap beyond chance (paired 95% intervals, all settings
at once). The ring is the chosen setting with its 95% intervals and its seeds.

*Local gaps*: grey is before, the plain model, and colour is with this setting. The grey
band is what chance alone would show. *Curves*: the band is the spread over seeds.

*Weights*: the share of a group's training rows by weight r. Below, 5, 25, 50, 75 and
95% of the weights, of cells with at least 20 rows.

A model that **accepts nearly all or none**, or is **not clearly better than guessing**
on validation rows, keeps no limit. It is grey in the map and not on the front:
its gaps say nothing.
"""


def front_table(sweep: StoredSweep, state: Controls) -> None:
    """Draw how to read the pictures, and the numbers of all settings."""
    result = sweep.result
    data = sweep.run.dataset_id
    across = state.pictured if state.pictured in plots.METRICS else WORST
    axes = (WORST if across == "accuracy" else across, "accuracy")

    def make() -> plots.Picture:
        return plots.plot_front(
            choices.front_points(sweep, axes, state.limit, metric=state.limited),
            axes=axes,
            limit=state.limit,
            limited=state.limited,
            n_seeds=result.n_seeds,
            own=choices.own_points(sweep, axes),
        )

    own_models = trials.own_models(sweep.store, data)
    # Of whatever changes the picture: it is drawn once for each.
    key = [
        "front",
        *(model.contents for model in own_models),
        axes,
        state.limit,
        state.limited,
    ]
    picture = sweep.once(make, *key)
    trained = trials.trained_on(sweep.store, data, sweep.run.spec.get("train_rows"))
    judged = result.ranking_words(state.limited)
    notes = [picture.caption, judged, trained]
    if own_models:
        notes.append(trials.OWN_NOTE)
    heading(picture.headline)
    st.markdown(_HOW)
    st.caption(plain(" ".join(filter(None, notes))))
    table_below(picture.table)


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
        max_upload_size=POLICY_MB,
        key="certified policy",
    )
    if sent is not None:
        return tables.Policy.parse(sent.getvalue(), sent.name).certifiable()
    limits = {PARITY: di, WORST: worst}
    return {name: value for name, value in limits.items() if 0 < value < 1}


def _limit(label: str, field: str, default: float) -> float:
    limit: float = st.number_input(
        label,
        0.0,
        1.0,
        step=0.01,
        **bound(
            field,
            default,
            shown=lambda value: min(max(value, 0.0), 1.0),
            by_value=True,
        ),
    )
    return limit
