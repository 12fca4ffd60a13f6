"""What a reader may open: the cost of choosing, SGD beside it, many scores at once."""

from typing import Any

import pandas as pd
import streamlit as st

from fairdash._wording import plain
from fairdash.datasets import MOST_GROUPS
from fairdash.plots import plot_convergence
from fairdash.postprocessing import (
    ManyScores,
    RampThreshold,
    compare_scores,
    scores_with_outcomes,
    sgd_path,
)
from fairdash.ui.postprocess.ramp import Choice, Ramp, choice_of
from fairdash.ui.selection import bound, bound_entry, selection
from fairdash.ui.widgets.blocks import (
    controls,
    figure,
    kept_upload,
    problem,
    show_table,
    table_download,
    verdict,
)
from fairdash.ui.widgets.state import store

HOW_SGD = """
The line is the start of each group's ramp as the **published stochastic solver** finds
it, epoch by epoch; dashed is the exact solution, which the page uses.
"""
_NONE = "By name alone"
_FURTHER = {
    "choosing": ("What choosing γ and ρ costs", "balance"),
    "sgd": ("SGD beside the exact solution", "show_chart"),
    "many": ("Many scores at once", "table"),
}


def opened(name: str) -> Any:
    """Draw an expander; return it once it is open, so that nothing is done unasked."""
    label, icon = _FURTHER[name]

    def meant(now_open: bool) -> tuple[str, ...]:
        others = tuple(one for one in selection().opened if one != name)
        return (*others, name) if now_open else others

    tied = bound(
        "opened", False, shown=lambda names: name in names, meant=meant, key=name
    )
    place = st.expander(label, icon=f":material/{icon}:", **tied)
    return place if place.open else None


def cost_of_choosing(ramp: Ramp, choice: Choice, dataset_id: str) -> None:
    """Draw what folds choose, what that does on test rows, and all that was tried."""
    found, split = choice_of(ramp, choice, dataset_id), ramp.data.split
    st.markdown(plain(found.cost(split.calibration, split.test)))
    table = found.judged(split.calibration, split.test)
    show_table(table.assign(target_rate=table["target_rate"].map(str)))
    st.caption(
        f"Accuracy and DI of held-out fifths of {ramp.data.learned} rows, which "
        "choose; beside them those of test rows, which do not."
    )


def convergence(ramp: Ramp, choice: Choice, dataset_id: str) -> None:
    """Draw the published solver beside the exact one, at this setting."""
    of = (dataset_id, choice.source, choice.crossed, choice.center)
    path = _path(ramp.fitted, (*of, *ramp.setting.values()))
    figure(plot_convergence(path), how=HOW_SGD, key="convergence")


@st.cache_data(max_entries=16, show_spinner="Following SGD…")
def _path(_fitted: RampThreshold, of: tuple[Any, ...]) -> pd.DataFrame:
    """Return the path of a fitted ramp, which ``of`` tells from others."""
    return sgd_path(_fitted)


@st.cache_resource(max_entries=4, show_spinner="Correcting all columns of scores…")
def _many(digest: str, group: str, outcome: str | None, *, fixed: bool) -> ManyScores:
    frame = store().table(digest)
    pairs = scores_with_outcomes(frame, [group], outcome)
    return compare_scores(frame, pairs, [group], gamma=0.1 if fixed else None)


def many_scores() -> None:
    """Draw the field for a table of scores, and what every method does to each."""
    st.caption(
        "A table with up to 40 columns of scores, one of groups and those of outcomes, "
        "such as `p_smiling` beside `smiling`. Every column is corrected on its own, "
        "on four fifths of its rows, and reported on the others."
    )
    try:
        digest = kept_upload("Table of scores", "many")
    except ValueError as error:
        problem("The file was not loaded", error)
        return
    if digest is None:
        return
    frame = store().table(digest)
    few = [str(name) for name in frame if 1 < frame[name].nunique() <= MOST_GROUPS]
    if not few:
        problem("It has no groups", "No column has two to twenty values.")
        return
    words = [name for name in few if frame[name].dtype.kind not in "iufb"]
    binary = [name for name in few if frame[name].nunique() == 2]
    with controls(3):
        group = st.selectbox(
            "Groups of the table",
            few,
            **bound_entry("file_columns", "many group", (words or few)[0], among=few),
        )
        outcome = st.selectbox(
            "Outcome of scores without one of their own",
            [_NONE, *(name for name in binary if name != group)],
            **bound_entry(
                "file_columns", "many outcome", _NONE, among=[_NONE, *binary]
            ),
        )
        each = st.toggle("Choose γ and ρ of each", key="many chosen")
    try:
        known = None if outcome == _NONE else outcome
        found = _many(digest, group, known, fixed=not each)
    except ValueError as error:
        problem("The scores were not corrected", error)
        return
    verdict(found.verdict())
    show_table(found.summary())
    st.caption(
        "Held-out rows: means and standard deviations over columns of scores; "
        "largest_di is of the worst column."
    )
    for name, why in found.refused.items():
        st.caption(plain(f"{name}: {why}"))
    table_download(
        "All scores and methods (CSV)",
        found.table,
        "fairdash-many-scores.csv",
        type="secondary",
    )
