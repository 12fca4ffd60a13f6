"""What Individual fairness says of the chosen model: numbers, figures, certificate."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import plain, plural
from fairdash.audits import (
    AuditedModel,
    certificate_kpis,
    individual_kpis,
    nobody_alike,
    yardstick_caption,
)
from fairdash.metrics import FairMetric
from fairdash.results import Setting
from fairdash.ui.individual.form import Question
from fairdash.ui.individual.models import (
    THRESHOLD,
    Audits,
    certified_seeds,
    yardstick_of,
)
from fairdash.ui.widgets.blocks import figure, heading, kpi_row

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
distance is at most ε on average. The search finds it from below (**at least**). The
**certificate** is a bound from above, proved from the norms of the layers; where it is
above the largest difference between any two people it says nothing and is **void**.

**First layer**: ‖A'W₁‖, how far the first layer tells people apart who
differ in sensitive directions alone. At 0 the network cannot.
"""


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


def show_numbers(audits: Audits) -> None:
    """Draw the numbers of the chosen model."""
    kpi_row(individual_kpis(audits.table.iloc[0]))


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


def show_consistency(audits: Audits, question: Question, others: int) -> None:
    """Draw balanced accuracy against consistency of models; ``others`` may follow."""
    people, seeds = audit_facts(audits)
    of = "all" if question.spec.columns else "a sample"
    found = audits.table.get("found")
    nobody = (
        "" if found is None else nobody_alike(float(found.iloc[0]), question.radius)
    )
    reasons = _reasons(audits.excluded)
    picture = plots.plot_consistency(audits.table)
    figure(
        picture,
        caption=f"{people} ({of} of those of a split), {seeds} of the model above."
        + nobody
        + (f" Excluded: {reasons}." if reasons else "")
        + (f" {plural(others, 'model')} not compared yet." if others else ""),
        how=_HOW_CONSISTENCY,
        table=_readable(audits.table),
        key="consistency",
    )


def show_metric(metric: FairMetric, model: AuditedModel, question: Question) -> None:
    """Draw the sensitive directions, and what the fair radius amounts to."""
    yardstick = yardstick_of(model.rows, question)
    figure(
        plots.plot_fair_metric(metric.table(model.rows.train)),
        caption=f"Variance of {plural(len(model.rows.train), 'training row')}. "
        f"{yardstick_caption(yardstick, question.radius)}",
        how=_HOW_METRIC,
        key="fair metric",
    )


def show_certificate(dataset_id: str, question: Question, model: AuditedModel) -> None:
    """Draw the certificates of the first seeds: means, and what they leave open."""
    heading("What can be certified", _HOW_CERTIFICATE)
    if model.network is None:
        st.info(plain(model.why_no_slopes), icon=":material/info:")
        return
    with st.spinner("Certifying"):
        found = certified_seeds(question, dataset_id)
    kpi_row(certificate_kpis(found))
    st.caption(
        f"{plural(found.n_rows, 'test row')} of each of "
        f"{plural(found.n_seeds, 'seed')}, ε = {question.radius:g}. With people drawn "
        f"anew the search would find at most {found.limit:.2f} (one-sided 95%). Free "
        "moves stay within the range of the training rows and need not be rows of the "
        "table."
    )


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the audits without what the figure alone needs."""
    hidden = {"colour_role", "chosen", "n_sd", "constant_sd"}
    kept = [
        name
        for name in map(str, table)
        if name not in hidden and (name == "n_seeds" or not name.endswith("_seeds"))
    ]
    return table[kept].dropna(axis="columns", how="all")
