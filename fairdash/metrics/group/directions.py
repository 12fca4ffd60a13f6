"""Which way gaps point: who is worse off, where a gap turned, whether gaps cancel."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairdash._arrays import FloatArray
from fairdash._wording import group_label, listing, plural
from fairdash.metrics.group.catalog import better_when
from fairdash.metrics.group.counting import divide
from fairdash.metrics.group.finding import Finding
from fairdash.metrics.group.intervals import for_all_pairs
from fairdash.metrics.group.local_measures import LocalMeasure

_MOST_NAMED = 3


def worse_off(finding: Finding, *, favourable: bool = True) -> Finding:
    """Return the same difference, said of the group that is worse off."""
    higher = finding if finding.value >= 0 else finding.turned()
    better = better_when(finding.measure, favourable=favourable)
    return higher.turned() if better == "high" else higher


def direction_words(
    finding: Finding, feature: str, n_groups: int, *, favourable: bool = True
) -> str:
    """Say which way a gap points; "" where its interval reaches 0.

    Of two groups it is the one that is worse off, of more the lowest and the highest.

    Examples
    --------
    >>> women = Finding("selection_rate", None, "women", "men", -0.24, -0.3, -0.18)
    >>> direction_words(women, "gender", 2)
    'gender: women worse off'
    >>> direction_words(women, "gender", 3)
    'lowest gender: women, highest gender: men'
    """
    if not (finding.clear and finding.sure):
        return ""
    if n_groups == 2:
        worse = worse_off(finding, favourable=favourable).group
        return f"{group_label(feature, worse)} worse off"
    high = finding if finding.value >= 0 else finding.turned()
    lowest = group_label(feature, high.reference)
    return f"lowest {lowest}, highest {group_label(feature, high.group)}"


def turned_gaps(before: Sequence[Finding], after: Sequence[Finding]) -> list[Finding]:
    """Return the gaps of ``after`` that point the other way than before, surest first.

    Both are sure, of the same two groups in the same place. Where the findings of each
    side are sure at 97.5 % all at once, a turn is named wrongly in at most 5 % of
    tables, whether or not both are of the same rows.
    """
    sides = {
        (finding.subgroup, finding.group, finding.reference)
        for finding in map(_of_higher, before)
        if finding.sure
    }
    turned = [
        finding
        for finding in map(_of_higher, after)
        if finding.sure
        and (finding.subgroup, finding.reference, finding.group) in sides
    ]
    return sorted(turned, key=lambda finding: -finding.low)


def turned_words(
    turned: Sequence[Finding], feature: str, *, favourable: bool = True
) -> str:
    """Say where gaps turned, and against whom; "" where none did.

    Examples
    --------
    >>> men = Finding("selection_rate", "age 40–44", "men", "women", -0.12, -0.2, -0.04)
    >>> turned_words([men], "gender")
    'In age 40–44 the gap turned against gender: men.'
    """
    sentences = []
    against: dict[str, list[str]] = {}
    for finding in turned:
        worse = worse_off(finding, favourable=favourable).group
        place = "all rows" if finding.subgroup is None else finding.subgroup
        against.setdefault(worse, []).append(place)
    for group, places in against.items():
        examples = places[:_MOST_NAMED]
        n_more = len(places) - len(examples)
        if n_more:
            examples.append(plural(n_more, "other subgroup"))
        if examples == ["all rows"]:
            place = "Over all rows"
        else:
            place = f"In {listing(examples)}"
        sentences.append(
            f"{place} the gap turned against {group_label(feature, group)}."
        )
    return " ".join(sentences)


@dataclass(frozen=True)
class BothWays:
    """Two groups whose gaps inside subgroups point both ways, beyond chance.

    Attributes
    ----------
    higher, lower : str
        Two groups: in some subgroup ``higher`` has the higher value, in another one
        the lower.
    """

    measure: str
    higher: str
    lower: str

    def words(self, feature: str, n_groups: int, *, over_all: bool) -> str:
        """Say that gaps point both ways, and what that does to the gap over all rows.

        ``over_all`` says whether that gap is clear.
        """
        pair = ""
        if n_groups > 2:
            names = [group_label(feature, name) for name in (self.higher, self.lower)]
            pair = f" between {listing(names)}"
        clause = f"Inside subgroups gaps{pair} point both ways"
        if over_all:
            return f"{clause}: over all rows they cancel in part."
        return f"{clause}, so they cancel over all rows."


def both_ways(
    seeds: Sequence[LocalMeasure], *, confidence: float = 0.95
) -> BothWays | None:
    r"""Return two groups whose gaps point both ways inside subgroups, None if none do.

    The hypothesis is that all gaps :math:`D_g` of a pair point one way,
    :math:`D_g \geq 0` in every subgroup or :math:`D_g \leq 0` in every subgroup. It is
    rejected where one interval lies above 0 and another one below. Either needs a false
    interval under one half of the hypothesis, so that one-sided intervals at
    :math:`\alpha / (G \cdot P)` of G subgroups and P pairs have the error
    :math:`\alpha` (an intersection-union test, with Bonferroni's correction).

    Parameters
    ----------
    seeds : sequence of LocalMeasure
        Of one model, one a seed: ends of intervals are averaged over the seeds in which
        a subgroup is estimable, at least half of them.
    confidence : float
        One less the error.

    References
    ----------
    R. L. Berger (1982), Multiparameter hypothesis testing and acceptance sampling.
    Technometrics 24, 295-300. The question is that of M. Gail and R. Simon (1985),
    Testing for qualitative interactions between treatment effects and patient subsets.
    Biometrics 41, 361-372.
    """
    groups = [
        name
        for name in seeds[0].cells.groups
        if all(name in local.cells.groups for local in seeds)
    ]
    pairs = list(itertools.combinations(groups, 2))
    low, high = _one_sided_ends(seeds, pairs, confidence)
    opposed = (low > 0).any(axis=0) & (high < 0).any(axis=0)
    if not opposed.any():
        return None
    return BothWays(seeds[0].measure, *pairs[int(opposed.argmax())])


def _of_higher(finding: Finding) -> Finding:
    """Return a finding as one of the group with the higher value."""
    return finding if finding.value >= 0 else finding.turned()


def _one_sided_ends(
    seeds: Sequence[LocalMeasure], pairs: Sequence[tuple[str, str]], confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the gaps of pairs, (subgroups, pairs), NaN where too few."""
    names = dict.fromkeys(name for local in seeds for name in local.cells.subgroups)
    row_of_name = {name: row for row, name in enumerate(names)}
    ends = np.full((2, len(seeds), len(names), len(pairs)), np.nan)
    for seed, local in enumerate(seeds):
        # Seeds may have their groups and subgroups in another order, or lack some.
        group_index = local.cells.groups.index
        first = np.array([group_index(name) for name, _ in pairs], np.int64)
        second = np.array([group_index(name) for _, name in pairs], np.int64)
        # Both ends of an interval at 1 - 2 alpha are one-sided ones at alpha.
        level = for_all_pairs(
            2 * confidence - 1,
            len(local.cells.groups),
            times=int(local.estimable.sum()),
        )
        cells = local.reported()
        _, low, high = cells.between(first, second, level)
        too_few = np.asarray(cells.too_few(first, second))
        rows = [row_of_name[name] for name in local.cells.subgroups]
        ends[0, seed, rows] = np.where(too_few, np.nan, low)
        ends[1, seed, rows] = np.where(too_few, np.nan, high)
    n_defined = np.isfinite(ends).sum(axis=1)
    mean = divide(np.nansum(ends, axis=1), n_defined.astype(np.float64))
    low, high = np.where(2 * n_defined >= len(seeds), mean, np.nan)
    return low, high
