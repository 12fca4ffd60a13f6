"""Error against violation for the models of a run, over its splits (Figure 4)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import plural
from fairdash.datasets import split
from fairdash.methods import CATALOG
from fairdash.metrics import expected_violations
from fairdash.results import Setting, shown_settings
from fairdash.store import Snapshot
from fairdash.ui.widgets.blocks import figure
from fairdash.ui.widgets.state import store

_CONSTRAINTS = {
    "demographic_parity": "Parity",
    "equalized_odds": "Equalized odds",
    "true_positive_rate_parity": "Equal opportunity",
}
_MOST = 8  # models in a legend
_HOW = """
**As probabilities**: decisions drawn with the probabilities; the error is the mean
distance from the outcome, the violation the gap in mean probabilities. **Rounded**: the
same of decisions at one half. A method that makes probabilities fair can lose much of
it with rounding. Under equalized odds the gaps given either outcome are added.
"""
_COLUMNS = [
    "error_expected",
    "error_rounded",
    "violation_expected",
    "violation_rounded",
]


def show_violations(snapshot: Snapshot) -> None:
    """Draw the figure for a run of several models."""
    chosen = shown_settings(store(), snapshot, _MOST)
    if len(chosen) < 2:
        return
    dataset_id = snapshot.run.dataset_id
    key = f"{snapshot.run.id} violations"
    constraint = st.session_state.get(key) or _asked(chosen)
    table = _table(chosen, dataset_id, constraint)
    seeds = {trial.seed for setting in chosen for trial in setting.trials}
    spread = "one split, no spread"
    if len(seeds) > 1:
        spread = f"mean ± standard deviation over {plural(len(seeds), 'split')}"

    def control() -> None:
        st.segmented_control(
            "Constraint",
            list(_CONSTRAINTS),
            default=constraint,
            format_func=_CONSTRAINTS.__getitem__,
            required=True,
            key=key,
            label_visibility="collapsed",
        )

    figure(
        plots.plot_violations(table),
        caption=f"Test rows, {spread}. {_CONSTRAINTS[constraint]}.",
        how=_HOW,
        key=f"{key} figure",
        control=control,
    )


def _asked(chosen: Sequence[Setting]) -> str:
    """Return the constraint that the models were trained under, if any."""
    for setting in chosen:
        constraint = setting.trials[0].params.get("constraints")
        if constraint in _CONSTRAINTS:
            return str(constraint)
    return "demographic_parity"


def _table(chosen: Sequence[Setting], dataset_id: str, constraint: str) -> pd.DataFrame:
    rows = []
    for setting in chosen:
        splits = pd.DataFrame(
            [_measured(t.key, dataset_id, t.seed, constraint) for t in setting.trials]
        )
        rows.append(
            {
                "label": setting.label,
                "colour_role": CATALOG[setting.method].colour_role,
                "splits": len(splits),
                **splits.mean(),
                **splits.std().add_suffix("_sd"),
            }
        )
    return pd.DataFrame(rows)


@st.cache_data(max_entries=5000, show_spinner=False)
def _measured(
    key: str, dataset_id: str, seed: int, constraint: str
) -> dict[str, float]:
    """Return error and violation of a trial on its test rows."""
    dataset = store().dataset(dataset_id)
    test = split(dataset, seed).test
    y = dataset.y[test]
    p = store().artifact(key).scores()[test].astype(np.float64)
    gaps = expected_violations(y, p, sensitive_features=dataset.group[test])
    found = gaps.set_index("constraint").to_dict("index")[constraint]
    error = float(np.abs(p - y).mean()), float(np.mean((p > 0.5) != (y == 1)))
    values = (*error, float(found["expected"]), float(found["rounded"]))
    return dict(zip(_COLUMNS, values, strict=True))
