"""Stored models, their pairs of people and their audits, each computed once.

Audits are cached by what decides them: keys of trials and data sets name contents, so
an entry can never be stale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from fairdash._wording import listing, plural
from fairdash.audits import (
    Answer,
    AuditedModel,
    AuditRows,
    Drawing,
    FairMetricSpec,
    PairKind,
    Pairs,
    Scaling,
    Setting,
    audit_flips,
    audit_similar,
    audited_scores,
    audits_table,
    changed_people,
    encoding_of,
    flip_values,
    invented_people,
    is_own,
    own_units,
    read_model,
    score_of_key,
    search_counterparts,
    similar_people,
)
from fairdash.methods import CATALOG
from fairdash.metrics import FairMetric
from fairdash.store import TrialRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.individual.form import Question
from fairdash.ui.widgets.state import BY_KEY, store

MOST_MODELS = 40
_KEYED = BY_KEY | {
    TrialRecord: lambda trial: (trial.key, trial.seed),  # of a file the key is one
}
_FEW = 3  # models that are named where they are excluded
_HOW_CONSISTENCY = """
A person is **consistent** if the prediction stays the same over all values of the
columns that should not count or, where a model reads none of them, if the most similar
other person is decided alike. Right is fairer, up is more accurate. The ring is the
model above. Lines join models that differ only in fairness weight, small marks to
large; bars are one standard deviation over seeds or, with one seed, 95% Wilson.
"""


@dataclass(frozen=True)
class Audits:
    """Audits of models, and why some are excluded."""

    table: pd.DataFrame  # of `fairdash.audits.audits_table`, the chosen model first
    excluded: dict[str, str]  # reason by label


def audits_of(models: Sequence[Setting], question: Question, dataset_id: str) -> Audits:
    """Audit models on the seeds of the chosen one, so on the same people.

    Those that lack one of them are excluded, and those beyond the first 40. Raises
    ValueError when the chosen model cannot be audited.
    """
    chosen = question.model
    ordered = [chosen, *(model for model in models if model is not chosen)]
    rows: list[dict[str, object]] = []
    beyond = f"only {MOST_MODELS} are compared"
    excluded = {model.label: beyond for model in ordered[MOST_MODELS:]}
    for one in ordered[:MOST_MODELS]:
        model, lacking = one.on(chosen.seeds), chosen.seeds - one.seeds
        if lacking:
            excluded[one.label] = f"has no seed {listing(map(str, sorted(lacking)))}"
            continue
        known = {
            "label": model.label,
            "method": model.label if is_own(model) else CATALOG[model.method].label,
            "colour_role": model.colour_role,
            "chosen": one is chosen,
            "fairness_weight": model.trials[0].params.get(
                "fairness_weight", float("nan")
            ),
        }
        try:
            found = [
                _audit(dataset_id, trial, question.flipped, question.n_people)
                for trial in model.trials
            ]
        except ValueError as error:
            if one is chosen:
                raise
            excluded[model.label] = str(error)
            continue
        rows += [known | numbers for numbers in found]
    return Audits(audits_table(rows), excluded)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_KEYED)
def model_of(dataset_id: str, trial: TrialRecord) -> AuditedModel:
    """Return a stored model, or that of a file brought along, with its rows.

    Raises ValueError when it was trained by an earlier version.
    """
    if score_of_key(trial.key) is not None:
        return audited_scores(store(), store().dataset(dataset_id), trial)
    spec = SweepSpec.of_run(store().run_of(trial.key).spec)
    scaling, drawn = encoding_of(store().dataset(dataset_id), trial, spec)
    return read_model(store(), trial, _rows(dataset_id, trial.seed, scaling, drawn))


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=_KEYED)
def _rows(
    dataset_id: str, seed: int, scaling: Scaling, train_rows: int | None
) -> AuditRows:
    dataset = store().dataset(dataset_id)
    return AuditRows.of(dataset, seed, scaling=scaling, train_rows=train_rows)


@st.cache_resource(max_entries=128, show_spinner=False, hash_funcs=_KEYED)
def metric_of(rows: AuditRows, spec: FairMetricSpec) -> FairMetric:
    """Return the fair metric of a choice, see `FairMetricSpec.build`."""
    return spec.build(rows)


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_KEYED)
def pairs_of(
    dataset_id: str,
    trial: TrialRecord,
    kind: PairKind,
    columns: tuple[str, ...],
    n_people: int,
    spec: FairMetricSpec,
    radius: float,
) -> Pairs:
    """Return people of a model with somebody alike; see `fairdash.audits.Pairs`."""
    model = model_of(dataset_id, trial)
    if kind == "changed":
        return changed_people(model, flip_values(model.rows.dataset, columns))
    places = model.rows.sample(n_people)
    if kind == "similar":
        return similar_people(model, columns, places=places)
    metric = metric_of(model.rows, spec)
    found = search_counterparts(model, metric, places=places, radius=radius)
    return invented_people(found)


def asked_pairs(dataset_id: str, question: Question, kind: PairKind) -> Pairs:
    """Return the pairs of the question's model and seed."""
    invented = kind == "invented"
    spec = question.spec if invented else FairMetricSpec()
    return pairs_of(
        dataset_id,
        question.trial,
        kind,
        question.flipped,
        question.n_people,
        spec,
        question.radius if invented else 0.0,
    )


def features_of(dataset_id: str, model: Setting) -> tuple[str, ...]:
    """Return the columns that a model reads."""
    if is_own(model):
        return tuple(model_of(dataset_id, model.trials[0]).rows.features)
    return store().dataset(dataset_id).roles.features


def differ_by(dataset_id: str, trial: TrialRecord, radius: float) -> str:
    """Return how far single numbers may differ within a radius, in their units."""
    return own_units(model_of(dataset_id, trial).rows.encoder, radius)


@st.cache_data(max_entries=2000, show_spinner=False, hash_funcs=_KEYED)
def _audit(
    dataset_id: str, trial: TrialRecord, flipped: tuple[str, ...], n_people: int
) -> dict[str, float]:
    model = model_of(dataset_id, trial)
    if flipped:
        return audit_flips(model, flip_values(model.rows.dataset, flipped))
    spec = FairMetricSpec()
    similar = pairs_of(dataset_id, trial, "similar", (), n_people, spec, 0.0)
    return audit_similar(model, similar)


def consistency_answer(
    models: Sequence[Setting], question: Question, dataset_id: str
) -> Answer:
    """Return balanced accuracy against consistency of all models."""
    audits = audits_of(models, question, dataset_id)
    row = audits.table.iloc[0]
    people = plural(round(row["n"]), "test row")
    reasons = _reasons(audits.excluded)
    return Answer(
        "",
        figure=Drawing(
            "plot_consistency", audits.table, numbers=_readable(audits.table)
        ),
        caption=f"{people}, {plural(int(row['n_seeds']), 'seed')} of the model above."
        + (f" Excluded: {reasons}." if reasons else ""),
        how=_HOW_CONSISTENCY,
    )


def _reasons(excluded: Mapping[str, str]) -> str:
    """Return why models are excluded, each reason once; of many their number."""
    by_reason: dict[str, list[str]] = {}
    for name, why in excluded.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(
        f"{', '.join(names) if len(names) <= _FEW else plural(len(names), 'model')}: "
        f"{why}"
        for why, names in by_reason.items()
    )


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the audits without what only the figure needs."""
    hidden = {"colour_role", "chosen", "n_sd", "constant_sd"}
    kept = [
        name
        for name in map(str, table)
        if name not in hidden and (name == "n_seeds" or not name.endswith("_seeds"))
    ]
    return table[kept].dropna(axis="columns", how="all")
