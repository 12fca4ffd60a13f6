"""Controls of Noisy groups: where the noise comes from and what is asked of models."""

from hashlib import sha256

import pandas as pd
import streamlit as st

from fairdash.datasets import Dataset
from fairdash.ui._blocks import controls, more
from fairdash.ui._format import interval, number
from fairdash.ui._noisy import (
    Noise,
    Question,
    from_column,
    from_levels,
    from_sample,
    simulated,
)
from fairdash.ui._state import store

SOURCES = {
    "simulated": "Simulated",
    "assumed": "Assumed",
    "column": "Column",
    "sample": "Sample",
}
CONSTRAINTS = {
    "true_positive_rate_parity": "Equal opportunity",
    "false_positive_rate_parity": "False positives",
    "equalized_odds": "Equalized odds",
    "demographic_parity": "Parity",
}
_FEW = 20  # most values of a column of groups
_SOURCE_HELP = """
**Simulated**: the table's groups are true; a share is replaced at random.
**Assumed**: they are noisy; you give the share that is wrong.
**Column**: another column has the noisy groups.
**Sample**: they are noisy; a file has both for some people.
"""


def pick_noise(dataset: Dataset, key: str) -> tuple[Noise | None, Question]:
    """Draw the controls; without a file the noise of a sample is None.

    Raises
    ------
    ValueError
        When the noise cannot be as asked.
    """
    with controls(4):
        first, second, third, fourth = (st.container() for _ in range(4))
    with first:
        source: str = st.selectbox(
            "Noise",
            list(SOURCES),
            format_func=SOURCES.__getitem__,
            help=_SOURCE_HELP,
            key=f"{key} noise source",
            persist_state="session",
        )
    with third:
        constraints: str = st.selectbox(
            "Constraint",
            list(CONSTRAINTS),
            format_func=CONSTRAINTS.__getitem__,
            help="No group's true positive rate may be below that of all rows; false "
            "positive rates not above; odds: both; parity: positive predictions.",
            key=f"{key} noisy constraint",
            persist_state="session",
        )
    with fourth:
        slack: float = st.number_input(
            "Slack (α)",
            0.0,
            0.5,
            0.05,
            0.01,
            help="By how much a group's rate may be worse.",
            key=f"{key} noisy slack",
            persist_state="session",
        )
    with second:
        noise = _noise(source, dataset, key)
    return noise, Question(constraints, float(slack))


def _noise(source: str, dataset: Dataset, key: str) -> Noise | None:
    if source == "simulated":
        return simulated(dataset, _level(dataset, key))
    if source == "assumed":
        with more("Shares wrong"), st.container(width=260):
            levels = {
                name: st.number_input(
                    f"Wrong among {name}",
                    0.0,
                    1.0,
                    0.1,
                    0.01,
                    help="P(noisy group is another | true group is this).",
                    key=f"{key} wrong {name}",
                )
                for name in dataset.group_names
            }
        return from_levels(dataset, levels)
    if source == "column":
        return from_column(dataset, _column(dataset, key))
    return _sample(dataset, key)


def _level(dataset: Dataset, key: str) -> float:
    most = round(1 - 1 / len(dataset.group_names) - 0.05, 2)
    return float(
        st.slider(
            "Share wrong",
            0.0,
            most,
            min(0.1, most),
            0.05,
            help="Share of rows whose group is replaced by another at random.",
            key=f"{key} simulated level",
        )
    )


def _column(dataset: Dataset, key: str) -> str:
    roles = dataset.roles
    taken = {roles.target, roles.sensitive_feature}
    few = [
        str(name)
        for name in dataset.frame
        if name not in taken and 1 < dataset.frame[name].nunique() <= _FEW
    ]
    if not few:
        raise ValueError(
            f"No other column has two to {_FEW} values; upload a sample instead."
        )
    return st.selectbox("Noisy groups", few, key=f"{key} noisy column")


def _sample(dataset: Dataset, key: str) -> Noise | None:
    with more("Sample"), st.container(width=320):
        st.caption(
            "A file with the true and the noisy group of some people, by the names "
            f"that this table has: {', '.join(dataset.group_names)}."
        )
        sent = st.file_uploader(
            "File with both groups",
            type=["csv", "gz", "parquet"],
            max_upload_size=200,
            key=f"{key} noise sample",
        )
        if sent is None:
            return None
        content = sent.getvalue()
        frame = store().table(store().add_table(content, sent.name))
        few = [str(c) for c in frame if 1 < frame[c].nunique() <= _FEW]
        if len(few) < 2:
            raise ValueError(
                f"{sent.name} needs two columns of two to {_FEW} values, it has "
                f"{', '.join(few) or 'none'}."
            )
        true = st.selectbox("True group", few, key=f"{key} sample true")
        noisy = st.selectbox("Noisy group", few, index=1, key=f"{key} sample noisy")
    return from_sample(dataset, frame, true, noisy, sha256(content).hexdigest())


def bounds_table(bounds: pd.DataFrame) -> pd.DataFrame:
    """Return the bounds as they are shown: both versions, with their intervals."""
    table = pd.DataFrame({"Group": [str(name) for name in bounds.index]})
    for column, title in (("paper", "Lemma 1"), ("general", "Valid bound")):
        cells = [number(value) for value in bounds[column]]
        if f"{column}_low" in bounds:
            ends = zip(bounds[f"{column}_low"], bounds[f"{column}_high"], strict=True)
            inner = [interval(low, high) for low, high in ends]
            cells = [f"{a} ({b})" for a, b in zip(cells, inner, strict=True)]
        table[title] = cells
    table["Equal shares"] = bounds["equal_priors"].to_numpy()
    return table
