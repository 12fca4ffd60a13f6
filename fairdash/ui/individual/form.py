"""Controls of Individual fairness: model, what should not count, who is compared."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

import streamlit as st

from fairdash._wording import count
from fairdash.audits import FairMetricSpec, PairKind, Setting
from fairdash.datasets import Dataset
from fairdash.store import TrialRecord
from fairdash.ui.selection import OF_DATA, OF_RUN, Fields, bound
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.pick_models import pick_seed_of

_KINDS: dict[PairKind, str] = {
    "similar": "Similar people",
    "changed": "Only this changed",
    "invented": "Invented",
}
_RADII = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
_RADIUS = 0.1
_PEOPLE = (300, 600, 2_000, 10_000)
_USUAL = 300
_ALL = 10**9


@dataclass(frozen=True)
class IndividualFields(Fields):
    """What the address says beside what every page knows."""

    # The fair metric, as `fairdash.audits.FairMetricSpec.text` writes it.
    metric: str | None = field(default=None, metadata=OF_RUN)
    # Where pairs came from in links of earlier versions.
    pairs: str | None = field(default=None, metadata=OF_DATA)
    # Whom people are compared with.
    compared: str | None = None
    # Most people who are looked at.
    people: int | None = None
    # Largest squared fair distance of an invented counterpart (epsilon).
    fair_radius: float | None = None
    # Row of the table, from 1, of the person who is looked at.
    person: int | None = field(default=None, metadata=OF_RUN)
    # What edits of a person begin with, "worst" for the other of the pair, and the
    # values edited, "row column=value".
    begin: str | None = field(default=None, metadata=OF_RUN)
    edits: tuple[str, ...] = field(default=(), metadata=OF_RUN)


@dataclass(frozen=True)
class Question:
    """What the reader asks.

    ``columns`` should not count; ``flipped`` are those of them that the model reads, by
    default the sensitive one.
    """

    model: Setting
    trial: TrialRecord  # of the seed whose people are shown
    spec: FairMetricSpec
    columns: tuple[str, ...]
    flipped: tuple[str, ...]
    kind: PairKind
    radius: float  # largest squared fair distance of an invented counterpart
    n_people: int  # most test rows of a seed that are looked at


def pick_individual(
    model: Setting,
    dataset: Dataset,
    features_of: Callable[[Setting], tuple[str, ...]],
    near: Callable[[TrialRecord, float], str],
) -> Question:
    """Draw the controls.

    ``features_of`` returns the columns that a model reads, ``near`` how far an invented
    person may differ, in units of the columns.
    """
    features = features_of(model)
    spec = _pick_columns(model, features, dataset)
    sensitive = dataset.roles.sensitive_feature
    columns = spec.columns or (sensitive,)
    flipped = tuple(name for name in columns if name in features)
    kinds = [kind for kind in get_args(PairKind) if flipped or kind != "changed"]
    kind: PairKind = st.segmented_control(
        "Compare with",
        kinds,
        required=True,
        format_func=_KINDS.__getitem__,
        help="The most similar other person of the test rows; the same person with "
        "other values of what should not count; or a row that nobody has, made to be "
        "decided otherwise.",
        **bound("compared", "similar", among=kinds),
    )
    with st.container(width="content"), more("Search"):
        trial = pick_seed_of(
            model, "People of", format_func=lambda seed: f"seed {seed}"
        )
        n_people = _pick_people()
        radius = _RADIUS
        if kind == "invented":
            radius = st.select_slider(
                "How far they may differ (ε)",
                _RADII,
                help="Squared distance of encoded columns, whose standard deviation is "
                "1.",
                **bound("fair_radius", _RADIUS, among=_RADII),
            )
            st.caption(f"A single number may differ by {near(trial, radius)}.")
        if IndividualFields.here().pairs:
            st.caption(
                "Pairs are no longer uploaded here. Learn a metric from them with "
                "fairdash.metrics.comparable_directions or explore."
            )
    return Question(model, trial, spec, columns, flipped, kind, float(radius), n_people)


def _pick_columns(
    model: Setting, features: tuple[str, ...], dataset: Dataset
) -> FairMetricSpec:
    """Draw the columns that should not count; at first those the model trained with."""
    trained = FairMetricSpec.of_trial(model.trials[0], features)
    sensitive = dataset.roles.sensitive_feature
    if not trained.columns and sensitive in features:
        trained = trained.changed(columns=(sensitive,))
    spec = FairMetricSpec.parse(IndividualFields.here().metric, features) or trained
    columns = st.multiselect(
        "Should not count",
        features,
        placeholder=f"{sensitive} (not read)",
        width=260,
        help="Columns whose values should make no difference: the sensitive one and "
        "what stands for it.",
        **bound(
            "metric",
            list(spec.columns),
            shown=lambda _: list(spec.columns),
            meant=lambda columns: spec.changed(columns=tuple(columns)).text(),
        ),
    )
    return spec.changed(columns=tuple(columns))


def _pick_people() -> int:
    """Draw the choice of how many people are looked at."""
    names = {n: f"at most {count(n)}" for n in _PEOPLE} | {_ALL: "all test rows"}
    n: int = st.selectbox(
        "People",
        help="So many test rows of each seed, drawn at random once. More take longer. "
        "Changes of columns always use all.",
        **bound("people", _USUAL, named=names),
    )
    return n
