"""Controls of Individual fairness: model, sensitive directions, how much to search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import count, plural
from fairdash.audits import (
    FairMetricSpec,
    Setting,
    UploadedPairs,
    pair_counts,
)
from fairdash.datasets import Dataset
from fairdash.store import TrialRecord
from fairdash.ui.selection import (
    OF_DATA,
    OF_RUN,
    Fields,
    bound,
    bound_entry,
)
from fairdash.ui.widgets.blocks import controls, kept_upload, more, problem
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.tray import pick_model

SOURCES = ("None", "Two aligned tables", "Pair id column")
_LABELLED = "Label pairs"  # a source of earlier versions
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
    # Where pairs of people who are alike come from.
    pairs: str | None = field(default=None, metadata=OF_DATA)
    # Most people for whom a worst counterpart is searched.
    people: int | None = None
    # Largest squared fair distance of a counterpart (epsilon).
    fair_radius: float | None = None
    # Row of the table, from 1, of the person who is looked at.
    person: int | None = field(default=None, metadata=OF_RUN)
    # What edits of a person begin with, "worst" for the worst counterpart, and the
    # values edited, "row column=value".
    begin: str | None = field(default=None, metadata=OF_RUN)
    edits: tuple[str, ...] = field(default=(), metadata=OF_RUN)


@dataclass(frozen=True)
class Question:
    """What the reader asks."""

    model: Setting
    trial: TrialRecord  # of the seed whose people are shown
    spec: FairMetricSpec
    radius: float  # largest squared fair distance
    n_people: int  # most test rows of a seed for which worst counterparts are searched


def pick_individual(
    models: Sequence[Setting],
    dataset: Dataset,
    dataset_id: str,
    run_id: str | None,
    features_of: Callable[[str, Setting], tuple[str, ...]],
) -> Question:
    """Draw the choice of a model, of sensitive directions and of the fair radius.

    ``features_of`` returns the columns that a model of the data set reads.
    """
    with controls(4):
        model = pick_model(models, run_id)
        radius = st.select_slider(
            "Fair radius (ε)",
            _RADII,
            help="Squared distance up to which people count as alike, in units of the "
            "encoded features, whose standard deviation is 1.",
            **bound("fair_radius", _RADIUS, among=_RADII),
        )
        with more("Sensitive directions"):
            features = features_of(dataset_id, model)
            spec = _pick_metric(model, features, dataset, dataset_id)
        with more("Search"):
            trial = pick_seed_of(
                model,
                "People of",
                format_func=lambda seed: f"seed {seed}",
                help=f"Numbers are means over {plural(len(model.seeds), 'seed')}; "
                "single people are test rows of one.",
            )
            n_people = _pick_people()
    return Question(model, trial, spec, float(radius), n_people)


def _pick_metric(
    model: Setting, features: tuple[str, ...], dataset: Dataset, dataset_id: str
) -> FairMetricSpec:
    """Draw the choice of a fair metric; at first the one the model was trained with."""
    trained = FairMetricSpec.of_trial(model.trials[0], features)

    def current() -> FairMetricSpec:
        return FairMetricSpec.parse(IndividualFields.here().metric, features) or trained

    spec = current()
    columns = st.multiselect(
        "Columns",
        features,
        help="Features whose values should make no difference. They are also the ones "
        "that are changed to test whether predictions stay.",
        **_part_of_metric("columns", current, list(spec.columns), tuple),
    )
    group = st.toggle(
        plain(f"What predicts {dataset.roles.sensitive_feature}"),
        help="The direction of a logistic regression of the group on the remaining "
        "features.",
        **_part_of_metric("predicts_group", current, spec.predicts_group, bool),
    )
    pairs = _pick_pairs(dataset)
    return spec.changed(columns=tuple(columns), predicts_group=group, pairs=pairs)


def _part_of_metric(
    field: str, current: Callable[[], FairMetricSpec], value: object, kind: type
) -> dict[str, Any]:
    """Return what ties a widget to one field of the metric that the address states."""
    return bound(
        "metric",
        value,
        shown=lambda _: value,
        meant=lambda given: current().changed(**{field: kind(given)}).text(),
        key=field,
    )


def _pick_people() -> int:
    """Draw the choice of how many people get a worst counterpart."""
    names = {n: f"at most {count(n)}" for n in _PEOPLE} | {_ALL: "all test rows"}
    n: int = st.selectbox(
        "People searched",
        help="Worst counterparts are searched for so many test rows of each seed, "
        "drawn at random once. More take longer. Flips of columns always use all.",
        **bound("people", _USUAL, named=names),
    )
    return n


def _pick_pairs(dataset: Dataset) -> UploadedPairs | None:
    """Draw the choice of pairs; None without, or until they are complete."""
    source: str = st.selectbox(
        "Pairs of people who are alike",
        SOURCES,
        help="How people of a pair differ does not count.",
        **bound("pairs", SOURCES[0], among=SOURCES),
    )
    if IndividualFields.here().pairs == _LABELLED:
        st.caption(
            "Pairs are no longer labelled here. Upload pairs, or learn a metric with "
            "fairdash.metrics.explore."
        )
    if source == "Two aligned tables":
        return _aligned()
    if source == "Pair id column":
        return _with_id(dataset)
    return None


def _aligned() -> UploadedPairs | None:
    st.caption("Row i of one file is row i of the other with something exchanged.")
    table = _upload("People", "people")
    other = _upload("Their counterparts", "counterparts")
    return UploadedPairs(table=table, other=other) if table and other else None


def _with_id(dataset: Dataset) -> UploadedPairs | None:
    table = _upload("People with a pair id", "paired")
    if table is None:
        return None
    frame = store().table(table)
    columns = [str(c) for c in frame if c not in dataset.roles.features]
    if not columns:
        problem("These are no pairs", "Every column is a feature; add a pair id.")
        return None
    tied = bound_entry("file_columns", "Pair id", columns[0], among=columns, key=table)
    column: str = st.selectbox("Pair id", columns, **tied)
    sets, alone = pair_counts(frame, column)
    st.caption(
        f"{plural(sets, 'set')} of people; {plural(alone, 'row')} without a partner "
        "excluded."
    )
    return UploadedPairs(table=table, column=column)


def _upload(label: str, role: str) -> str | None:
    """Return the digest of an uploaded table, None while there is none."""
    try:
        return kept_upload(label, role)
    except ValueError as error:
        problem(f"{label}: the file was not loaded", error)
        return None
