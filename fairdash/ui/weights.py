"""The Weights page: where ROAD and BROAD looked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import percent
from fairdash.audits import (
    EVERYBODY,
    Setting,
    TopRows,
    Weighted,
    instead_words,
    one_of_seeds,
    reference_of,
)
from fairdash.ui.selection import OF_DATA, OF_RUN, Fields, bound, selection
from fairdash.ui.widgets.blocks import decimals, heading
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.state import store

_SHARES = (0.005, 0.01, 0.02, 0.05, 0.1)
_SHARE = 0.01
_FEW = 2


@dataclass(frozen=True)
class WeightsFields(Fields):
    """What the address says beside what every page knows."""

    # After which epoch, how many rows are the top, in which group.
    epoch: int | None = field(default=None, metadata=OF_RUN)
    share: float | None = None
    group: str | None = field(default=None, metadata=OF_DATA)


def pick_weighted(
    chosen: Setting, models: Sequence[Setting], dataset_id: str
) -> Weighted:
    """Draw the choice of one of the seeds of a model."""
    trial = pick_seed_of(chosen)
    plain = reference_of(chosen, models)
    others = {other.seed: other for other in plain.trials} if plain else {}
    other = others.get(trial.seed, trial)
    return Weighted(store(), chosen, trial, other, dataset_id)


def whose(models: Sequence[Setting], shown: Setting) -> str:
    """Say whose weights are shown if another model was chosen, and how seeds differ."""
    instead = instead_words(selection().model, models, shown)
    return instead + one_of_seeds(shown, models)


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


def pick_share() -> float:
    """Draw the choice of how many rows are the top."""
    share: float = st.select_slider(
        "Rows with the largest r",
        _SHARES,
        format_func=percent,
        **bound("share", _SHARE, among=_SHARES),
    )
    return share


def pick_group(groups: Sequence[str]) -> str:
    """Draw the choice of the groups among which the top rows are looked for."""
    words = "Among which rows the largest weights are looked for."
    options = [EVERYBODY, *groups]
    tied = bound("group", EVERYBODY, among=options)
    group: str
    if len(groups) > _FEW:
        group = st.selectbox("Group", options, help=words, **tied)
    else:
        group = st.segmented_control(
            "Group", options, required=True, help=words, format_func=plain, **tied
        )
    return group


def show_rows(top: TopRows) -> None:
    """Draw the training rows with the largest weights."""
    heading("The rows with the largest r")
    st.dataframe(
        top.listed,
        hide_index=True,
        placeholder="–",
        column_config=decimals(top.listed[["r", "P(ŷ = 1)"]]),
    )
