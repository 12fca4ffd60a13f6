"""Controls for pairs of people who are alike: uploaded, or labelled by hand."""

import numpy as np
import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash._wording import plain, plural
from fairdash.datasets import Dataset, encode, split
from fairdash.ui.individual.alike import LabelledPairs, Pairs, UploadedPairs
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.state import store

SOURCES = ("None", "Two aligned tables", "Pair id column", "Label pairs")
_LABELS = {"Comparable": True, "Not comparable": False}
_ASKED = 24  # pairs to label
_NEAR = 200  # rows among which the nearest makes every other pair


def pick_pairs(dataset: Dataset, dataset_id: str, seed: int) -> Pairs | None:
    """Draw the choice of pairs; None without, or until they are complete.

    Pairs to label are of training rows of ``seed``.
    """
    source: str = st.selectbox(
        "Pairs of people who are alike",
        SOURCES,
        help="How people of a pair differ does not count. A metric of labelled pairs "
        "stands alone: it weighs every column.",
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
    """Draw one pair at a time, with its answer."""
    pairs = _asked(dataset_id, seed, dataset)
    kept: dict[int, bool] = st.session_state.setdefault(f"{dataset_id} {seed} kept", {})
    place = f"{dataset_id} {seed} pair"
    at = min(int(st.session_state.get(place, 0)), len(pairs) - 1)

    def answer(step: int, alike: bool | None = None) -> None:
        if alike is not None:
            kept[at] = alike
        st.session_state[place] = (at + step) % len(pairs)

    said = {None: "no answer yet", True: "comparable", False: "not comparable"}
    st.caption(
        f"Should the two be treated alike? Pair {at + 1} of {len(pairs)}: "
        f"{said[kept.get(at)]}. {len(kept)} answered; those without an answer do not "
        "count."
    )
    with st.container(horizontal=True, gap="xsmall"):
        for label, alike in _LABELS.items():
            name = f"{place} {label}"
            st.button(label, key=name, on_click=answer, args=(1, alike))
        st.button("Back", key=f"{place} back", on_click=answer, args=(-1,))
        st.button("Skip", key=f"{place} skip", on_click=answer, args=(1,))
    st.table(_shown(dataset, pairs[at]), border="horizontal", hide_index=True)
    rows = [pairs[i] for i in sorted(kept)]
    return LabelledPairs(tuple(rows), tuple(kept[i] for i in sorted(kept)))


def _shown(dataset: Dataset, pair: tuple[int, int]) -> pd.DataFrame:
    """Return two people side by side, the columns in which they differ first."""
    one, other = (dataset.frame.iloc[row] for row in pair)
    names = list(dataset.roles.features)
    table = pd.DataFrame(
        {
            "column": [plain(name) for name in names],
            "one": [plain(value_label(one[name])) for name in names],
            "the other": [plain(value_label(other[name])) for name in names],
        }
    )
    same = table["one"] == table["the other"]
    return table.iloc[np.argsort(same, kind="stable")]


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
