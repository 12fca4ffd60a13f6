"""Controls of Noisy groups: a model, where noise comes from, what is asked."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import pandas as pd
import streamlit as st

from fairdash._wording import interval, number
from fairdash.results import opened_on
from fairdash.ui.noisy_groups.noise import (
    Noise,
    Question,
    from_column,
    from_levels,
    from_sample,
    simulated,
)
from fairdash.ui.noisy_groups.rows import Doubted, doubted_rows
from fairdash.ui.widgets.blocks import controls, more
from fairdash.ui.widgets.score_source import Source
from fairdash.ui.widgets.score_upload import scores_form
from fairdash.ui.widgets.state import store

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
_PARITY = "demographic_parity"
_FEW = 20  # most values of a column of groups
_SOURCE_HELP = """
**Simulated**: the table's groups are true; a share is replaced at random.
**Assumed**: they are noisy; you give the share that is wrong.
**Column**: another column has the noisy groups.
**Sample**: they are noisy; a file has both for some people.
"""


class Asked(NamedTuple):
    """What the controls ask: a model, whose groups, what noise, and what of them.

    The model is "" while there is none, the noise None until a sample is uploaded.
    """

    model: str
    rows: Doubted
    noise: Noise | None
    question: Question


def pick_noise(
    models: Mapping[str, Sequence[Source]], dataset_id: str | None, run_id: str | None
) -> Asked:
    """Draw the controls and return what they ask.

    Raises
    ------
    ValueError
        When the noise cannot be as asked, or scores cannot be read.
    """
    with controls(5):
        first, second, third, fourth, last = (st.container() for _ in range(5))
    with first:
        model = _model(models, dataset_id, run_id)
    with last, more("Slack, upload"), st.container(width=340):
        slack: float = st.number_input(
            "Slack (α)",
            0.0,
            0.5,
            0.05,
            0.01,
            help="By how much a group's rate may be worse.",
            key="noisy slack",
            persist_state="session",
        )
        st.markdown("**Certify scores of your own**")
        scores_form("Without the outcome only parity can be certified.")
    rows = doubted_rows(dataset_id, models[model][0].upload if model else None)
    known = CONSTRAINTS if rows.has_outcome else {_PARITY: CONSTRAINTS[_PARITY]}
    key = rows.key
    with second:
        source: str = st.selectbox(
            "Noise",
            list(SOURCES),
            format_func=SOURCES.__getitem__,
            help=_SOURCE_HELP,
            key=f"{key} noise source",
            persist_state="session",
        )
    with fourth:
        constraints: str = st.selectbox(
            "Constraint",
            list(known),
            format_func=known.__getitem__,
            help="No group's true positive rate may be below that of all rows; false "
            "positive rates not above; odds: both; parity: positive predictions.",
            key=f"{key} noisy constraint",
            persist_state="session",
        )
    with third:
        noise = _noise(source, rows)
    return Asked(model or "", rows, noise, Question(constraints, float(slack)))


def _model(
    models: Mapping[str, Sequence[Source]], dataset_id: str | None, run_id: str | None
) -> str | None:
    """Draw the choice of a model: a file that was just sent, else that of a sweep."""
    key = f"{dataset_id} {run_id} certified"
    files = [label for label, sources in models.items() if sources[0].upload]
    known = st.session_state.get(f"{key} files", ())
    st.session_state[f"{key} files"] = files
    sent = [label for label in files if label not in known]
    if sent:
        st.session_state[key] = sent[0]
    elif st.session_state.get(key) not in models:  # a file that was taken away
        st.session_state.pop(key, None)
    chosen = opened_on(store(), run_id) if run_id else None
    opened = {trial.key for trial in chosen.trials} if chosen else set()
    places = (i for i, s in enumerate(models.values()) if s[0].trial in opened)
    return st.selectbox(
        "Model",
        list(models),
        index=next(places, 0 if models else None),
        placeholder="None yet",
        disabled=not models,
        key=key,
        persist_state="session",
    )


def _noise(source: str, rows: Doubted) -> Noise | None:
    if source == "simulated":
        return simulated(rows, _level(rows))
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
                    key=f"{rows.key} wrong {name}",
                )
                for name in rows.group_names
            }
        return from_levels(rows, levels)
    if source == "column":
        return from_column(rows, _column(rows))
    return _sample(rows)


def _level(rows: Doubted) -> float:
    most = round(1 - 1 / len(rows.group_names) - 0.05, 2)
    return float(
        st.slider(
            "Share wrong",
            0.0,
            most,
            min(0.1, most),
            0.05,
            help="Share of rows whose group is replaced by another at random.",
            key=f"{rows.key} simulated level",
        )
    )


def _column(rows: Doubted) -> str:
    few = [
        str(name)
        for name in rows.frame
        if name not in rows.taken and 1 < rows.frame[name].nunique() <= _FEW
    ]
    if not few:
        raise ValueError(
            f"No other column has two to {_FEW} values; upload a sample instead."
        )
    return st.selectbox("Noisy groups", few, key=f"{rows.key} noisy column")


def _sample(rows: Doubted) -> Noise | None:
    with more("Sample"), st.container(width=320):
        st.caption(
            "A file with the true and the noisy group of some people, by the names "
            f"that this table has: {', '.join(rows.group_names)}."
        )
        sent = st.file_uploader(
            "File with both groups",
            type=["csv", "gz", "parquet"],
            max_upload_size=200,
            key=f"{rows.key} noise sample",
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
        true = st.selectbox("True group", few, key=f"{rows.key} sample true")
        noisy = st.selectbox(
            "Noisy group", few, index=1, key=f"{rows.key} sample noisy"
        )
    return from_sample(rows, frame, true, noisy, sha256(content).hexdigest())


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
    return table
