"""The figures of a finished sweep: front, map, the chosen model, what τ does."""

import streamlit as st

from fairdash import plots
from fairdash.methods import CATALOG
from fairdash.results import PARITY, TAU, WEIGHT, Sweep, trained_on
from fairdash.store import RunRecord
from fairdash.ui.sweep.controls import Controls, go_to_cell, go_to_mark
from fairdash.ui.sweep.inside import chance_of, local_tables, ratio_by_tau
from fairdash.ui.sweep.point import labels
from fairdash.ui.widgets.blocks import decimals, figure
from fairdash.ui.widgets.state import store

_FRONT_HOW = """
Each mark is a setting of a method, drawn where its **test** rows put it. Filled and
joined: no other setting of the same method was both fairer and more accurate on the
**validation** rows, among those that keep the DI limit there. Open: over the limit.

The best of many models on the same rows looks better than it is. *As in the paper*
judges on the test rows instead and flatters the method with the most settings. The
**knee** is where a front bends most: beyond it a little more of one costs much of the
other.
"""
_GRID_HOW = """
The mean over seeds of a metric for every λ and τ. The line divides the settings that
keep the DI limit on validation rows from those that do not. Click a cell to move there.
"""
_BY_TAU_HOW = """
Worst-1-DI of every setting and seed, averaged within quarters of the λ axis, as in
Figure 4 of the ROAD paper. Bars: ± 1 standard deviation over the models of a quarter.
"""
_RATIO_HOW = """
The weights *r* of the training rows. Small τ lets them differ: a few rows count for
much. Large τ keeps them near 1, and ROAD becomes plain adversarial debiasing.
"""
_MAPS = {"worst_1_di": "Worst-1-DI", "accuracy": "Accuracy", PARITY: "DI"}


def draw_front(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Draw the front with the chosen model ringed; a click chooses another."""
    models = sweep.points(asked.axes, asked.limit, asked.judge, single=asked.single)
    runs = sweep.single_runs(asked.axes)
    if asked.single:
        runs = runs.iloc[:0]
    on_test = asked.judge == "test"
    drawn = "Single runs" if asked.single else "One seed"
    if sweep.n_seeds > 1 and not asked.single:
        drawn = f"Means of {sweep.n_seeds} seeds with ± 1 sd, dots: single runs"
    judged = "chosen on the test rows drawn, as in the paper"
    figure(
        plots.plot_front(
            models,
            runs,
            axes=asked.axes,
            chance=chance_of(sweep, run)
            if asked.axes[0] == "worst_1_di"
            else float("nan"),
        ),
        finding=plots.front_finding(models, asked.limit),
        caption=f"{drawn}, on test rows. Filled: fronts "
        f"{judged if on_test else 'chosen on validation rows'}. Open: over the limit. "
        f"{trained_on(store(), run.dataset_id, run.spec.get('train_rows'))}".rstrip(),
        alt=plots.describe_front(models, asked.axes),
        how=_FRONT_HOW,
        table=models.drop(columns=["colour_role", "line"]),
        key=f"{run.id} front",
        on_select=None if asked.single else lambda: go_to_mark(sweep, run),
    )


def draw_grid(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Draw a metric over λ and τ; a click chooses a cell."""
    key = f"{run.id} map"
    metric = st.session_state.get(key, "worst_1_di")

    def choose_metric() -> None:
        st.segmented_control(
            "Metric",
            list(_MAPS),
            format_func=_MAPS.__getitem__,
            default="worst_1_di",
            required=True,
            label_visibility="collapsed",
            key=key,
            persist_state="session",
        )

    seeds = "one seed" if sweep.n_seeds == 1 else f"mean of {sweep.n_seeds} seeds"
    table = sweep.grid(asked.method, asked.others, metric, asked.limit)
    figure(
        plots.plot_grid(table, metric=metric),
        finding=plots.grid_finding(table, metric),
        caption=f"{CATALOG[asked.method].label}, {seeds}, test rows. "
        "Line: the DI limit on validation rows. Click a cell to move there.",
        alt=plots.describe_grid(table, metric),
        how=_GRID_HOW,
        table=table,
        table_config=decimals(table),
        key=f"{run.id} grid",
        control=choose_metric,
        on_select=lambda: go_to_cell(sweep, table, run),
    )


def draw_table(asked: Controls, run: RunRecord) -> None:
    """Offer local DI of the chosen setting as a table."""
    tables = local_tables(run, asked.method)
    table = tables[tables["model"] == asked.place].drop(columns=["model", "label"])
    with st.expander("Table", type="compact", icon=":material/table_rows:"):
        st.dataframe(
            table,
            hide_index=True,
            column_config=decimals(table),
            placeholder="–",
        )


def draw_along_tau(sweep: Sweep, asked: Controls, run: RunRecord) -> None:
    """Draw what τ does: to Worst-1-DI by λ, and to the weights r."""
    method, others = asked.method, asked.others
    if not {WEIGHT, TAU} <= sweep.axes(method).keys():
        return
    table = sweep.by_tau(method, others, "worst_1_di")
    held = (f"{name} {labels([value])[0]}" for name, value in others.items())
    model = ", ".join([CATALOG[method].label, *held])
    left, right = st.columns(2, gap="medium")
    with left:
        figure(
            plots.plot_by_tau(table, metric="worst_1_di"),
            finding=plots.by_tau_finding(table, "worst_1_di"),
            caption=f"{model}, test rows; means ± 1 sd by λ.",
            alt=f"Worst-1-DI against τ for {len(set(table['part']))} ranges of λ.",
            how=_BY_TAU_HOW,
            table=table,
            key=f"{run.id} by tau",
        )
    ratio = ratio_by_tau(run.id, method, others)
    if ratio is None:
        return
    largest = sweep.axes(method)[WEIGHT][-1]
    with right:
        figure(
            plots.plot_ratio_by_tau(ratio.edges, ratio.density),
            finding=plots.ratio_by_tau_finding(ratio.spread),
            caption=f"r of the training rows at λ {labels([largest])[0]}, one seed.",
            alt=f"Density of r at {len(ratio.density)} values of τ.",
            how=_RATIO_HOW,
            key=f"{run.id} r by tau",
        )
