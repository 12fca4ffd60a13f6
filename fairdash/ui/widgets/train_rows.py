"""How many rows to train on: a choice where there are very many."""

import streamlit as st

from fairdash._wording import count
from fairdash.datasets import FRACTIONS
from fairdash.results import part_sizes, rows_used, trained_on
from fairdash.ui.widgets.state import store

LARGE = 200_000  # training rows beyond which a subsample is offered
PROPOSED = 100_000
_LEAST = 1_000
_STEP = 50_000


def audit_rows(dataset_id: str) -> int | None:
    """Return how many rows an audit trains on: `PROPOSED` of more than `LARGE`."""
    return PROPOSED if part_sizes(store(), dataset_id)[0] > LARGE else None


def audit_note(n_rows: int) -> str:
    """Return what an audit does with data of so many rows, where it is not all."""
    n_train = round(n_rows * FRACTIONS[0])
    if n_train <= LARGE:
        return ""
    return f"Trains on {count(PROPOSED)} of {count(n_train)} training rows."


def train_rows_input(dataset_id: str, key: str, *, start: int | None) -> int | None:
    """Draw the choice where there are more than `LARGE` training rows.

    Parameters
    ----------
    dataset_id : str
    key : str
        Identity of the form.
    start : int or None
        What is filled in, `PROPOSED` at first; None for all rows.

    Returns
    -------
    int or None
        How many rows to draw; None to train on all.
    """
    n_train, _, _ = part_sizes(store(), dataset_id)
    if n_train <= LARGE:
        return None
    chosen = st.number_input(
        "Training rows",
        _LEAST,
        n_train,
        rows_used(store(), dataset_id, start),
        _STEP,
        help="Fewer rows train faster. They are drawn anew for every seed.",
        key=f"{key} training rows",
        persist_state="session",
        width=260,
    )
    train_rows = chosen if chosen < n_train else None
    st.caption(
        trained_on(store(), dataset_id, train_rows) or "Trained on all training rows."
    )
    return train_rows
