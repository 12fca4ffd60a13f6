"""The Individual fairness page: whether people who are alike are treated alike.

Pairs are kept by what decides them: keys of trials and data sets name contents, so an
entry can never be stale.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import get_args

import streamlit as st

from fairdash._escaping import plain, visible
from fairdash.audits import (
    AuditedModel,
    AuditRows,
    DecisionRule,
    Scaling,
    Setting,
    look_alikes,
    stored,
)
from fairdash.scored import ScoredModel
from fairdash.sweep import SweepSpec
from fairdash.ui.selection import OF_DATA, OF_RUN, Fields, bound
from fairdash.ui.widgets.blocks import more
from fairdash.ui.widgets.pick_models import pick_seed_of
from fairdash.ui.widgets.pick_rule import chosen_rule, pick_rule
from fairdash.ui.widgets.state import BY_KEY, store

# Test rows that pairs are looked for; inventing a pair takes longer than finding one.
_PEOPLE = 2_000
_INVENTED = 300
_KINDS: dict[look_alikes.PairKind, str] = {
    "similar": "Similar people",
    "changed": "Only this changed",
    "invented": "Invented",
}
_RADII = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
_RADIUS = 0.1
_HALF = DecisionRule()
_KEYED = BY_KEY | {
    DecisionRule: attrgetter("text"),
}


@dataclass(frozen=True)
class IndividualFields(Fields):
    """Choices of the Individual fairness page in the address."""

    # Columns that should not count, as JSON: {"columns": [...]}.
    metric: str | None = field(default=None, metadata=OF_RUN)
    # Where pairs came from in links of earlier versions.
    pairs: str | None = field(default=None, metadata=OF_DATA)
    # Whom people are compared with.
    compared: str | None = None
    # Column that says which rows are comparable.
    comparable: str | None = field(default=None, metadata=OF_DATA)
    # Largest squared fair distance of an invented counterpart (epsilon).
    fair_radius: float | None = None


@dataclass(frozen=True)
class PairQuestion:
    """The question of the reader: a model, columns and a kind of pairs.

    ``columns`` should not count; ``flipped`` are those of them that the model reads, by
    default the sensitive one.
    """

    model: Setting
    trial: ScoredModel  # of the seed whose people are shown
    rule: DecisionRule
    columns: tuple[str, ...]
    flipped: tuple[str, ...]
    kind: look_alikes.PairKind
    radius: float  # largest squared fair distance of an invented counterpart
    comparable: str = ""  # column: rows with one value are comparable


def pick_individual(model: Setting, dataset_id: str) -> PairQuestion:
    """Draw the controls."""
    features = _features_of(dataset_id, model)
    sensitive = store().dataset(dataset_id).roles.sensitive_feature
    columns = _pick_columns(model, features, sensitive) or (sensitive,)
    flipped = tuple(name for name in columns if name in features)
    kinds = [
        kind for kind in get_args(look_alikes.PairKind) if flipped or kind != "changed"
    ]
    kind: look_alikes.PairKind = st.segmented_control(
        "Compare with",
        kinds,
        required=True,
        format_func=_KINDS.__getitem__,
        help="**Similar**: the most similar other person of the test rows. **Only this "
        "changed**: the same person with other values of what should not count. "
        "**Invented**: a made-up row that gets another decision.",
        **bound("compared", "similar", among=kinds),
    )
    comparable = _pick_comparable(dataset_id, features)
    trial = pick_seed_of(model, "People of", format_func=lambda seed: f"seed {seed}")
    pick_rule(model)
    radius = _RADIUS
    if kind == "invented":
        with st.container(width="content"):
            radius = st.select_slider(
                "How far they may differ (ε)",
                _RADII,
                help="Squared distance of encoded columns, whose standard deviation is "
                "1.",
                **bound("fair_radius", _RADIUS, among=_RADII, by_value=True),
            )
            near = look_alikes.own_units(
                model_of(dataset_id, trial, _HALF).rows.encoder, radius
            )
            st.caption(plain(f"A single number may differ by {near}."))
    if IndividualFields.here().pairs:
        st.caption("Pairs are no longer uploaded here: the page compares real people.")
    return PairQuestion(
        model, trial, chosen_rule(), columns, flipped, kind, radius, comparable
    )


def _pick_comparable(dataset_id: str, features: Sequence[str]) -> str:
    """Draw the choice of a column that says which rows are comparable, "" for none."""
    dataset = store().dataset(dataset_id)
    columns = [
        str(name)
        for name in dataset.frame.columns
        if name not in features and name != dataset.roles.target
    ]
    if not columns:
        return ""
    with more("Comparable rows"), st.container(width=340):
        chosen = st.selectbox(
            "Rows are comparable with the same",
            ["", *columns],
            format_func=lambda name: visible(name) or "(no column)",
            help="A column such as the number of a pair, or of one text with several "
            "names in it. Directions in which such rows differ then do not count.",
            **bound("comparable", "", among=["", *columns]),
        )
    return str(chosen or "")


def _pick_columns(
    model: Setting, features: Sequence[str], sensitive: str
) -> tuple[str, ...]:
    start = list(look_alikes.trained_columns(model.trials[0], features))
    if not start and sensitive in features:
        start = [sensitive]
    columns = st.multiselect(
        "Should not count",
        features,
        format_func=visible,
        placeholder=visible(f"{sensitive} (not read)"),
        width=260,
        help="Columns whose values should make no difference: the sensitive one and "
        "what stands for it.",
        **bound(
            "metric",
            start,
            among=features,
            shown=_read_columns,
            meant=lambda columns: json.dumps({"columns": columns}),
        ),
    )
    return tuple(columns)


def _read_columns(text: str) -> list[str]:
    try:
        return list(map(str, json.loads(text)["columns"]))
    except (KeyError, TypeError, ValueError):
        return [text]


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_KEYED)
def model_of(dataset_id: str, trial: ScoredModel, rule: DecisionRule) -> AuditedModel:
    """Return a stored model, or that of a file brought along, with its rows.

    Raises ValueError when it was trained by an earlier version.
    """
    if not rule.usual:
        model = model_of(dataset_id, trial, _HALF)
        return stored.deciding_by(model, rule, store(), dataset_id, trial)
    if trial.is_own:
        return stored.audited_scores(store(), store().dataset(dataset_id), trial)
    spec = SweepSpec.of_run(store().run_of(trial.source.key).spec)
    scaling, drawn = stored.encoding_of(store().dataset(dataset_id), trial, spec)
    return stored.read_model(
        store(), trial, _rows(dataset_id, trial.seed, scaling, drawn)
    )


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_KEYED)
def _rows(
    dataset_id: str, seed: int, scaling: Scaling, train_rows: int | None
) -> AuditRows:
    dataset = store().dataset(dataset_id)
    return AuditRows.of(dataset, seed, scaling=scaling, train_rows=train_rows)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_KEYED)
def pairs_of(
    dataset_id: str,
    trial: ScoredModel,
    rule: DecisionRule,
    kind: look_alikes.PairKind,
    columns: tuple[str, ...],
    radius: float = 0.0,
    comparable: str = "",
) -> look_alikes.Pairs:
    """Return people of a model with somebody alike, see `look_alikes.Pairs`."""
    model = model_of(dataset_id, trial, rule)
    if kind == "changed":
        return look_alikes.changed_people(
            model, look_alikes.flip_values(model.rows.dataset, columns)
        )
    if kind == "similar":
        return look_alikes.similar_people(
            model, columns, places=model.rows.sample(_PEOPLE), comparable=comparable
        )
    places = model.rows.sample(_INVENTED)
    return look_alikes.invented_people(
        model, columns, places=places, radius=radius, comparable=comparable
    )


def _features_of(dataset_id: str, model: Setting) -> tuple[str, ...]:
    if model.is_own:
        return tuple(model_of(dataset_id, model.trials[0], _HALF).rows.features)
    return store().dataset(dataset_id).roles.features
