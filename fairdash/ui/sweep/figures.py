"""The figures of a sweep: front, map, what τ does; and the search for a model."""

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import (
    OWN_NOTE,
    StoredSweep,
    both_parts,
    differs_beyond_chance,
    nearest_limits,
    own_models,
    own_points,
    trained_on,
)
from fairdash.methods import CATALOG
from fairdash.metrics import gap_table
from fairdash.sweep import (
    PARITY,
)
from fairdash.ui.selection import Fields, bound
from fairdash.ui.sweep.certify import WORST_LIMIT, certify
from fairdash.ui.sweep.controls import (
    Controls,
    go_to_cell,
    go_to_mark,
    go_to_place,
)
from fairdash.ui.widgets.blocks import (
    draw_picture,
    figure,
    heading,
    more,
    table_below,
)
from fairdash.ui.widgets.pick_measure import (
    gaps_on,
)

_WORST = "worst_1_di"
_FRONT_HOW = """
Each mark is a setting of a method, drawn where its **test** rows put it. Filled and
joined: no other setting of the same method was both fairer and more accurate on the
**validation** rows, among those that keep the DI limit there. Open: over the limit.

The best of many models on the same rows looks better than it is. *As in the paper*
judges on the test rows instead and flatters the method with the most settings. A
**constant model** accepts all or none, or its balanced accuracy is within
noise of 0.5 on these rows: its gaps say nothing, so it is on no front and keeps no
limit.
"""
_GRID_HOW = """
The mean over seeds of a metric for every λ and τ. The line divides the settings that
keep the DI limit on validation rows from those that do not; a cross marks a constant
model. Pale: not above what a fair model reaches by chance. Click a cell to move there.
"""
_MAPS = {_WORST: "Worst-1-DI", "accuracy": "Accuracy", PARITY: "DI"}
_RULES = {
    "limits": "Most accurate",
    "certified": "Certified",
}


def draw_front(sweep: StoredSweep, state: Controls) -> Callable[[], None]:
    """Draw the front with the chosen model ringed; a click chooses another.

    Returns what draws its table and how to read it.
    """
    result = sweep.result

    def make() -> tuple[pd.DataFrame, plots.Picture]:
        models = result.points(state.axes, state.limit, state.judge)
        picture = plots.plot_front(
            models,
            result.single_runs(state.axes),
            axes=state.axes,
            limit=state.limit,
            judge=state.judge,
            constants=state.constants,
            n_seeds=result.n_seeds,
            chance=sweep.chance() if state.axes[0] == _WORST else float("nan"),
            own=own_points(sweep, state.axes, gaps_on(state.axes)),
        )
        return plots.drawn_models(models, constants=state.constants), picture.finished()

    own = own_models(sweep.store, sweep.run.dataset_id)
    drawn, picture = sweep.once(
        make,
        "front",
        *(model.contents for model in own),
        state.axes,
        state.limit,
        state.judge,
        state.constants,
    )
    run = sweep.run
    trained = trained_on(sweep.store, run.dataset_id, run.spec.get("train_rows"))
    key = f"{sweep.run.id} front"
    draw_picture(picture, key=key, on_select=lambda: go_to_mark(sweep, drawn))

    def how() -> None:
        notes = [picture.caption, result.seed_note(), trained, OWN_NOTE * bool(own)]
        heading(picture.headline)
        st.markdown(_FRONT_HOW)
        st.caption(plain(" ".join(filter(None, notes))))
        table_below(picture.table, picture.sent)

    return how


@dataclass(frozen=True)
class MapFields(Fields):
    """What the address says beside what every page knows."""

    # What the map over lambda and tau shows.
    map_metric: str | None = None


def draw_grid(sweep: StoredSweep, state: Controls) -> None:
    """Draw a metric over λ and τ; a click chooses a cell."""
    metric = MapFields.here().map_metric or _WORST
    metric = metric if metric in _MAPS else _WORST

    def choose_metric() -> None:
        st.segmented_control(
            "Metric",
            required=True,
            label_visibility="collapsed",
            **bound("map_metric", _WORST, named=_MAPS),
        )

    grid = sweep.grid_result
    seeds = "one seed" if grid.n_seeds == 1 else f"mean of {grid.n_seeds} seeds"
    asked = state.method, tuple(state.others.items()), metric, state.limit

    def make() -> tuple[pd.DataFrame, plots.Picture]:
        table = grid.grid(state.method, state.others, metric, state.limit)
        if metric == _WORST:
            table["quiet"] = [
                value <= sweep.chance(int(str(place)))
                for place, value in table["value"].items()
            ]
        able = table.index[~table["constant"]]
        unsure = differs_beyond_chance(sweep, [*map(int, able)], metric)
        return table, plots.plot_grid(table, metric=metric, unsure=unsure).finished()

    table, picture = sweep.once(make, "grid", *asked)
    figure(
        picture,
        caption=f"{CATALOG[state.method].label}, {seeds}, test rows. "
        "Line: the DI limit on validation rows. Click a cell to move there.",
        how=_GRID_HOW,
        key=f"{sweep.run.id} grid",
        control=choose_metric,
        on_select=lambda: go_to_cell(sweep, table),
    )


def draw_table(sweep: StoredSweep, state: Controls) -> None:
    """Offer local DI of the chosen setting as a table."""

    def of_place() -> pd.DataFrame:
        tables = gap_table(sweep.local(state.method), "selection_rate")
        return tables[tables["model"] == state.place].drop(columns="model")

    table = sweep.once(of_place, "local", state.place)
    table_below(table)


def find_model(sweep: StoredSweep, state: Controls) -> None:
    """Find a model on validation rows, and show what test rows say beside them."""
    result = sweep.result
    with more("Find a model", icon=":material/search:"):
        rule = st.segmented_control(
            "Chosen on validation rows",
            required=True,
            **bound("rule", "limits", named=_RULES),
        )
        di = _limit("DI at most", "most_di", state.limit)
        worst = _limit("Worst-1-DI at most", "most_worst", WORST_LIMIT)
        limits = {PARITY: di, _WORST: worst}
        if rule == "certified":
            place, none = certify(sweep, limits), ""
        else:
            place, none = sweep.once(
                lambda: (result.best(limits), nearest_limits(result, di, worst)),
                "best",
                di,
                worst,
            )
        if place is None:
            st.markdown(none)
            return
        if rule != "certified":
            st.markdown(both_parts(result, place))
        st.button("Show it", on_click=go_to_place, args=(sweep, place))


def _limit(label: str, field: str, default: float) -> float:
    """Draw the choice of the largest gap that a model may have."""
    limit: float = st.number_input(
        label,
        0.0,
        1.0,
        step=0.01,
        **bound(field, default, shown=lambda value: min(max(value, 0.0), 1.0)),
    )
    return limit
