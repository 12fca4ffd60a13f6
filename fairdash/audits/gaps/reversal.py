"""A gap over all rows that no subgroup repeats, as in Berkeley's admissions."""

from fairdash._validation import CROSS
from fairdash._wording import group_label, in_points, interval, listing
from fairdash.audits.gaps.rates import outcome_rates
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import intervals


def reversal_words(dataset: Dataset, subgroups: Subgroups) -> str:
    """Say that a clear gap in outcomes over all rows is in no subgroup.

    "" where there is no such gap, or some subgroup has it beyond chance. Intervals
    inside subgroups hold for all of these at once (Bonferroni).
    """
    local = outcome_rates(dataset, subgroups)
    places = [
        name
        for name, estimable in zip(local.cells.subgroups, local.estimable, strict=True)
        if estimable
    ]
    rates = local.whole.value
    groups = local.cells.groups
    behind = groups[int(rates.argmin())]
    ahead = groups[int(rates.argmax())]
    whole = local.between(behind, ahead, confidence=0.95)
    if len(places) < 2 or not whole.high < 0:
        return ""
    level = 1 - 0.05 / len(places)
    inside = {
        place: local.between(behind, ahead, subgroup=place, confidence=level)
        for place in places
    }
    if any(gap.high < 0 for gap in inside.values()):
        return ""
    feature = dataset.roles.group_prefix()
    verb = dataset.roles.outcome_verb()
    words = (
        f"Over all, {group_label(feature, behind)} {verb} less often than "
        f"{group_label(feature, ahead)}, by "
        f"{_points(whole, sign=-1)}. Inside {CROSS.join(subgroups.columns)} no gap is "
        "against them beyond chance"
    )
    reverse = [
        f"in {place} they {verb} more often, by {_points(gap)}"
        for place, gap in inside.items()
        if gap.low > 0
    ]
    return f"{words}; {listing(reverse)}." if reverse else f"{words}."


def _points(gap: intervals.Interval, *, sign: int = 1) -> str:
    low, high = sorted((sign * float(gap.low), sign * float(gap.high)))
    size = in_points(sign * float(gap.value))
    return f"{size} points ({interval(low, high, in_points)})"
