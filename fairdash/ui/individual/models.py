"""Stored models and their audits, and what the page says of the chosen one.

Audits are cached by what decides them: keys of trials and data sets name contents, so
an entry can never be stale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import listing, plural
from fairdash.audits import (
    Answer,
    AuditedModel,
    AuditRows,
    Certified,
    Counterparts,
    Drawing,
    FairMetricSpec,
    Scaling,
    Setting,
    Yardstick,
    audit_counterparts,
    audit_flips,
    audited_scores,
    audits_table,
    certificate_caption,
    certificate_kpis,
    certify,
    encoding_of,
    fair_radius_yardstick,
    flip_values,
    individual_brief,
    individual_kpis,
    individual_verdict,
    is_own,
    nobody_alike,
    read_model,
    score_of_key,
    search_counterparts,
    yardstick_caption,
)
from fairdash.methods import CATALOG
from fairdash.metrics import FairMetric
from fairdash.store import TrialRecord
from fairdash.sweep import SweepSpec
from fairdash.ui.individual.form import Question
from fairdash.ui.widgets.answers import show_answer
from fairdash.ui.widgets.blocks import heading, kpi_row
from fairdash.ui.widgets.state import BY_KEY, store

MOST_MODELS = 40
MOST_SEEDS = 3  # that are certified
THRESHOLD = 1.25  # of the loss ratio
_KEYED = BY_KEY | {
    Question: lambda asked: (asked.spec, asked.radius, asked.n_people),
    TrialRecord: lambda trial: (trial.key, trial.seed),  # of a file the key is one
}
_AT_ONCE = 2  # other models that are compared without being asked
_COMPARE_ALL = "individual compare all"
_FEW = 3  # models that are named where they are excluded
_HOW_CONSISTENCY = """
A person is **consistent** if the prediction stays the same whatever does not count:
over all values of the chosen columns, or, without columns, for the worst counterpart
found within ε among rows of table values. Right is fairer, up is more accurate. The
ring is the model above. Lines join models that differ in fairness weight alone, small
marks to large; bars are one standard deviation over seeds, or, with one seed, the 95%
Wilson interval across.
"""
_HOW_METRIC = """
What two people may differ in and still be alike. A bar is the share of the variance of
all features along a direction, beyond the bars above it; hover for its columns.
"""
_HOW_CERTIFICATE = f"""
**Loss ratio**: the loss at the worst counterpart over the loss of the person, on
average. Shown is the one-sided 95% lower bound of the mean; above {THRESHOLD:g} the
model is called unfair.

**DIF**: the mean squared change of logits that people can meet when the squared fair
distance is at most ε on average. The search finds it from below (**at least**).

**First layer**: ‖A'W₁‖, how far the first layer tells people apart who
differ in sensitive directions alone. At 0 the network cannot.
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
            found = [_audit(dataset_id, trial, question) for trial in model.trials]
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
    return spec.build(rows, store())


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=_KEYED)
def people_of(dataset_id: str, trial: TrialRecord, question: Question) -> Counterparts:
    """Return people with their worst counterparts within the radius."""
    model = model_of(dataset_id, trial)
    metric = metric_of(model.rows, question.spec)
    places = model.rows.sample(question.n_people)
    return search_counterparts(model, metric, places=places, radius=question.radius)


@st.cache_data(max_entries=500, show_spinner=False, hash_funcs=_KEYED)
def yardstick_of(rows: AuditRows, question: Question) -> Yardstick:
    """Return how far apart real people are under the fair metric."""
    metric, places = metric_of(rows, question.spec), rows.sample(question.n_people)
    return fair_radius_yardstick(rows, metric, places=places, radius=question.radius)


def features_of(dataset_id: str, model: Setting) -> tuple[str, ...]:
    """Return the columns that a model reads."""
    if is_own(model):
        return tuple(model_of(dataset_id, model.trials[0]).rows.features)
    return store().dataset(dataset_id).roles.features


def _audit(dataset_id: str, trial: TrialRecord, question: Question) -> dict[str, float]:
    if question.spec.columns:
        return _flipped(dataset_id, trial, question.spec.columns)
    found = people_of(dataset_id, trial, question)
    return audit_counterparts(model_of(dataset_id, trial), found)


@st.cache_data(max_entries=2000, show_spinner=False, hash_funcs=_KEYED)
def _flipped(
    dataset_id: str, trial: TrialRecord, columns: tuple[str, ...]
) -> dict[str, float]:
    model = model_of(dataset_id, trial)
    return audit_flips(model, flip_values(model.rows.dataset, columns))


@st.cache_data(max_entries=500, show_spinner=False, hash_funcs=_KEYED)
def _certified(dataset_id: str, trial: TrialRecord, question: Question) -> Certified:
    model = model_of(dataset_id, trial)
    return certify(
        model,
        metric_of(model.rows, question.spec),
        places=model.rows.sample(question.n_people),
        radius=max(question.radius, 1e-6),
        threshold=THRESHOLD,
    )


def audit_facts(audits: Audits) -> tuple[str, str]:
    """Return on how much the chosen model was audited, for the context line."""
    chosen = audits.table.iloc[0]
    people = plural(round(chosen["n"]), "test row")
    return people, plural(int(chosen["n_seeds"]), "seed")


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


def answer_of(audits: Audits, question: Question, name: str) -> Answer:
    """Return what the audit of the chosen model says; ``name`` is of the data set."""
    row = audits.table.iloc[0]
    return Answer(
        individual_brief(row, question.spec.columns),
        individual_kpis(row),
        facts=(name, *audit_facts(audits), question.model.label),
        details=individual_verdict(row, question.spec.columns),
    )


def pick_compared(
    models: Sequence[Setting], question: Question
) -> tuple[Sequence[Setting], int]:
    """Return the models to compare, and how many wait for a click.

    Each takes about a second; all are compared at once only if they are few or asked
    for.
    """
    others = [model for model in models if model is not question.model]
    waiting = len(others) - _AT_ONCE
    if waiting <= 0 or st.session_state.get(_COMPARE_ALL):
        return models, 0
    st.button(
        f"Compare {plural(waiting, 'more model')}",
        icon=":material/compare:",
        on_click=lambda: st.session_state.update({_COMPARE_ALL: True}),
    )
    return [question.model, *others[:_AT_ONCE]], waiting


def show_consistency(
    audits: Audits, question: Question, n_rows: int, others: int
) -> None:
    """Draw balanced accuracy against consistency of models; ``others`` may follow.

    ``n_rows`` are the test rows of a split.
    """
    people, seeds = audit_facts(audits)
    of = "all" if round(audits.table["n"].iloc[0]) >= n_rows else "a sample"
    found = audits.table.get("found")
    nobody = (
        "" if found is None else nobody_alike(float(found.iloc[0]), question.radius)
    )
    reasons = _reasons(audits.excluded)
    answer = Answer(
        "",
        figure=Drawing(
            "plot_consistency", audits.table, numbers=_readable(audits.table)
        ),
        caption=f"{people} ({of} of those of a split), {seeds} of the model above."
        + nobody
        + (f" Excluded: {reasons}." if reasons else "")
        + (f" {plural(others, 'model')} not compared yet." if others else ""),
        how=_HOW_CONSISTENCY,
    )
    show_answer(answer, "consistency")


def show_metric(metric: FairMetric, model: AuditedModel, question: Question) -> None:
    """Draw the sensitive directions, and what the fair radius amounts to."""
    yardstick = yardstick_of(model.rows, question)
    answer = Answer(
        "",
        figure=Drawing("plot_fair_metric", metric.table(model.rows.train)),
        caption=f"Variance of {plural(len(model.rows.train), 'training row')}. "
        f"{yardstick_caption(yardstick, question.radius)}",
        how=_HOW_METRIC,
    )
    show_answer(answer, "fair metric")


def show_certificate(dataset_id: str, question: Question, model: AuditedModel) -> None:
    """Draw the certificates of the first seeds: means, and what they leave open."""
    heading("What can be certified", _HOW_CERTIFICATE)
    if model.network is None:
        st.info(plain(model.why_no_slopes), icon=":material/info:")
        return
    with st.spinner("Certifying"):
        trials = question.model.trials[:MOST_SEEDS]
        found = [_certified(dataset_id, trial, question) for trial in trials]
    kpi_row(certificate_kpis(found))
    st.caption(certificate_caption(found, question.radius))


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the audits without what the figure alone needs."""
    hidden = {"colour_role", "chosen", "n_sd", "constant_sd"}
    kept = [
        name
        for name in map(str, table)
        if name not in hidden and (name == "n_seeds" or not name.endswith("_seeds"))
    ]
    return table[kept].dropna(axis="columns", how="all")
