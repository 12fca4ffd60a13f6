"""Sentences about gaps inside subgroups: who is worse off, where, and how surely."""

from math import isnan

from fairdash._change import by_metric
from fairdash._metric_names import WORST
from fairdash._wording import (
    NO_SUBGROUPS,
    floor_words,
    group_label,
    number,
    sentences,
    whole_points,
)
from fairdash.audits.gaps.local_gaps import LocalGaps, subgroup_of
from fairdash.metrics import (
    Finding,
    Speech,
    catalog,
    clause,
    gap_ends,
    sentence,
    turned_words,
    worse_off,
)
from fairdash.sweep import BASELINE
from fairdash.wording import NO_GAP, place_brief, priced_brief

PAIR_WORDS = "for all pairs of groups in all subgroups at once."
_NO_REACH, _LARGE_REACH = 0.005, 0.2  # of a gap by chance
_NONE = "No subgroup is estimable. Choose wider ones or a smaller size."


def brief_sentences(
    gaps: LocalGaps, speech: Speech, *, favourable: bool = True
) -> tuple[str, ...]:
    """Say who is worse off where, what a remedy does, and which way gaps point.

    Returns
    -------
    Sentences, some of them empty
    """
    if gaps.deciding.idle:
        return (gaps.deciding.brief(gaps.label),)
    if gaps.widest is None:
        return _NONE, _over_all(gaps)
    remedy = _remedy(gaps)
    worse = None
    if gaps.finding is not None:
        worse = worse_off(gaps.finding, favourable=favourable)
    turned = turned_words(gaps.turned, speech.feature, favourable=favourable)
    whole = gaps.clear_whole
    cancelled = _opposed_words(gaps, speech) if whole is None else ""
    if gaps.changes is not None and by_metric(gaps.changes)[WORST].clear:
        return remedy, turned, _remaining_gap(gaps, worse, speech), cancelled
    if worse is not None:
        return _finding_brief(gaps, worse, speech), turned, cancelled
    if gaps.is_scattered:
        return remedy, _scattered_words(gaps), cancelled
    if isnan(gaps.chance):
        return "What chance alone would show is not known here.", remedy
    if whole is not None:
        surely = "surely " if gaps.beyond_chance else ""
        inside = f"No gap inside a subgroup is {surely}beyond chance."
        return inside, _reach(gaps), _over_all(gaps)
    return NO_GAP, remedy or _reach(gaps), cancelled


def details(gaps: LocalGaps, speech: Speech, *, favourable: bool = True) -> str:
    """Say how surely who is worse off where, then over all rows."""
    if gaps.deciding.idle:
        return gaps.deciding.details(gaps.label)
    if gaps.widest is None:
        return sentences(_NONE, _over_all_surely(gaps, speech))
    if gaps.finding is None:
        inside = _unsure_details(gaps)
    else:
        worse = worse_off(gaps.finding, favourable=favourable)
        inside = _finding_details(gaps, worse, speech)
    if gaps.clear_whole is None:
        return inside
    over_all = _over_all_surely(gaps, speech)
    return sentences(inside, over_all, _opposed_words(gaps, speech))


def caption(gaps: LocalGaps) -> str:
    """Say what is drawn: measure, rows, seeds, dashes and grey."""
    seeds = "" if gaps.on_all_rows else "one seed, "
    if gaps.n_seeds > 1:
        seeds = f"mean over {gaps.n_seeds} seeds of the gap in each, "
    n_subgroups = gaps.model_gaps["subgroup"].nunique()
    n_drawn = len(gaps.drawn_subgroups)
    part = ""
    if n_drawn < n_subgroups:
        part = f", {n_drawn} of {n_subgroups} with most rows or widest gaps,"
    text = (
        f"Gap in {catalog.measure_in_text(gaps.measure)} by subgroup{part} on "
        f"{gaps.size}, {seeds}95% "
        f"{catalog.INTERVAL_KINDS[gaps.measure]}. Dashed: the gap over all rows."
    )
    pairs = f"Intervals hold {PAIR_WORDS}"
    if gaps.n_seeds > 1:
        # a mean of gaps has an interval of its own
        of_verdict = f"The verdict's interval holds {PAIR_WORDS}"
        pairs = of_verdict if gaps.finding is not None else ""
    return " ".join(filter(None, [text, pairs, floor_words(gaps.label), gaps.note]))


def _finding_brief(gaps: LocalGaps, worse: Finding, speech: Speech) -> str:
    words = place_brief(worse, speech).removesuffix(".")
    if not gaps.largest_is_named:
        if worse.subgroup is not None:
            words = f"{words[0].lower()}{words[1:]}"
        words = f"Surest gap: {words}"
    return f"{words} ({gaps.label})."


def _finding_details(gaps: LocalGaps, worse: Finding, speech: Speech) -> str:
    assert gaps.widest is not None, "a finding is in an estimable subgroup"
    words = f"{sentence(worse, speech)} By {gaps.label}, {_rows_words(gaps)}."
    widest = gaps.widest["subgroup"]
    if widest != subgroup_of(worse):
        size = _size(gaps, gaps.widest["gap"])
        return f"{words} The largest gap, {size} in {widest}, could be chance."
    if gaps.largest_is_named:
        return words
    return (
        f"{words} The largest gap of a fair model can reach "
        f"{_size(gaps, gaps.chance)}, often between small groups. These two have "
        "enough rows to be sure."
    )


def _unsure_details(gaps: LocalGaps) -> str:
    assert gaps.widest is not None, "a subgroup is estimable"
    size = _size(gaps, gaps.widest["gap"])
    # of several seeds a card averages the largest of each, wherever it is
    average = " average over seeds" if gaps.n_seeds > 1 else ""
    reach = "what chance alone shows is not known"
    if not isnan(gaps.chance):
        largest = _size(gaps, gaps.chance)
        reach = f"a fair model stays below {largest} in 95% of cases"
    # the verdict has said of a scattered gap that it is beyond chance
    first = "" if gaps.is_scattered else "No gap is sure to be beyond chance. "
    return (
        f"{first}The largest{average} is {size}, in {gaps.widest['subgroup']}; "
        f"{reach} ({_rows_words(gaps)})."
    )


def _reach(gaps: LocalGaps) -> str:
    """Say how large a gap chance alone can show, and whether small groups are why."""
    if gaps.chance < _NO_REACH:
        return ""  # the model decides alike for all of a subgroup
    words = f"A fair model can reach {_size(gaps, gaps.chance)}"
    if gaps.chance < _LARGE_REACH or not gaps.has_tiny_groups:
        return f"{words}."
    # Not which and how many: a report does not show how many a small group has.
    several = gaps.noun.several
    return f"{words}: some groups have fewer than ten {several} in a subgroup."


def _over_all(gaps: LocalGaps) -> str:
    """Say how large the gap is over all rows; "" where it is not clear."""
    whole = gaps.clear_whole
    if whole is None:
        return ""
    verb = "is" if whole.sure else "may be"
    return f"Over all rows the gap {verb} {_size(gaps, abs(whole.value))}."


def _over_all_surely(gaps: LocalGaps, speech: Speech) -> str:
    """Say who is worse off over all rows, with the interval."""
    whole = gaps.clear_whole
    if whole is None:
        return ""
    ends = gap_ends(whole.measure, whole.value, whole.low, whole.high)
    few = "" if whole.sure else ", of too few rows to be sure"
    return f"Over all rows, {clause(whole, speech)} ({ends}){few}."


def _scattered_words(gaps: LocalGaps) -> str:
    """Say that the largest gap is beyond chance, but not one of the same groups."""
    assert gaps.widest is not None, "a scattered gap is in an estimable subgroup"
    place = str(gaps.widest["subgroup"])
    inside = "over all rows" if place == NO_SUBGROUPS else f"in {place}"
    return (
        f"The largest gap, {_size(gaps, gaps.widest['gap'])} {inside}, is beyond "
        "chance, but not between the same groups in every seed."
    )


def _remaining_gap(gaps: LocalGaps, worse: Finding | None, speech: Speech) -> str:
    if worse is None and gaps.is_scattered:
        return _scattered_words(gaps)
    if worse is None and gaps.beyond_chance:
        return "No gap is surely beyond chance."
    if worse is None:
        return "No gap beyond chance remains."
    start = "Now" if gaps.largest_is_named else "Now sure:"
    group = group_label(speech.feature, worse.group)
    size = _size(gaps, worse.value)
    return f"{start} {size}, against {group} in {worse.subgroup or 'all rows'}."


def _remedy(gaps: LocalGaps) -> str:
    """Say what the model changes in the largest gap, and at which price."""
    if gaps.changes is None:
        return ""
    changes = by_metric(gaps.changes)
    first = gaps.models.iloc[0]
    against = "" if first["method"] == BASELINE else f", against {first['label']},"
    label = f"{gaps.label}{against}"
    return priced_brief(label, changes[WORST], changes["accuracy"], "the largest gap")


def _opposed_words(gaps: LocalGaps, speech: Speech) -> str:
    if gaps.opposed is None:
        return ""
    over_all = gaps.clear_whole is not None
    return gaps.opposed.words(speech.feature, len(gaps.groups), over_all=over_all)


def _rows_words(gaps: LocalGaps) -> str:
    kind = "all" if gaps.on_all_rows else "test"
    rows = f"{kind} {gaps.noun.several}"
    return f"mean of {gaps.n_seeds} seeds, {rows}" if gaps.n_seeds > 1 else rows


def _size(gaps: LocalGaps, gap: float) -> str:
    in_points = catalog.measure_of(gaps.measure).in_points
    return whole_points(gap) if in_points else number(gap)
