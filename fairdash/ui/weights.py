"""The Weights page: where ROAD and BROAD looked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from fairdash.audits import (
    Setting,
    TopRows,
    Weighted,
    instead_words,
    reference_of,
)
from fairdash.ui.selection import OF_RUN, Fields, bound, selection
from fairdash.ui.widgets.blocks import decimals, heading, show_table
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.state import store

_TRAITS = """
For each column the value that the rows with the largest weights have more often than
all training rows, with 95% Wilson intervals that hold for all values at once. Numbers
are cut at their quartiles.
"""


@dataclass(frozen=True)
class WeightsFields(Fields):
    """What the address says beside what every page knows."""

    # After which epoch.
    epoch: int | None = field(default=None, metadata=OF_RUN)


def pick_weighted(
    chosen: Setting, models: Sequence[Setting], dataset_id: str
) -> Weighted:
    """Draw the choice of one of the seeds of a model."""
    trial = pick_seed_of(chosen)
    reference = reference_of(chosen, models)
    others = {t.seed: t for t in reference.trials} if reference else {}
    other = others.get(trial.seed, trial)
    return Weighted(store(), chosen, trial, other, dataset_id)


def instead(models: Sequence[Setting], shown: Setting) -> str:
    """Say whose weights are shown if another model was chosen."""
    return instead_words(selection().model, models, shown)


def pick_epoch(weighted: Weighted) -> int:
    """Draw the choice of an epoch, the last one first."""
    epochs = weighted.epochs()
    if len(epochs) == 1:
        st.caption("Only the last weights were kept.")
        return epochs[0]
    epoch: int = st.select_slider(
        "Epoch", epochs, **bound("epoch", epochs[-1], among=epochs)
    )
    return epoch


def show_rows(top: TopRows) -> None:
    """Draw the training rows with the largest weights."""
    heading("The rows with the largest r")
    st.dataframe(
        top.listed,
        hide_index=True,
        placeholder="–",
        column_config=decimals(top.listed[["r", "P(ŷ = 1)"]]),
    )


def show_traits(top: TopRows) -> None:
    """Draw what these rows have in common."""
    heading("What the rows with the largest r have in common", _TRAITS)
    show_table(top.readable())
