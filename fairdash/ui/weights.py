"""The Weights page: where ROAD and BROAD looked."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from fairdash import plots
from fairdash._escaping import plain
from fairdash.audits import Drawing, Setting, trials, weight_spreads, weighting
from fairdash.datasets import Dataset, Subgroups
from fairdash.ui.widgets.blocks import draw_picture, figure, heading, more, show_table
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.pick_rule import chosen_rule
from fairdash.ui.widgets.question import model_in_question
from fairdash.ui.widgets.state import store

_TRAITS = """
For each column, the value that the heaviest {rows} have more often than all training
{rows}. The 95% Wilson intervals hold for all values at once. Numbers are cut at their
quartiles.
"""
_CLOSED_FORM = """
The weights that **this adversary would give** at any τ, by the formula of BROAD. The
model is the one that was trained; another τ would have trained another adversary.
"""
_STOPS = """
Each stop is a model of this run that was trained with another τ and is otherwise set
the same.
"""


def pick_weighted(
    chosen: Setting, models: Sequence[Setting], dataset_id: str
) -> weighting.Weighted:
    """Draw the choice of one of the seeds of a model that has several."""
    with_weights = weight_spreads.with_rows(store(), chosen.trials)
    # Without weights of single rows any seed does: the page says what is missing.
    seeds = replace(chosen, trials=tuple(with_weights or chosen.trials))
    trial = seeds.trials[0]
    if len(seeds.trials) > 1:
        with more("Seed"), st.container(width=340):
            trial = pick_seed_of(seeds)
    reference = trials.reference_of(chosen, models)
    same_split = trial
    if reference is not None:
        by_split = {trial.split: trial for trial in reference.trials}
        same_split = by_split.get(trial.split, trial)
    return weighting.Weighted(
        store(), chosen, trial, same_split, dataset_id, chosen_rule()
    )


def note_without_weights(
    weighted: Setting, models: Sequence[Setting], run_id: str | None
) -> None:
    """Say so where the model in question on other pages has no weights."""
    model = model_in_question(models, run_id).setting
    if not weighting.weighted_models([model]):
        st.caption(plain(weighting.without_weights(model, weighted)))


def show_gaps(chosen: weighting.Weighted, gaps: Drawing) -> None:
    """Draw mean weights against gaps, a dot a subgroup."""
    picture = gaps.picture(plots)
    figure(picture, key="weights against gaps", how=chosen.how_gaps)


def show_taus(
    chosen: weighting.Weighted,
    models: Sequence[Setting],
    dataset: Dataset,
    subgroups: Subgroups,
) -> None:
    """Draw the weights at other values of τ."""
    heading("Weights at other τ", _CLOSED_FORM if chosen.closed_form else _STOPS)
    picture = chosen.taus(models, dataset, subgroups).picture(plots)
    draw_picture(picture, key="weights by tau")
    st.caption(plain(picture.caption))


def show_traits(top: weighting.TopRows) -> None:
    """Draw what these rows have in common."""
    rows = top.noun.several
    heading(
        f"What the {rows} with the largest r have in common", _TRAITS.format(rows=rows)
    )
    show_table(top.readable())
