"""How a reader picks a measure."""

from collections.abc import Sequence

import streamlit as st

from fairdash.metrics import catalog
from fairdash.ui.selection import bound

_WIDTH = 200  # pixels


def pick_measure(others: Sequence[str] = (), *, only: Sequence[str] = ()) -> str:
    """Draw the choice of what is compared between groups.

    ``others`` are measures of other outcomes than two classes; or ``only`` these.
    """
    offered = only or (*catalog.MEASURES, catalog.COST, *others)
    measure: str = st.selectbox(
        "Measure",
        help="False positive rate: of those without the outcome, how many are "
        "predicted to have it. False negative rate: of those with it, how many are "
        "not. Precision: of those predicted, how many have it. Calibration: the mean "
        "score less the share with the outcome. Error cost: wrong decisions, weighed. "
        "Exposure: attention in the ranking by score; 1 is the average.",
        label_visibility="collapsed",
        width=_WIDTH,
        **bound(
            "measure",
            offered[0],
            named={key: catalog.MEASURE_NAMES[key] for key in offered},
        ),
    )
    if measure != catalog.COST:
        return measure
    costs = st.number_input(
        "Wrong 0s a wrong 1 is worth",
        0.01,
        100.0,
        step=0.5,
        help="2: one false positive is as bad as two false negatives. Costs are scaled "
        "to a mean of 1, so at 1 the error cost is the share of wrong decisions.",
        **bound(
            "costs",
            1.0,
            shown=lambda costs: min(max(costs, 0.01), 100.0),
            by_value=True,
        ),
    )
    return f"{catalog.COST} {costs:.4g}:1"
