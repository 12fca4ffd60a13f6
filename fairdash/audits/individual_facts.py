"""What is said of audits of individual fairness: cards, headlines, captions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import (
    Kpi,
    in_points,
    interval,
    listing,
    number,
    percent,
    plural,
)
from fairdash.audits.counterparts import Counterparts
from fairdash.audits.fair_metrics import Yardstick
from fairdash.audits.individual import Certified
from fairdash.metrics import summarise_seeds

_MODEL = ["label", "method", "colour_role", "chosen", "fairness_weight"]


def audits_table(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return means over seeds of audits, a row for each model in the order given.

    Parameters
    ----------
    rows : sequence of dict
        Numbers of `audit_flips` or `audit_counterparts` of each model and seed, with
        its ``label``, ``method``, ``colour_role``, whether it is ``chosen``, and
        ``fairness_weight`` (NaN without).
    """
    return summarise_seeds(pd.DataFrame(rows), _MODEL)


def individual_kpis(audit: "pd.Series[float]") -> list[Kpi]:
    """Return consistency, change of P(1), CTF score and gap of a row of audits."""
    several = audit["n_seeds"] > 1

    def spread(name: str) -> str:
        return f"± {number(audit[f'{name}_sd'])} over seeds" if several else ""

    return [
        Kpi(
            "Consistency",
            percent(audit["consistency"]),
            f"± {percent(audit['consistency_sd'])} over seeds"
            if several
            else interval(audit["consistency_low"], audit["consistency_high"], percent),
            help="Share of people whose prediction is the same whatever does not "
            "count, with the standard deviation over seeds or, for one seed, a 95% "
            "Wilson interval.",
        ),
        Kpi(
            "Change of P(1)",
            number(audit["moved"]),
            spread("moved") or "mean of the largest",
            help="How far P(1) of a person moves at most among the variants, on "
            "average over people.",
        ),
        Kpi(
            "CTF score",
            number(audit["ctf"]),
            spread("ctf") or "0 is fair",
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


def individual_verdict(audit: "pd.Series[Any]", columns: Sequence[str]) -> str:
    """Say for how many people a model decides otherwise when it should not.

    Parameters
    ----------
    audit : Series
        A row of `audits_table`.
    columns : sequence of str
        What is set to its other values; without any, counterparts were searched.
    """
    if audit["constant"] > 0.5:
        return (
            f"{audit['label']} decides alike for everyone, or nearly so: that it "
            "treats equals alike says nothing of it."
        )
    seeds, rows = int(audit["n_seeds"]), plural(round(audit["n"]), "test row")
    sure = f"± {percent(audit['consistency_sd'])} over {seeds} seeds"
    if seeds == 1:
        ends = 1 - audit["consistency_high"], 1 - audit["consistency_low"]
        sure = interval(*ends, percent)
    when = "someone alike is found who gets another decision"
    if columns:
        when = f"the decision of {audit['label']} changes with {listing(columns)} alone"
    else:
        when += f" by {audit['label']}"
    return (
        f"For {percent(1 - audit['consistency'])} of people {when} ({sure}; {rows}); "
        f"P(1) moves by up to {in_points(audit['moved'])} points on average."
    )


def counterparts_headline(found: Counterparts) -> str:
    """Say of how many people somebody alike gets another decision."""
    return (
        f"{percent(found.share_changed)} of people have someone alike who gets another "
        "decision"
    )


def counterparts_caption(found: Counterparts, n_rows: int, seed: int) -> str:
    """Say who was searched, the interval of the headline, and who has nobody."""
    low, high = found.interval
    return (
        f"{plural(found.n, 'test row')} of {n_rows:,} searched, seed {seed}; 95% "
        f"interval {interval(low, high, percent)}."
        f"{nobody_alike(found.share_found, found.radius)}"
    )


def nobody_alike(share_found: float, radius: float) -> str:
    """Say of how many people no counterpart was found; nothing where all have one."""
    if not share_found < 1:
        return ""
    none = percent(1 - share_found)
    return f" For {none} of them no row of table values lies within ε = {radius:g}."


def yardstick_caption(yardstick: Yardstick, radius: float) -> str:
    """Say what a fair radius amounts to among real people."""
    return (
        f"Squared fair distance of a person to the nearest other row: median "
        f"{number(yardstick.nearest, 2)}; of two people at random: "
        f"{number(yardstick.random, 2)}. {percent(yardstick.within)} of "
        f"{plural(yardstick.n, 'test row')} have another row within ε = {radius:g}."
    )


@dataclass(frozen=True)
class CertificateSummary:
    """Certificates of a model over the seeds that were certified.

    Attributes
    ----------
    ratio_low, value, spread : float
        Mean lower bound of the loss ratio; mean and standard deviation of what the
        search found of R(h).
    unfair : int
        Seeds in which the bound is above ``threshold``.
    limit : float
        Mean of its one-sided 95 % upper limits over people.
    bound, diameter : float
        Mean of the bounds that are proved; smallest of the largest differences between
        two people.
    void : bool
        Whether the bound of some seed says nothing.
    """

    ratio_low: float
    unfair: int
    value: float
    spread: float
    limit: float
    bound: float
    diameter: float
    void: bool
    sensitivity: float
    n_seeds: int
    n_rows: int
    threshold: float


def summarise_certificates(found: Sequence[Certified]) -> CertificateSummary:
    """Return what holds of a model over its seeds."""
    certificates = [one.certificate for one in found]
    values = [one.value for one in certificates]
    return CertificateSummary(
        ratio_low=float(np.mean([one.ratio.low for one in found])),
        unfair=sum(one.ratio.unfair for one in found),
        value=float(np.mean(values)),
        spread=float(np.std(values, ddof=1)) if len(values) > 1 else float("nan"),
        limit=float(np.mean([one.limit for one in certificates])),
        bound=float(np.mean([one.bound for one in certificates])),
        diameter=min(one.diameter for one in certificates),
        void=any(one.void for one in certificates),
        sensitivity=float(np.mean([one.sensitivity for one in found])),
        n_seeds=len(found),
        n_rows=certificates[0].n,
        threshold=found[0].ratio.threshold,
    )


def certificate_kpis(found: CertificateSummary) -> list[Kpi]:
    """Return loss ratio, what the search found, what is proved, and the first layer."""
    of_seeds = f" in {found.unfair} of {found.n_seeds} seeds" * (found.n_seeds > 1)
    return [
        Kpi(
            "Loss ratio, at least",
            number(found.ratio_low, 2),
            f"unfair: above {found.threshold:g}{of_seeds}"
            if found.unfair
            else f"not shown above {found.threshold:g}",
        ),
        Kpi(
            "DIF, at least",
            number(found.value, 2),
            f"± {number(found.spread, 2)} over seeds"
            if found.n_seeds > 1
            else f"up to {number(found.limit, 2)} with sampling",
        ),
        Kpi(
            "DIF certificate",
            "void" if found.void else f"≤ {number(found.bound, 2)}",
            f"≤ {found.bound:,.0f}; any two differ by {number(found.diameter, 1)}"
            if found.void
            else "proved from the layers",
            help="A proved bound that is above the largest difference between any two "
            "people says nothing: it is void.",
        ),
        Kpi(
            "First layer",
            number(found.sensitivity, 2),
            "0 ignores what is free",
        ),
    ]
