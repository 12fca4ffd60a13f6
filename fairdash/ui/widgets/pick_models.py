"""How a reader picks: models of a data set over all its runs, and subgroups."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from fairdash import audits
from fairdash._escaping import plain, visible
from fairdash._validation import CROSS
from fairdash._wording import group_label, plural, shortened
from fairdash.audits import Setting
from fairdash.datasets import Dataset, Subgroups
from fairdash.scored import ScoredModel
from fairdash.ui.selection import SharedFields, bound
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.state import store

_MEAN = -1  # instead of a seed
_SIZES = (10, 20, 30, 50, 100, 200, 500)
MOST_CROSSED = 4  # columns that make subgroups, unless the data set has more


def known_models(dataset_id: str | None, run_id: str | None) -> list[Setting]:
    """Return the models of a data set and a run in this server's store."""
    return audits.trials.known_models(store(), dataset_id, run_id) if dataset_id else []


def pick_seed_of(model: Setting, label: str = "Seed", **how: Any) -> ScoredModel:
    """Draw the choice of a seed of a model that has several; return its trial."""
    trials = {trial.split: trial for trial in model.trials}
    seed = next(iter(trials))
    if len(trials) > 1:
        tied = bound("seed", seed, among=trials)
        seed = st.selectbox(label, list(trials), **how, **tied)
    return trials[seed]


def pick_reference(groups: Sequence[str], feature: str) -> str | None:
    """Draw whom others are compared with, of more than two groups."""
    if len(groups) < 3:
        return None
    chosen: str | None = st.selectbox(
        "Compared with",
        list(groups),
        index=None,
        placeholder="Group best off",
        format_func=lambda name: visible(group_label(feature, name)),
        help="The table of every measure compares with this group; with none chosen it "
        "compares with the group best off.",
        **bound("reference", None, among=[None, *groups]),
    )
    return chosen


def pick_seed(models: Sequence[Setting], dataset: Dataset) -> list[Setting]:
    """Draw the choice of a seed that all models have, or of the mean over seeds.

    Returns the models, with the trials of that seed alone if one was chosen.
    """
    seeds = sorted(frozenset.intersection(*(model.seeds for model in models)))
    if len(seeds) < 2:
        return list(models)
    names = {_MEAN: f"Mean over {plural(len(seeds), 'seed')}"}
    names |= {seed: f"Seed {seed}" for seed in seeds}
    seed = st.selectbox(
        "Seed",
        help=dataset.roles.test_rows_words(),
        **bound(
            "seed",
            _MEAN,
            named=names,
            meant=lambda seed: None if seed == _MEAN else seed,
        ),
    )
    if seed == _MEAN:
        return list(models)
    return [model.on(frozenset({seed})) for model in models]


def chosen_subgroups(dataset: Dataset, start: Subgroups) -> Subgroups:
    """Return the subgroups of the address, or ``start`` where these have no columns."""
    chosen = SharedFields.here().subgroups
    if chosen is None or not set(chosen.columns) <= set(_columns(dataset)):
        return start
    return chosen


def _columns(dataset: Dataset) -> list[str]:
    return [str(name) for name in dataset.frame if name != dataset.roles.target]


def subgroup_form(dataset: Dataset, start: Subgroups) -> Subgroups:
    """Draw the choice of subgroups behind a click, ``start`` filled in; return it.

    Numbers are cut in bins as on Data.
    """
    current = chosen_subgroups(dataset, start)
    label = shortened({"": CROSS.join(current.columns) or "all rows"})[""]

    def with_columns(columns: Sequence[str]) -> Subgroups:
        ways = {
            way: {n: cut for n, cut in getattr(start, way).items() if n in columns}
            for way in ("widths", "quantiles", "cuts")
        }
        return current.model_copy(update={"columns": tuple(columns), **ways})

    most = max(MOST_CROSSED, len(current.columns))
    with more(plain(f"Subgroups: {label}")):
        st.multiselect(
            "Columns",
            _columns(dataset),
            max_selections=most,
            format_func=visible,
            help="Crossed with one another. None: all rows are one subgroup.",
            **bound(
                "subgroups",
                list(current.columns),
                shown=lambda _: list(current.columns),
                meant=with_columns,
                key=f"columns {most}",  # to Streamlit, another limit is another widget
            ),
        )
        st.select_slider(
            "Smallest subgroup",
            sorted({*_SIZES, start.min_size, current.min_size}),
            help="Gaps of subgroups with fewer rows are not estimated.",
            **bound(
                "subgroups",
                current.min_size,
                shown=lambda _: current.min_size,
                meant=lambda size: current.model_copy(update={"min_size": size}),
                key="smallest",
                by_value=True,
            ),
        )
    return current
