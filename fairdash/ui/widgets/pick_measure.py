"""How a reader picks a measure, and differences or ratios; models by that measure."""

from collections.abc import Sequence

import streamlit as st

from fairdash import audits
from fairdash._escaping import plain
from fairdash._wording import FOUR_FIFTHS_RULE
from fairdash.audits import Setting
from fairdash.metrics import COST, INTERVAL_KINDS, MEASURE_NAMES
from fairdash.ui.selection import bound
from fairdash.ui.widgets.blocks import heading, show_table
from fairdash.ui.widgets.state import store

_WIDTH = 200  # pixels


def pick_measure() -> str:
    """Draw the choice of what is compared between groups."""
    measure: str = st.selectbox(
        "Measure",
        help="False positive rate: of those without the outcome, how many are "
        "predicted to have it. False negative rate: of those with it, how many are "
        "not. Precision: of those predicted, how many have it. Calibration: the mean "
        "score less the share with the outcome. Error cost: wrong decisions, weighed.",
        label_visibility="collapsed",
        width=_WIDTH,
        **bound("measure", "selection_rate", named=MEASURE_NAMES),
    )
    if measure != COST:
        return measure
    costs = st.number_input(
        "Wrong 0s a wrong 1 is worth",
        0.01,
        100.0,
        step=0.5,
        help="2: one false positive is as bad as two false negatives. Costs are scaled "
        "to a mean of 1, so at 1 the error cost is the share of wrong decisions.",
        **bound("costs", 1.0, shown=lambda costs: min(max(costs, 0.01), 100.0)),
    )
    return f"{COST} {costs:.4g}:1"


def pick_gap() -> str:
    """Draw the choice of differences or ratios, one for all pages."""
    gap: str = st.segmented_control(
        "Gap as",
        ["difference", "ratio"],
        format_func=str.capitalize,
        required=True,
        **bound("gap", "difference", among=("difference", "ratio")),
    )
    return gap


def compare_measure(models: Sequence[Setting], dataset_id: str) -> None:
    """Draw the pickers, and who is worse off by that measure under each of the models.

    Of a sweep these are the plain model and the one looked at.
    """
    heading("By any measure", FOUR_FIFTHS_RULE)
    measure = pick_measure()
    data = store().dataset(dataset_id)
    table = audits.every_model(store(), models, dataset_id, measure)
    numbers, feature = table.drop(columns="sentence"), data.roles.sensitive_feature
    show_table(audits.readable_measures(numbers, data.group_names, feature))
    for model, sentence in zip(table["model"], table["sentence"], strict=True):
        st.caption(f"**{plain(model)}**: {plain(sentence)}")
    kind = f"{INTERVAL_KINDS[measure]}, over seeds the means."
    if len(data.group_names) > 2:
        kind += " The gap's interval holds for all pairs of groups at once."
    st.caption(f"Test rows of all groups; {kind}")
