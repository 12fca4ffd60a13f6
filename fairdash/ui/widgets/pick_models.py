"""The models of a data set, over all its runs, and how a reader picks among them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from fairdash import results
from fairdash._wording import plural
from fairdash.results import Setting
from fairdash.ui.widgets.state import store

MEAN = -1  # instead of a seed
_MOST_PILLS = 8


def known_models(dataset_id: str, run_id: str | None = None) -> list[Setting]:
    """Return `fairdash.results.known_models` of this server's store."""
    return results.known_models(store(), dataset_id, run_id)


def by_interest(models: Sequence[Setting], run_id: str | None) -> list[Setting]:
    """Return `fairdash.results.by_interest` of this server's store."""
    return results.by_interest(store(), models, run_id)


def pick_models(
    models: Sequence[Setting], most: int, *, run_id: str | None, key: str
) -> list[Setting]:
    """Draw the choice of up to ``most`` models and return them in fixed order.

    At first those of ``run_id``; of a sweep the plain model and the one it opens on.
    """
    labels = [model.label for model in models]
    first = [model.label for model in results.models_of(store(), models, run_id)][:most]
    words = f"At most {most}. Numbers are of the last, changes against the first."
    name = f"{key} {run_id} models"
    if len(models) <= _MOST_PILLS:
        chosen = st.pills(
            "Models",
            labels,
            selection_mode="multi",
            default=first,
            wrap=True,
            help=words,
            key=name,
            persist_state="session",
        )
    else:
        chosen = st.multiselect(
            "Models",
            labels,
            default=first,
            max_selections=most,
            help=words,
            key=name,
            persist_state="session",
        )
    picked = [model for model in models if model.label in chosen]
    if len(picked) > most:
        st.caption(f"Only {most} fit in a figure: the first {most} are shown.")
    return picked[:most] or list(models[:1])


def pick_seed(models: Sequence[Setting], key: str) -> int:
    """Draw the choice of a seed that all models have, or of the mean over seeds."""
    seeds = sorted(set.intersection(*({t.seed for t in m.trials} for m in models)))
    if len(seeds) < 2:
        return MEAN
    names = {MEAN: f"Mean over {plural(len(seeds), 'seed')}"}
    names |= {seed: f"Seed {seed}" for seed in seeds}
    return st.selectbox(
        "Seed",
        list(names),
        format_func=names.__getitem__,
        help="Each seed has test rows of its own.",
        key=f"{key} seed",
    )


def pick_k(key: str) -> int:
    """Draw the choice of how many gaps Worst-k-DI averages."""
    k: int = st.segmented_control(
        "Worst k",
        [1, 2, 3],
        default=1,
        required=True,
        help="Mean of the k largest gaps: less noisy than the largest alone.",
        key=f"{key} k",
    )
    return k


def of_seed(model: Setting, seed: int) -> Setting:
    """Return the model with the trials of one seed alone, or all for the mean."""
    if seed == MEAN:
        return model
    return replace(model, trials=tuple(t for t in model.trials if t.seed == seed))
