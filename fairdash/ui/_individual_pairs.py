"""Controls for pairs of people who are alike: uploaded, or labelled by hand."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash.datasets import Dataset, encode, split
from fairdash.ui._alike import LabelledPairs, Pairs, UploadedPairs
from fairdash.ui._blocks import more, problem
from fairdash.ui._format import plural
from fairdash.ui._state import store

SOURCES = ("None", "Two aligned tables", "Pair id column", "Label pairs")
_LABELS = {"comparable": True, "not comparable": False}
_ASKED = 24  # pairs to label
_NEAR = 200  # rows among which the nearest makes every other pair


def pick_pairs(dataset: Dataset, dataset_id: str, seed: int) -> Pairs | None:
    """Draw the choice of pairs; None without, or until they are complete.

    Pairs to label are of training rows of ``seed``.
    """
    with st.container(width=160), more("Pairs", icon=":material/compare_arrows:"):
        source: str = st.selectbox(
            "Pairs of people who are alike",
            SOURCES,
            help="How people of a pair differ does not count. A metric of labelled "
            "pairs stands alone: it weighs every column.",
            key=f"{dataset_id} pairs",
            persist_state="session",
        )
        if source == "Two aligned tables":
            return _aligned(dataset_id)
        if source == "Pair id column":
            return _with_id(dataset, dataset_id)
        if source == "Label pairs":
            return _labelled(dataset, dataset_id, seed)
    return None


def pairs_to_label(dataset: Dataset, seed: int) -> tuple[tuple[int, int], ...]:
    """Return pairs of training rows: at random, and of near neighbours, in turn."""
    train = split(dataset, seed).train
    encoded = encode(dataset, train)
    rng = np.random.default_rng(seed)
    pairs = []
    for k in range(min(_ASKED, len(train) // 2)):
        row, *others = rng.choice(train, min(_NEAR + 1, len(train)), replace=False)
        person, *rest = encoded.rows(np.array([row, *others]))
        apart = ((np.array(rest) - person) ** 2).sum(1)
        apart[apart == 0] = np.inf  # the same person says nothing
        pairs.append((int(row), int(others[apart.argmin() if k % 2 else 0])))
    return tuple(pairs)


def _aligned(dataset_id: str) -> UploadedPairs | None:
    st.caption("Row i of one file is row i of the other with something exchanged.")
    table = _upload("People", f"{dataset_id} people")
    other = _upload("Their counterparts", f"{dataset_id} counterparts")
    return UploadedPairs(table, other) if table and other else None


def _with_id(dataset: Dataset, dataset_id: str) -> UploadedPairs | None:
    table = _upload("People with a pair id", f"{dataset_id} paired")
    if table is None:
        return None
    frame = store().table(table)
    columns = [str(c) for c in frame if c not in dataset.roles.features]
    if not columns:
        problem("These are no pairs", "Every column is a feature; add a pair id.")
        return None
    column: str = st.selectbox("Pair id", columns, key=f"{table} pair id")
    sizes = frame.groupby(column)[column].transform("size")
    alone = int((~(sizes > 1)).sum())
    pairs = plural(int(frame.loc[sizes > 1, column].nunique()), "set")
    st.caption(f"{pairs} of people; {plural(alone, 'row')} without a partner left out.")
    return UploadedPairs(table, column=column)


def _labelled(dataset: Dataset, dataset_id: str, seed: int) -> LabelledPairs:
    st.caption("Should the two be treated alike? Pairs without an answer do not count.")
    pairs = _asked(dataset_id, seed, dataset)
    edited = st.data_editor(
        _shown(dataset, pairs),
        hide_index=True,
        width=560,
        height=360,
        disabled=list(dataset.roles.features),
        column_config={
            "pair": st.column_config.SelectboxColumn(
                "The two are", options=list(_LABELS), pinned=True
            )
        },
        key=f"{dataset_id} {seed} labels",
    )
    return labelled(pairs, edited["pair"])


def labelled(
    pairs: tuple[tuple[int, int], ...], answers: "pd.Series[Any]"
) -> LabelledPairs:
    """Return the pairs that have an answer."""
    known = [
        (pair, _LABELS[answer])
        for pair, answer in zip(pairs, answers, strict=True)
        if answer in _LABELS
    ]
    return LabelledPairs(tuple(p for p, _ in known), tuple(a for _, a in known))


def _shown(dataset: Dataset, pairs: tuple[tuple[int, int], ...]) -> pd.DataFrame:
    """Return a line for each pair: a value both have, or "22 · 30"."""
    one, two = (dataset.frame.iloc[list(rows)] for rows in zip(*pairs, strict=True))
    columns: dict[str, Any] = {"pair": np.full(len(pairs), None, object)}
    for name in dataset.roles.features:
        values = zip(
            one[name].map(value_label), two[name].map(value_label), strict=True
        )
        columns[name] = [a if a == b else f"{a} · {b}" for a, b in values]
    return pd.DataFrame(columns)


@st.cache_data(max_entries=32, show_spinner=False)
def _asked(
    dataset_id: str, seed: int, _dataset: Dataset
) -> tuple[tuple[int, int], ...]:
    return pairs_to_label(_dataset, seed)


def _upload(label: str, key: str) -> str | None:
    """Return the digest of an uploaded table, None while there is none."""
    sent = st.file_uploader(
        label, type=["csv", "gz", "parquet"], max_upload_size=200, key=key
    )
    if sent is None:
        return None
    try:
        return store().add_table(sent.getvalue(), sent.name)
    except ValueError as error:
        problem(f"{sent.name} was not loaded", error)
        return None
