"""The verdict of an audit, of the measure asked first."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairdash import metrics
from fairdash._change import excludes_zero
from fairdash._wording import in_decimals


def audit_verdict(
    gaps: pd.DataFrame,
    local: pd.DataFrame | None,
    worst: metrics.Finding | None,
    speech: metrics.Speech,
    opposed: metrics.BothWays | None = None,
) -> str:
    """Say who is worse off by the first measure, over all rows and inside subgroups.

    The first measure is chosen before its values are seen, so its interval is of that
    measure alone; of others nothing is said.

    Parameters
    ----------
    gaps, local : DataFrame
        Of `fairdash.audits.Audit`.
    worst : Finding or None
        `worst_inside` of the first measure.
    opposed : BothWays or None
        Groups whose gaps point both ways inside subgroups.
    """
    first = gaps[gaps["measure"] == gaps["measure"].iloc[0]]
    name, sizes = (
        metrics.catalog.measure_in_text(first["measure"].iloc[0]),
        first["difference"].abs(),
    )
    sentences = []
    if first["clear"].any():
        widest = sizes.where(first["clear"]).idxmax()
    else:
        widest = sizes.idxmax() if sizes.notna().any() else None
        sentences.append(
            f"No gap between groups is clear by {name}: {_why_not(first)}."
        )
        sentences += ["The widest:"] if widest is not None else []
    sentences += [] if widest is None else [str(first.loc[widest, "sentence"])]
    if local is None or not local["estimable"].any():
        return " ".join(sentences)
    if worst is not None and worst.sure:
        inside = metrics.sentence(worst, speech)
        inside = f"{inside[0].lower()}{inside[1:]}"
        sentences.append(f"A gap inside a subgroup is beyond chance: {inside}")
    else:
        told = f"No gap in {name} inside a subgroup can be told from chance."
        sentences.append(told)
        if reach := _reach(local, first["measure"].iloc[0]):
            sentences.append(f"Gaps up to {reach} are possible.")
    if opposed is not None:
        n_groups = len(set(first["group"]) | set(first["reference"]))
        clear = bool(first["clear"].any())
        sentences.append(opposed.words(speech.feature, n_groups, over_all=clear))
    return " ".join(sentences)


def worst_inside(
    measure: str,
    local: metrics.LocalMeasure,
    chance: float,
    *,
    confidence: float,
    favourable: bool,
) -> metrics.Finding | None:
    """Return who is worse off in the subgroup with the widest gap, or the surest.

    The widest gap is sure where it exceeds ``chance`` and its interval, for all pairs
    of groups in all estimable subgroups at once, excludes 0. Else the surest gap is
    returned whose interval excludes 0 with half the error, ``confidence`` of 97.5 %
    instead of 95: a tiny group raises chance, but not that of pairs without it.
    """
    gaps = local.gaps()
    if np.isnan(gaps).all():
        return None
    groups, n_places = local.cells.groups, int(local.estimable.sum())
    level, surely = (
        metrics.intervals.for_all_pairs(each, len(groups), times=n_places)
        for each in (confidence, (1 + confidence) / 2)
    )
    findings = []
    for place in np.argsort(-np.nan_to_num(gaps, nan=-1.0))[:n_places]:
        subgroup = local.cells.subgroups[place]
        value = local.reported().value[place]
        value = np.where(local.comparable(subgroup), value, np.nan)
        best = metrics.catalog.best_off(measure, value, favourable=favourable)
        far = int(np.nanargmax(np.abs(value - value[best])))
        pair = groups[far], groups[best]
        between = local.between(*pair, subgroup=subgroup, confidence=level)
        _, least, most = map(
            float, local.between(*pair, subgroup=subgroup, confidence=surely)
        )
        n = int(local.reported().n[place].sum())
        few = metrics.TOO_FEW if local.too_few(*pair, subgroup=subgroup) else ""
        sure = bool(excludes_zero(least, most)) and not few
        why = "" if sure else few or "within chance"
        gap, low, high = map(float, between)
        findings.append(
            metrics.Finding(measure, subgroup, *pair, gap, low, high, n, sure, why)
        )
    widest, enough = findings[0], findings[0].reason != metrics.TOO_FEW
    if np.nanmax(gaps) > chance and widest.clear and enough:
        return replace(widest, sure=True, reason="")
    surest = [finding for finding in findings if finding.sure]
    return max(surest, key=lambda f: max(f.low, -f.high), default=widest)


def _why_not(first: pd.DataFrame) -> str:
    if first["too_few"].all():
        return "some group has too few rows of either value"
    reaches = ~excludes_zero(first["ci_low"], first["ci_high"])
    return (
        "every interval reaches 0"
        if reaches.all()
        else "intervals reach 0 or are of too few rows"
    )


def _reach(local: pd.DataFrame, measure: str) -> str:
    """Return how large gaps inside subgroups may be by their intervals, "" unknown."""
    most = local.loc[local["measure"] == measure, "ci_high"].max()
    if np.isnan(most):
        return ""
    if metrics.catalog.measure_of(measure).in_points:
        return f"{100 * most:.0f} points"
    return in_decimals(most)
