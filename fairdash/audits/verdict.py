"""The verdict of an audit: of the measure asked first, of others corrected for all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import listing
from fairdash.metrics import (
    Finding,
    LocalMeasure,
    Speech,
    best_off,
    for_all_pairs,
    measure_in_text,
    sentence,
)


def audit_verdict(
    gaps: pd.DataFrame,
    local: pd.DataFrame | None,
    worst: Finding | None,
    speech: Speech,
) -> str:
    """Say who is worse off by the first measure, and by which others there is a gap.

    The first measure is chosen before its values are seen, so its interval is of that
    measure alone; of the others those are named whose gap is clear for all measures at
    once (Bonferroni).

    Parameters
    ----------
    gaps, local : DataFrame
        Of `fairdash.audits.Audit`.
    worst : Finding or None
        `worst_inside` of the first measure.
    """
    n_measures = gaps["measure"].nunique()
    first = gaps[gaps["measure"] == gaps["measure"].iloc[0]]
    name, sizes = _names(first["measure"])[0], first["difference"].abs()
    said = []
    if first["clear"].any():
        widest = sizes.where(first["clear"]).idxmax()
    else:
        widest = sizes.idxmax() if sizes.notna().any() else None
        said.append(
            f"No gap between groups is clear by {name}: every interval reaches 0."
        )
        said += ["The widest:"] if widest is not None else []
    said += [] if widest is None else [str(first.loc[widest, "sentence"])]
    others = _names(gaps.loc[gaps["clear_at_once"], "measure"], but=name)
    if others:
        said.append(f"Clear for all {n_measures} measures at once: {listing(others)}.")
    if local is None or not local["estimable"].any():
        return " ".join(said)
    own = local[local["measure"] == first["measure"].iloc[0]]
    others = _names(local.loc[local["gap"] > local["chance_at_once"], "measure"], name)
    if worst is not None and (own["gap"] > own["chance"]).any():
        inside = sentence(worst, speech)
        inside = f"{inside[0].lower()}{inside[1:]}"
        said.append(f"The widest gap inside a subgroup, beyond chance: {inside}")
    elif others:
        said.append(f"No gap in {name} inside a subgroup exceeds chance.")
    else:
        said.append("No gap inside a subgroup exceeds what chance alone shows.")
    if others:
        said.append(
            f"Inside subgroups beyond chance for all {n_measures} measures at once: "
            f"{listing(others)}."
        )
    return " ".join(said)


def worst_inside(
    measure: str, found: LocalMeasure, *, confidence: float, favourable: bool
) -> Finding | None:
    """Return who is worse off in the subgroup with the widest gap.

    The interval holds for all pairs of groups in all estimable subgroups at once.
    """
    gaps = found.gaps()
    if np.isnan(gaps).all():
        return None
    place = int(np.nanargmax(gaps))
    value = found.reported().value[place]
    base = found.reference
    if base is None:
        base = best_off(measure, value, favourable=favourable)
    far = int(np.abs(value - value[base]).argmax())
    groups, subgroup = found.cells.groups, str(found.cells.subgroups[place])
    held = found.reference is not None
    n_places = int(found.estimable.sum())
    sure = for_all_pairs(confidence, len(groups), held=held, times=n_places)
    one, other = groups[far], groups[base]
    apart = found.between(one, other, subgroup=subgroup, confidence=sure)
    n = int(found.reported().n[place].sum())
    gap, low, high = map(float, apart)
    return Finding(measure, subgroup, one, other, gap, low, high, n)


def _names(measures: "pd.Series[Any] | Sequence[str]", but: str = "") -> list[str]:
    """Return measures as they stand in a sentence, each once."""
    named = [measure_in_text(one) for one in dict.fromkeys(measures)]
    return [one for one in named if one != but]
