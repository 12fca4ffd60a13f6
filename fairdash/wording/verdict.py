"""The verdict of an audit on the measure that was asked first."""

from dataclasses import replace
from typing import Any

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
    measure = gaps["measure"].iloc[0]
    first = gaps[gaps["measure"] == measure]
    name = metrics.catalog.measure_in_text(measure)
    sentences = _over_all_rows(first, name)
    if local is None or not local["estimable"].any():
        return " ".join(sentences)
    if worst is not None and worst.sure:
        inside = metrics.sentence(worst, speech)
        inside = f"{inside[0].lower()}{inside[1:]}"
        sentences.append(f"A gap inside a subgroup is beyond chance: {inside}")
    else:
        sentences.append(f"No gap in {name} inside a subgroup can be told from chance.")
        reach = _reach(local, measure)
        if reach:
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
    """Return who is worse off in the subgroup that `choose_finding` names.

    Intervals hold for all pairs of groups in all estimable subgroups at once. Where no
    gap can be named the widest is returned, not sure; None where none is estimable.
    """
    gaps = local.gaps()
    if np.isnan(gaps).all():
        return None
    n_estimable = int(local.estimable.sum())
    widest_first = np.argsort(-np.nan_to_num(gaps, nan=-1.0))[:n_estimable]
    findings = [
        _widest_pair(measure, local, int(index), confidence, favourable)
        for index in widest_first
    ]
    named = metrics.choose_finding(
        findings, findings[0], beyond_chance=bool(np.nanmax(gaps) > chance)
    )
    if named is None:
        return findings[0]
    return replace(named, sure=True, reason="")


def _widest_pair(
    measure: str,
    local: metrics.LocalMeasure,
    index: int,
    confidence: float,
    favourable: bool,
) -> metrics.Finding:
    """Return the gap of the best-off group to the one farthest from it in a subgroup.

    It is sure by its interval with half the error; see `worst_inside`.
    """
    groups = local.cells.groups
    subgroup = local.cells.subgroups[index]
    reported = local.reported()
    value = np.where(local.comparable(subgroup), reported.value[index], np.nan)
    best = metrics.catalog.best_off(measure, value, favourable=favourable)
    farthest = int(np.nanargmax(np.abs(value - value[best])))
    pair = (groups[farthest], groups[best])

    def interval(level: float) -> tuple[float, float, float]:
        # Bonferroni: any pair of groups in any subgroup may turn out the widest.
        n_estimable = int(local.estimable.sum())
        at_once = metrics.intervals.for_all_pairs(level, len(groups), times=n_estimable)
        gap, low, high = local.between(*pair, subgroup=subgroup, confidence=at_once)
        return float(gap), float(low), float(high)

    gap, low, high = interval(confidence)
    # There are two ways to be sure, beyond chance and by this interval: each is
    # given half of the error.
    _, sure_low, sure_high = interval((1 + confidence) / 2)
    if local.too_few(*pair, subgroup=subgroup):
        reason = metrics.TOO_FEW
    elif excludes_zero(sure_low, sure_high):
        reason = ""
    else:
        reason = "within chance"
    return metrics.Finding(
        measure=measure,
        subgroup=subgroup,
        group=pair[0],
        reference=pair[1],
        value=gap,
        low=low,
        high=high,
        n=int(reported.n[index].sum()),
        sure=not reason,
        reason=reason,
    )


def _over_all_rows(gaps: pd.DataFrame, name: str) -> list[str]:
    """Return sentences on the widest clear gap, else on the widest and why."""
    sizes = gaps["difference"].abs()
    if gaps["clear"].any():
        widest: Any = sizes.where(gaps["clear"]).idxmax()
        return [str(gaps.loc[widest, "sentence"])]
    sentences = [f"No gap between groups is clear by {name}: {_why_unclear(gaps)}."]
    if sizes.notna().any():
        widest = sizes.idxmax()
        sentences += ["The widest:", str(gaps.loc[widest, "sentence"])]
    return sentences


def _why_unclear(gaps: pd.DataFrame) -> str:
    """Return why no gap of a measure is clear."""
    if gaps["too_few"].all():
        return "some group has too few rows of either value"
    if excludes_zero(gaps["ci_low"], gaps["ci_high"]).any():
        return "intervals reach 0 or are of too few rows"
    return "every interval reaches 0"


def _reach(local: pd.DataFrame, measure: str) -> str:
    """Return how large gaps inside subgroups may be by their intervals; "" unknown."""
    most = local.loc[local["measure"] == measure, "ci_high"].max()
    if np.isnan(most):
        return ""
    if metrics.catalog.measure_of(measure).in_points:
        return f"{100 * most:.0f} points"
    return in_decimals(most)
