"""What Individual fairness says of the chosen model: numbers, figures, certificate."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from fairdash import plots
from fairdash._wording import Kpi, interval, number, percent, plain, plural
from fairdash.audits import AuditedModel
from fairdash.metrics import FairMetric
from fairdash.ui.individual.alike import Alike
from fairdash.ui.individual.form import Asked
from fairdash.ui.individual.models import THRESHOLD, Audits, certified_seeds
from fairdash.ui.widgets.blocks import figure, heading, kpi_row

_FEW = 3  # models that are named where they are left out
_HOW_CONSISTENCY = """
A person is **consistent** if the prediction stays the same whatever does not count:
over all values of the chosen columns, or, without columns, for the worst counterpart
along the directions that do not count, as far as real people differ in them. Right is
fairer, up is more accurate. The ring is the model above. Lines join models that differ
in fairness weight alone, small marks to large; bars are one standard deviation over
seeds, or, with one seed, the 95% Wilson interval across.
"""
_HOW_METRIC = """
What two people may differ in and still be alike. A bar is the share of the variance of
all features along a direction, beyond the bars above it; hover for its columns.
"""
_HOW_CERTIFICATE = f"""
**Loss ratio**: the loss at the worst counterpart over the loss of the person, on
average. Shown is the one-sided 95% lower bound of the mean; above {THRESHOLD:g} the
model is called unfair.

**DIF certificate**: the mean squared change of logits that people can meet when the
squared fair distance is at most ε on average. The search finds it from below. **At
most** is proved from the norms of the layers, and is far above for deep networks.

**First layer**: ‖A'W₁‖, how far the first layer tells people apart who differ in what
does not count. At 0 the network cannot.
"""


def individual_kpis(audit: "pd.Series[float]") -> list[Kpi]:
    """Return consistency, CTF score, change of P(1) and gap of one row of audits."""
    spread = (
        f"± {percent(audit['consistency_sd'])} over seeds"
        if audit["n_seeds"] > 1
        else interval(audit["consistency_low"], audit["consistency_high"], percent)
    )
    return [
        Kpi(
            "Consistency",
            percent(audit["consistency"]),
            spread,
            help="Share of people whose prediction is the same whatever does not "
            "count, with the standard deviation over seeds or, for one seed, a 95% "
            "Wilson interval.",
        ),
        Kpi(
            "Change of P(1)",
            number(audit["moved"]),
            _spread(audit, "moved") or "mean of the largest",
            help="How far P(1) of a person moves at most among the variants, on "
            "average over people.",
        ),
        Kpi(
            "CTF score",
            number(audit["ctf"]),
            _spread(audit, "ctf") or "0 is fair",
            help="Mean standard deviation of P(1) over the variants of a person.",
        ),
        Kpi(
            "Gap RMS",
            number(audit["gap_rms"]),
            f"largest {number(audit['gap_max'])}",
            help="How far groups are apart in the true positive rates of the two "
            "outcomes: root of the mean square, and the larger one.",
        ),
    ]


def audit_facts(audits: Audits) -> tuple[str, str]:
    """Return on how much the chosen model was audited, for the context line."""
    chosen = audits.table.iloc[0]
    people = plural(round(chosen["n"]), "test row")
    return people, plural(int(chosen["n_seeds"]), "seed")


def _reasons(left_out: Mapping[str, str]) -> str:
    """Return why models are left out, each reason once; of many their number."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    return "; ".join(
        f"{', '.join(names) if len(names) <= _FEW else plural(len(names), 'model')}: "
        f"{why}"
        for why, names in by_reason.items()
    )


def show_consistency(audits: Audits, alike: Alike) -> None:
    """Draw balanced accuracy against consistency of all models."""
    table = audits.table
    people, seeds = audit_facts(audits)
    of = "all" if alike.columns else "a sample"
    reasons = _reasons(audits.left_out)
    figure(
        plots.plot_consistency(table),
        finding=plots.consistency_finding(table),
        caption=f"{people} ({of} of those of a split), {seeds} of the model above."
        + (f" Left out: {reasons}" if reasons else ""),
        alt=plots.describe_consistency(table),
        how=_HOW_CONSISTENCY,
        table=_readable(table),
        key="consistency",
    )


def show_metric(metric: FairMetric, model: AuditedModel) -> None:
    """Draw what does not count."""
    free = metric.table(model.rows.train)
    figure(
        plots.plot_fair_metric(free),
        finding=plots.fair_metric_finding(free),
        caption=f"Variance of {plural(len(model.rows.train), 'training row')}.",
        alt=plots.describe_fair_metric(free),
        how=_HOW_METRIC,
        table=free,
        key="fair metric",
    )


def show_certificate(dataset_id: str, asked: Asked, model: AuditedModel) -> None:
    """Draw the certificates of the first seeds: means, and what they leave open."""
    heading("What can be certified", _HOW_CERTIFICATE)
    if model.network is None:
        st.info(plain(model.why_no_slopes), icon=":material/info:")
        return
    with st.spinner("Certifying"):
        found = certified_seeds(
            asked.model, dataset_id, asked.alike, asked.radius, asked.n_people
        )
    ratio = _mean([one.ratio.low for one in found])
    unfair = sum(one.ratio.unfair for one in found)
    of_seeds = f" in {unfair} of {len(found)} seeds" if len(found) > 1 else ""
    verdict = f"unfair: above {THRESHOLD:g}{of_seeds}"
    values = [one.certificate.value for one in found]
    limits = [one.certificate.value + one.certificate.sampling_error for one in found]
    kpi_row(
        [
            Kpi(
                "Loss ratio, at least",
                number(ratio, 2),
                verdict if unfair else f"not shown above {THRESHOLD:g}",
            ),
            Kpi(
                "DIF certificate",
                number(_mean(values), 2),
                f"± {number(float(np.std(values, ddof=1)), 2)} over seeds"
                if len(found) > 1
                else f"{number(limits[0], 2)} with sampling",
            ),
            Kpi(
                "DIF, at most",
                number(_mean([one.certificate.bound for one in found]), 1),
                "proved from the layers",
            ),
            Kpi(
                "First layer",
                number(_mean([one.sensitivity for one in found]), 2),
                "0 ignores what is free",
            ),
        ]
    )
    sampling = _mean([one.certificate.sampling_error for one in found])
    theorem = _mean([one.certificate.theorem_error for one in found])
    people = plural(found[0].certificate.n, "test row")
    st.caption(
        f"{people} of each of {plural(len(found), 'seed')}, ε = {asked.radius:g}. "
        f"Sampling people may hide {number(sampling, 2)} of the certificate (one-sided "
        f"95%), or {number(theorem, 2)} by Theorem 3.1 of SenSeI. Free moves stay "
        "within the range of the training rows."
    )


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the audits without what the figure alone needs."""
    hidden = {"colour_role", "chosen", "n_sd"}
    kept = [
        name
        for name in map(str, table)
        if name not in hidden and (name == "n_seeds" or not name.endswith("_seeds"))
    ]
    return table[kept].dropna(axis="columns", how="all")


def _spread(audit: "pd.Series[float]", name: str) -> str:
    return f"± {number(audit[f'{name}_sd'])} over seeds" if audit["n_seeds"] > 1 else ""


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))
