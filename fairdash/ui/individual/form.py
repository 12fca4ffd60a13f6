"""Controls of Individual fairness: model, what does not count, how much to search."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from fairdash._wording import count, plural
from fairdash.datasets import Dataset
from fairdash.store import TrialRecord
from fairdash.ui.individual.alike import Alike
from fairdash.ui.individual.pairs import pick_pairs
from fairdash.ui.results.results import Setting
from fairdash.ui.widgets.blocks import controls, more
from fairdash.ui.widgets.pick_models import model_in_question

_RADII = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
_PEOPLE = (300, 600, 2_000, 10_000)
_USUAL = 300
_ALL = 10**9


@dataclass(frozen=True)
class Asked:
    """What the reader asks.

    Attributes
    ----------
    model : Setting
    trial : TrialRecord
        Of the seed whose people are shown.
    alike : Alike
    radius : float
        Largest squared fair distance.
    n_people : int
        Most test rows of a seed for which worst counterparts are searched.
    """

    model: Setting
    trial: TrialRecord
    alike: Alike
    radius: float
    n_people: int


def pick_individual(
    models: Sequence[Setting], dataset: Dataset, dataset_id: str, run_id: str | None
) -> Asked:
    """Draw the choice of a model, of what does not count and of the fair radius."""
    labels = {model.label: model for model in models}
    with controls(4):
        chosen = st.selectbox(
            "Model",
            list(labels),
            index=model_in_question(models, run_id),
            key=f"{dataset_id} {run_id} audited",
        )
        radius = st.select_slider(
            "Fair radius (ε)",
            _RADII,
            value=0.1,
            help="Squared distance up to which people count as alike, in units of the "
            "encoded features, whose standard deviation is 1.",
            key=f"{dataset_id} radius",
            persist_state="session",
        )
        model = labels[chosen]
        with more("What does not count"):
            columns, group = _pick_free(dataset, dataset_id)
            pairs = pick_pairs(dataset, dataset_id, model.trials[0].seed)
        with more("Search"):
            trial = _pick_seed(model, dataset_id)
            n_people = _pick_people(dataset_id)
    alike = Alike(tuple(columns), group, pairs)
    return Asked(model, trial, alike, float(radius), n_people)


def _pick_free(dataset: Dataset, dataset_id: str) -> tuple[list[str], bool]:
    columns = st.multiselect(
        "Columns",
        list(dataset.roles.features),
        help="Features whose values should make no difference. They are also the ones "
        "that are changed to test whether predictions stay.",
        key=f"{dataset_id} free columns",
        persist_state="session",
    )
    group = st.toggle(
        f"What predicts {dataset.roles.sensitive_feature}",
        value=True,
        help="The direction of a logistic regression of the group on the remaining "
        "features.",
        key=f"{dataset_id} free direction",
        persist_state="session",
    )
    return columns, group


def _pick_seed(model: Setting, dataset_id: str) -> TrialRecord:
    """Draw the choice of the split whose people are shown."""
    by_seed = {trial.seed: trial for trial in model.trials}
    if len(by_seed) == 1:
        return model.trials[0]
    seed = st.selectbox(
        "People of",
        list(by_seed),
        format_func=lambda seed: f"seed {seed}",
        help=f"Numbers are means over {plural(len(by_seed), 'seed')}; single people "
        "are test rows of one.",
        key=f"{dataset_id} people of",
    )
    return by_seed[seed]


def _pick_people(dataset_id: str) -> int:
    """Draw the choice of how many people get a worst counterpart."""
    names = {n: f"at most {count(n)}" for n in _PEOPLE} | {_ALL: "all test rows"}
    n: int = st.selectbox(
        "People searched",
        list(names),
        index=_PEOPLE.index(_USUAL),
        format_func=names.__getitem__,
        help="Worst counterparts are searched for so many test rows of each seed, "
        "drawn at random once. More take longer. Flips of columns always use all.",
        key=f"{dataset_id} people searched",
        persist_state="session",
    )
    return n
