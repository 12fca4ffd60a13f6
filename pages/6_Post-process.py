"""Post-process: other decisions from the scores of a model that is already trained."""

import streamlit as st

from fairdash import plots, ui
from fairdash.ui import postprocess, train

HOW_RAMP = """
Bars are the scores of a group; the **solid** part is decided 1. The line is the
probability of deciding 1: 0 before the ramp, 1 after it, in between by lot. Each group
has its own start, so that all get the **target rate**.

**Ramp width (γ)**: how gradual. **Tolerance (ε)**: the gap of rates that is allowed.
Dotted: Hardt's rule, which draws lots between two thresholds of each group.
"""
HOW_TRADE = """
Left is fairer, up is more accurate. The line is the ramp over its tolerances, the ring
your setting. All methods learned on the same calibration rows; numbers are of test
rows, with 95% intervals.
"""
HOW_LOCAL = """
Local DI inside subgroups. The ramp equalises groups over all rows, not inside
subgroups. **Crossed** gives every group in every subgroup one rate; **covariance
control** gives the groups the same rate inside each subgroup, a different one in each.
"""

view = ui.page("Post-process", "Can thresholds mend it?", pick="run")
dataset = ui.store().dataset(view.data) if view.data else None
models = ui.known_models(view.data, view.run) if view.data else []
columns = ui.score_columns(view.data) if view.data else []
sources = ui.post_sources(models, columns, ui.uploads())
if not sources:
    ui.empty(
        "No scores yet",
        "Thresholds are learned on the scores of a model. A plain one trains in "
        "seconds; a column of probabilities in your table or a file of scores serves "
        "as well.",
        {"Train a model": lambda: ui.open_page("pages/2_Train.py", data=view.data)},
    )
    ui.upload_scores()
    ui.settle()
    st.stop()

subgroups = ui.store().dataset_record(view.data).subgroups if view.data else None


@st.fragment
def post_process():
    """Draw everything that follows the controls."""
    facts = st.container()
    source, crossed, target, center = postprocess.pick_post(sources, view.data)
    try:
        data = ui.scored(view.data, source, crossed)
    except ValueError as error:
        ui.problem("These groups cannot be corrected", error)
        return
    methods, hardt = postprocess.others(view.data, source, crossed)
    numbers = st.container()
    left, right = st.columns(2, gap="medium")
    with left:
        finding = st.container()
        setting = postprocess.live_setting(
            data, hardt, target, center, (view.data, source)
        )
    ramp = postprocess.solve(data, setting, center=center)
    with facts:
        ui.context(*ramp.facts(source.label))
    with numbers:
        ui.kpi_row(postprocess.post_kpis(ramp.outcome, ramp.flips))
    with finding:
        ui.heading(plots.ramp_finding(ramp.starts, setting["tolerance"]), HOW_RAMP)
    with left:
        st.caption("Calibration rows, redrawn while a slider moves; cards: test rows.")
        postprocess.post_downloads(ramp)
    with right:
        if source.has_outcome:
            curve = postprocess.ramp_curve(data, **setting, center=center)
            ui.figure(
                plots.plot_trade_off(methods, curve),
                finding=plots.trade_off_finding(ramp.outcome),
                caption=f"{ui.plural(len(ramp.h), 'test row')}, 95% Wilson and "
                "Newcombe intervals. Line: the ramp over tolerances.",
                alt=plots.describe_trade_off(methods, curve),
                how=HOW_TRADE,
                table=methods.drop(columns="kind"),
                key="trade off",
            )
        else:
            postprocess.flips_without_outcome(ramp)
    if dataset is not None and source.upload is None:
        cells, rows, left_out = postprocess.local_before_after(
            view.data, source, crossed, ramp.h, ramp.gamma, subgroups
        )
        ui.figure(
            plots.plot_local_di(cells, rows, groups=dataset.group_names),
            finding=plots.before_after_finding(cells),
            caption="Expected local DI by subgroup on test rows, 95% Newcombe "
            f"intervals. Dashed: global DI.{postprocess.too_small(left_out)}",
            alt=plots.describe_local_di(cells, rows),
            how=HOW_LOCAL,
            table=cells,
            key="local",
        )
    with st.expander("Apply to a new file", icon=":material/upload_file:"):
        postprocess.apply_to_file(ramp, source, view.run)
    with st.expander("What theory promises", icon=":material/calculate:"):
        postprocess.post_bounds(ramp, source, view.data, subgroups)


post_process()
train.export_run(view)
ui.settle()
