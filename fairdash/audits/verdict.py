"""The verdict of an audit: of the measure asked first, of others corrected for all."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import listing
from fairdash.metrics import (
    MEASURE_NAMES,
    LocalMeasure,
    best_off,
    for_all_pairs,
    gap_ends,
    gap_words,
    in_text,
)


def audit_verdict(gaps: pd.DataFrame, local: pd.DataFrame | None, worst: str) -> str:
    """Say who is worse off by the first measure, and by which others there is a gap.

    The first measure is chosen before its values are seen, so its interval is of that
    measure alone; of the others those are named whose gap is clear for all measures at
    once (Bonferroni).

    Parameters
    ----------
    gaps, local : DataFrame
        Of `fairdash.audits.Audit`.
    worst : str
        `worst_sentence` of the first measure.
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
    if (own["gap"] > own["chance"]).any():
        said.append(f"The widest gap inside a subgroup, beyond chance: {worst}")
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


def worst_sentence(
    measure: str,
    found: LocalMeasure,
    *,
    confidence: float,
    favourable: bool,
    decided: str,
    outcome: str,
) -> str:
    """Say who is worse off in the subgroup with the widest gap.

    The interval holds for all pairs of groups in all estimable subgroups at once.
    """
    gaps = found.gaps()
    if np.isnan(gaps).all():
        return ""
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
    gap, low, high = (float(part) for part in apart)
    clause = gap_words(measure, one, other, gap, decided=decided, outcome=outcome)
    return f"in {subgroup}, {clause} ({gap_ends(measure, gap, low, high)})."


def _names(measures: "pd.Series[Any] | Sequence[str]", but: str = "") -> list[str]:
    """Return measures as they stand in a sentence, each once."""
    named = [in_text(MEASURE_NAMES[one]) for one in dict.fromkeys(measures)]
    return [one for one in named if one != but]
