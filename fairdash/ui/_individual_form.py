"""Controls of Individual fairness, and the tables that follow from them."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash._validation import value_label
from fairdash.datasets import Dataset, decode
from fairdash.methods import CATALOG
from fairdash.metrics import DIFCertificate, LossRatio
from fairdash.store import TrialRecord
from fairdash.ui._alike import Alike, fair_metric
from fairdash.ui._blocks import Kpi, kpi_row, more
from fairdash.ui._format import change, interval, number, percent, plural
from fairdash.ui._individual import Audit, Audited, audit, audited, worst
from fairdash.ui._individual_pairs import pick_pairs
from fairdash.ui._models import MEAN
from fairdash.ui._results import Setting

RADII = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
_LISTED = 10
_SHOWN_MODELS = 12


def pick_individual(
    models: Sequence[Setting], dataset: Dataset, dataset_id: str, run_id: str | None
) -> tuple[Setting, Alike, float]:
    """Draw the choice of a model, of what does not count and of the fair radius."""
    labels = {model.label: model for model in models}
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Model", list(labels), width=260, key=f"{dataset_id} {run_id} audited"
        )
        radius = st.select_slider(
            "Fair radius (ε)",
            RADII,
            value=0.1,
            width=220,
            help="Squared distance up to which people count as alike, in units of the "
            "encoded features, whose standard deviation is 1.",
            key=f"{dataset_id} radius",
        )
        with st.container(width=200), more("What does not count"):
            columns = st.multiselect(
                "Columns",
                list(dataset.roles.features),
                help="Features whose values should make no difference. They are also "
                "the ones that are changed to test whether predictions stay.",
                key=f"{dataset_id} free columns",
                persist_state="session",
            )
            group = st.toggle(
                f"What predicts {dataset.roles.sensitive_feature}",
                value=True,
                help="The direction of a logistic regression of the group on the "
                "remaining features.",
                key=f"{dataset_id} free direction",
                persist_state="session",
            )
        seed = trial_of(labels[chosen]).seed
        pairs = pick_pairs(dataset, dataset_id, seed)
    return labels[chosen], Alike(tuple(columns), group, pairs), float(radius)


def trial_of(model: Setting, seed: int = MEAN) -> TrialRecord:
    """Return the trial of a setting at a seed, by default its first."""
    known = {trial.seed: trial for trial in model.trials}
    return known.get(seed, model.trials[0])


@st.cache_data(max_entries=500, show_spinner=False)
def audit_of(dataset_id: str, key: str, alike: Alike, _trial: TrialRecord) -> Audit:
    """Return the audit of a trial."""
    model = audited(dataset_id, key, _trial)
    return audit(model, fair_metric(model, alike), alike.columns)


def audit_table(
    models: Sequence[Setting], chosen: Setting, dataset_id: str, alike: Alike
) -> pd.DataFrame:
    """Return consistency and balanced accuracy of the models, the chosen one first."""
    seed = trial_of(chosen).seed
    shown = [chosen, *(model for model in models if model is not chosen)]
    rows = []
    for model in shown[:_SHOWN_MODELS]:
        trial = trial_of(model, seed)
        found = audit_of(dataset_id, trial.key, alike, trial)
        rows.append(
            {
                "label": model.label,
                "colour_role": CATALOG[model.method].colour_role,
                "consistency": found.consistency,
                "consistency_low": found.low,
                "consistency_high": found.high,
                "balanced_accuracy": found.balanced_accuracy,
                "ctf": found.ctf,
                "fairness_weight": float(trial.params.get("fairness_weight", np.nan)),
                "chosen": model is chosen,
            }
        )
    return pd.DataFrame(rows)


def individual_kpis(
    found: Audit, certificate: DIFCertificate, ratio: LossRatio
) -> list[Kpi]:
    """Return consistency, CTF score, loss ratio and certificate."""
    limit = certificate.value + certificate.sampling_error
    return [
        Kpi(
            "Consistency",
            percent(found.consistency),
            interval(found.low, found.high, percent),
            help="Share of people whose prediction is the same whatever does not "
            "count, with a 95% Wilson interval.",
        ),
        Kpi(
            "CTF score",
            number(found.ctf),
            "0 is fair",
            help="Mean standard deviation of P(1) over the variants of a person.",
        ),
        Kpi(
            "Loss ratio, at least",
            number(ratio.low, 2),
            f"unfair: above {ratio.threshold:g}"
            if ratio.unfair
            else f"not shown above {ratio.threshold:g}",
            help="One-sided 95% lower bound of the mean ratio of the loss at the worst "
            "counterpart to the loss of the person.",
        ),
        Kpi(
            "DIF certificate",
            number(certificate.value, 2),
            f"{number(limit, 2)} with sampling",
            help="Mean squared change of logits that people within the fair radius can "
            "meet: found by search, with its one-sided 95% limit. The norms of the "
            f"layers prove at most {number(certificate.bound, 1)}.",
        ),
    ]


def worst_people(model: Audited, alike: Alike, radius: float) -> pd.DataFrame:
    """Return the people whose probability moves most, and what was changed.

    Counterparts are decoded to the columns of the table and scored again, so that
    every line is a possible person; as levels are rounded, its fair distance is given.
    """
    metric = fair_metric(model, alike)
    case = worst(model, metric, radius)
    before = model.frame.reset_index(drop=True)
    after = decode(model.encoder, case.X, like=model.dataset.frame)
    p, q = model.probability(before), model.probability(after)
    distance = metric.distance(model.X, model.encoder.transform(after))
    order = np.argsort(-np.abs(q - p), kind="stable")[:_LISTED]
    numbered = model.dataset.row_number[model.where]
    return pd.DataFrame(
        [
            {
                "row": int(numbered[i]) + 1,
                "P(1)": p[i],
                "changed so": q[i],
                "change": change(q[i] - p[i], 2),
                "fair distance": distance[i],
                "what changes": _changes(before.iloc[i], after.iloc[i]),
            }
            for i in order
        ]
    )


def what_if(model: Audited, alike: Alike, people: pd.DataFrame) -> None:
    """Draw one person to edit, and what becomes of prediction and fair distance."""
    numbered = {
        int(n) + 1: i for i, n in enumerate(model.dataset.row_number[model.where])
    }
    row = st.selectbox(
        "Person",
        [int(n) for n in people["row"]],
        format_func=lambda n: f"row {n:,}",
        width=200,
        key=f"{model.key} person",
    )
    person = model.frame.iloc[[numbered[row]]].reset_index(drop=True)
    levels = {
        name: st.column_config.SelectboxColumn(
            options=sorted(model.dataset.frame[name].dropna().unique().tolist())
        )
        for name in map(str, person)
        if not pd.api.types.is_numeric_dtype(person[name])
    }
    edited = st.data_editor(
        person, hide_index=True, column_config=levels, key=f"{model.key} {row} edited"
    )
    p, q = model.probability(person)[0], model.probability(edited)[0]
    distance = fair_metric(model, alike).distance(
        model.encoder.transform(person), model.encoder.transform(edited)
    )[0]
    kpi_row(
        [
            Kpi("P(1) as it is", number(p), "decided 1" if p > 0.5 else "decided 0"),
            Kpi("P(1) as edited", number(q), "decided 1" if q > 0.5 else "decided 0"),
            Kpi("Fair distance", number(distance), "squared; 0 is alike"),
        ]
    )


def facts_of(model: Audited, label: str) -> tuple[str, ...]:
    """Return the context line."""
    people = plural(len(model.X), "test row")
    return model.dataset.name, f"{people} of {model.n_test:,}", label


def _changes(before: "pd.Series[Any]", after: "pd.Series[Any]") -> str:
    """Return "sector: transport → care; age: 22 → 26"."""
    changed = [
        f"{name}: {value_label(before[name])} → {value_label(after[name])}"
        for name in before.index
        if value_label(before[name]) != value_label(after[name])
        and not _close(before[name], after[name])
    ]
    return "; ".join(changed) or "nothing visible"


def _close(one: object, other: object) -> bool:
    """Tell whether two numbers differ by rounding alone."""
    if not isinstance(one, Real) or not isinstance(other, Real):
        return False
    return bool(np.isclose(float(one), float(other), rtol=1e-4))
