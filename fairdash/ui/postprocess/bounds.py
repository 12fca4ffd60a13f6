"""What theory promises of the ramp, as calculators with their terms explained."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from fairdash._wording import count, number
from fairdash.datasets import Subgroups
from fairdash.postprocessing import (
    Impossibility,
    excess_risk_bound,
    impossibility_bound,
)
from fairdash.ui.postprocess.ramp import Ramp
from fairdash.ui.results.scored import Array
from fairdash.ui.widgets.score_source import Source, scored
from fairdash.ui.widgets.state import store


def post_bounds(
    ramp: Ramp, source: Source, dataset_id: str, subgroups: Subgroups | None
) -> None:
    """Draw the two bounds as calculators, with what their terms mean."""
    left, right = st.columns(2, gap="medium")
    with left:
        _excess_risk(ramp, dataset_id)
    if source.upload is None and subgroups is not None:
        with right:
            _impossibility(dataset_id, source, subgroups.model_dump_json())


def _excess_risk(ramp: Ramp, key: str) -> None:
    data, gamma = ramp.data, ramp.gamma
    st.markdown("**Excess risk of the ramp, at most**")
    one, two = st.columns(2)
    assumed = one.number_input(
        "Error of the scores", 0.0, 2.0, 0.05, 0.01,
        help="Assumed E|2η − 1 − f|: how far scores are from true probabilities.",
        key=f"{key} error",
    )  # fmt: skip
    delta = two.number_input(
        "Failure risk (δ)", 0.001, 0.5, 0.05, 0.01, key=f"{key} delta"
    )
    n, k = len(data.calibration.margins), len(data.names)
    risk = excess_risk_bound(n, k, gamma, delta=delta, score_error=assumed)
    terms = {
        "Scores are not true probabilities": risk.score_error,
        f"Randomising, 2γ with γ = {gamma:g}": risk.ramp_width,
        f"Sample of {count(n)} rows": risk.sample,
        f"Learning the rates of {k} groups": risk.groups,
        "Sum": risk.total,
    }
    st.dataframe(_terms(terms), hide_index=True)
    if risk.total >= 1:
        st.caption(
            "A sum of 1 or more says nothing: the bound needs far more rows than "
            "the ramp does in practice."
        )


def _impossibility(dataset_id: str, source: Source, subgroups: str) -> None:
    low = _bound(dataset_id, source, subgroups)
    group = store().dataset(dataset_id).group_names[0]
    st.markdown("**Covariance that some subgroup must show**")
    terms = {
        "How well subgroups tell the group": low.predictability,
        "Smaller share of decisions": low.minority,
        "Half the product": low.bound,
    }
    st.dataframe(_terms(terms), hide_index=True)
    st.caption(
        "For decisions without randomising: whatever is corrected in known "
        "subgroups, some other subgroup has at least this covariance with "
        f"{group}. P(group | x) is taken as its share in the "
        "chosen subgroups; finer ones can only raise the bound."
    )


@st.cache_data(max_entries=50, show_spinner=False)
def _bound(dataset_id: str, source: Source, subgroups: str) -> Impossibility:
    dataset, test = store().dataset(dataset_id), scored(dataset_id, source, ()).test
    labels = Subgroups.model_validate_json(subgroups).label(dataset.frame)
    told = _share(labels, dataset.group == 0)[test.where]
    return impossibility_bound(told, test.before)


def _terms(terms: dict[str, float]) -> pd.DataFrame:
    values = [number(value) for value in terms.values()]
    return pd.DataFrame({"Term": list(terms), "Value": values})


def _share(labels: "pd.Series[Any]", members: NDArray[np.bool_]) -> Array:
    """Return the share of ``members`` in the subgroup of every row."""
    codes, _ = pd.factorize(labels, use_na_sentinel=False)
    share: Array = (np.bincount(codes, members) / np.bincount(codes))[codes]
    return share
