"""Every measure of the model looked at, by group, and what its scores mean."""

from collections.abc import Sequence

import streamlit as st

from fairdash import plots, results
from fairdash.datasets import Dataset
from fairdash.results import Setting
from fairdash.ui.widgets.blocks import decimals, figure, heading, problem
from fairdash.ui.widgets.state import store


def by_measure(
    models: Sequence[Setting], dataset: Dataset, data: str, measure: str
) -> None:
    """Draw the table of all measures by group, and the calibration curve.

    The curve is of score columns, and of trained models if calibration is looked at.
    """
    model = results.beside_trained(models)[-1]
    roles = dataset.roles
    favourable = roles.positive_is != "unfavourable"
    try:
        table = results.every_measure(store(), model, data, favourable=favourable)
        curve = results.calibration_of(store(), model, data)
    except ValueError as error:
        problem(f"{model.label} cannot be audited", error)
        return
    heading(f"Every measure of {model.label} by group")
    shown = results.readable_measures(
        table, dataset.group_names, roles.sensitive_feature
    )
    st.dataframe(shown, hide_index=True, placeholder="–", column_config=decimals(shown))
    if measure != "calibration" and not results.is_own(model):
        return
    figure(
        plots.plot_calibration(
            curve,
            groups=dataset.group_names,
            feature=roles.sensitive_feature,
            outcome=roles.outcome(),
            score=results.score_name(model),
        ),
        table=curve,
        table_config=decimals(curve),
        key="calibration",
    )
