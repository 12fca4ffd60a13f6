"""Subgroups that nobody named in which a model is unfair, beyond chance."""

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtrit

from fairdash import _validation as validation
from fairdash._arrays import BoolArray
from fairdash._columns import in_one_order
from fairdash._counts import people_of
from fairdash.analysis.adjustment import holm
from fairdash.analysis.subgroups.chance import largest_by_chance
from fairdash.analysis.subgroups.conditions import describe, search_columns
from fairdash.analysis.subgroups.gaps import gap_between, widest_pair
from fairdash.analysis.subgroups.redundancy import without_redundant
from fairdash.analysis.subgroups.rows import Conditions, SearchRows
from fairdash.analysis.subgroups.search import search
from fairdash.metrics import Measured, catalog, counting, variance

SEARCHED_MEASURES = catalog.Keys(
    lambda measure: measure.about is not None or measure.outcome == "number"
)
# Best subgroups, of which the list is made.
_LOOKED_AT = 500
# People of counts that are looked at one by one.
_MOST_PEOPLE = 1_000_000
# Columns named in an error.
_REASONS = 6


@in_one_order
def find_subgroups(
    y_pred: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    frame: pd.DataFrame,
    y_true: ArrayLike | None = None,
    columns: Sequence[str] | None = None,
    depth: int = 3,
    min_size: int = 50,
    measure: str = "selection_rate",
    alpha: float = 0.05,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confirm: ArrayLike | None = None,
    n_permutations: int = 199,
    most: int = 20,
    random_state: int | None = None,
) -> pd.DataFrame:
    r"""Search all conjunctions of conditions for gaps between groups.

    A number of more than four different values is cut in six quantile bins, and a
    condition is one bin, or all rows below or above a cut; other columns have their
    commonest levels, and two of them where they have at most six. Every conjunction of
    up to ``depth`` conditions on different columns with ``min_size`` rows is searched,
    for the pair of groups whose rates differ most in standard errors, exactly.

    **Null hypothesis.** In none of the subgroups searched do the rates differ between
    groups. Group labels are permuted, and the largest studentised gap of *all*
    subgroups is taken each time. If groups are exchangeable given columns and values,
    adjusted p-values are exact. Without that, where groups differ in their columns or
    some subgroups have a gap and others have none, studentising keeps them valid in
    large samples. So a gap that all rows share makes this null false in most subgroups,
    as it should. Numbers, and rows with weights, may be spread unlike in groups that
    are alike in their mean: residuals from a common mean get random signs in place of
    other labels. A group is compared where its rows are worth six that weigh alike,
    by Student's quantiles.

    Parameters
    ----------
    frame : DataFrame of n_rows rows
        Columns to search. A column that equals ``sensitive_features`` row by row is not
        searched.
    y_true : array-like of 0/1, (n_rows,), optional
        Outcomes; only the selection rate and the mean prediction do without.
    depth : int, default=3
        Most conditions of a subgroup.
    min_size : int, default=50
        Fewest rows of a subgroup that the measure is about.
    measure : str, default="selection_rate"
        A rate, or of predicted numbers "mean_prediction", "mean_error" or
        "mean_absolute_error": rates are then means, and outcomes numbers as well.
    alpha : float, default=0.05
        Family-wise error; intervals hold jointly with probability 1 - ``alpha``.
    sample_weight : array-like of shape (n_rows,), optional
        Sampling weights: rates are weighted, with linearised variances. ``min_size``
        counts rows, and those of weight 0 are in no subgroup. Of counts of people each
        is looked at, of more than a million as many drawn at random.
    cluster : array-like of shape (n_rows,), optional
        Unit of each row, such as a person with several visits. Whole units are
        permuted, and what is confirmed has the linearised standard error over units:
        rows that repeat a person find nothing new.
    confirm : array-like of bool, (n_rows,), optional
        Which rows confirm: the others are searched, down to the cuts of numbers, and
        what is listed is tested on these, with Holm's adjustment for the list only.
        ``min_size`` counts the rows that confirm, and in proportion those searched.
    n_permutations : int, default=199
        The smallest p-value is 1 / (1 + this).
    most : int, default=20
        Subgroups listed.

    Returns
    -------
    DataFrame, best first, one row per subgroup that no better one explains:
    ``subgroup`` in words, ``conditions``, ``n`` rows that the measure is about,
    ``lower`` and ``higher`` group, ``rate_lower``, ``rate_higher``, ``n_lower``,
    ``n_higher``, ``gap`` (higher minus lower rate), ``ci_low``, ``ci_high``
    (simultaneous), ``z`` and ``p_adjusted`` (against the largest of all). ``attrs``
    holds ``n_searched``, ``critical`` (of ``z``, at ``alpha``) and ``skipped`` (columns
    not searched, with the reason).

    Raises
    ------
    ValueError
        If no column can be searched, ``min_size`` exceeds the rows that the measure is
        about, labels are not 0/1, weights are negative, lengths differ, ``confirm``
        leaves no row to search, or the measure is unknown or needs ``y_true``.

    References
    ----------
    P. H. Westfall and S. S. Young (1993), Resampling-based multiple testing. Wiley.
    """
    validation.check_whole("depth", depth, at_least=1)
    validation.check_whole("min_size", min_size, at_least=1)
    validation.check_whole("most", most, at_least=1)
    validation.check_whole("n_permutations", n_permutations, at_least=1)
    if not 0 < alpha < 1:
        raise ValueError(f"`alpha` must lie between 0 and 1, got {alpha!r}.")
    validation.check_one_of("measure", measure, SEARCHED_MEASURES)
    frame = validation.as_frame("frame", frame)
    # Names may be numbers.
    frame = frame.set_axis(frame.columns.map(str), axis=1)
    columns = None if columns is None else [str(name) for name in columns]
    people = people_of(sample_weight)
    if people is not None:
        if cluster is not None:
            raise ValueError("Give counts of people or `cluster`, not both.")
        repeated = _people_rows(people)
        return find_subgroups(
            np.asarray(y_pred)[repeated],
            sensitive_features=np.asarray(sensitive_features)[repeated],
            frame=frame.iloc[repeated].reset_index(drop=True),
            y_true=None if y_true is None else np.asarray(y_true)[repeated],
            columns=columns,
            depth=depth,
            min_size=min_size,
            measure=measure,
            alpha=alpha,
            confirm=None if confirm is None else np.asarray(confirm)[repeated],
            n_permutations=n_permutations,
            most=most,
            random_state=random_state,
        )
    about, value, least_value, width, worth = _values(y_pred, y_true, measure)
    names, group = validation.encode_groups(sensitive_features, value)
    if len(frame) != len(value):
        raise ValueError(
            f"`frame` has {len(frame):,} rows, `y_pred` {len(value):,}; give the rows "
            "that were predicted."
        )
    unit = variance.unit_codes(cluster, len(value))
    weight = counting.sampling_weights("sample_weight", sample_weight, len(value))
    if weight is not None:
        about = about & (weight > 0)
    confirming, least = _confirming(confirm, about, min_size, measure)
    searching = about & ~confirming
    searched = frame[searching].reset_index(drop=True)
    candidate_columns, skipped = _columns(frame, columns, group)
    cut_columns, unfit = search_columns(
        searched, candidate_columns, bins=6, min_size=least
    )
    skipped |= unfit
    if not cut_columns:
        raise ValueError(_nothing_left(skipped))

    def rows_at(mask: BoolArray) -> SearchRows:
        return SearchRows(
            cut_columns,
            value[mask],
            group[mask],
            len(names),
            unit=None if unit is None else unit[mask],
            weight=None if weight is None else weight[mask],
            worth=worth,
        )

    rng = np.random.default_rng(random_state)
    rows = rows_at(searching)
    n_searched, largest = largest_by_chance(rows, depth, least, n_permutations, rng)
    if not n_searched:
        raise ValueError(
            f"No subgroup has {least:,} of the {len(rows):,} rows searched; choose a "
            "smaller `min_size`."
        )
    critical = _critical(largest, alpha)
    candidates = search(rows, depth, least, critical, most=_LOOKED_AT)
    inside = _Masks(searched)
    listed = without_redundant(rows, candidates, inside, critical=critical, most=most)
    estimates = [_row(rows, item, inside(item), critical) for item in listed]
    table = pd.DataFrame(estimates)
    # Statistics under permutation are of single precision.
    z = table["z"].to_numpy() * (1 - 1e-5)
    n_beyond = (largest[:, None] >= z).sum(axis=0)
    table["p_adjusted"] = (1 + n_beyond) / (1 + n_permutations)
    if confirming.any():
        # Rows that took no part in the search: only the listed subgroups count.
        critical = float(-ndtri(alpha / max(1, len(listed)) / 2))
        pairs = list(zip(table["lower"], table["higher"], strict=True))
        confirming_rows = rows_at(confirming)
        inside = _Masks(frame[confirming])
        table = _confirmed(confirming_rows, listed, pairs, inside, critical)
    for side in ("lower", "higher"):
        table[f"rate_{side}"] = least_value + width * table[f"rate_{side}"]
        table[side] = [validation.value_label(names[k]) for k in table[side]]
    table[["gap", "ci_low", "ci_high"]] *= width
    table.attrs |= {"n_searched": n_searched, "critical": critical, "skipped": skipped}
    return table


def _confirmed(
    rows: SearchRows,
    listed: Sequence[Conditions],
    pairs: Sequence[tuple[int, int]],
    inside: "_Masks",
    critical: float,
) -> pd.DataFrame:
    """Return the table of listed subgroups on rows that confirm, with Holm's p."""
    confirmed = []
    for conditions, pair in zip(listed, pairs, strict=True):
        mask = inside(conditions)
        confirmed.append(_row(rows, conditions, mask, critical, pair=pair))
    table = pd.DataFrame(confirmed)
    p = 2 * ndtr(-np.abs(table["z"].to_numpy()))
    table["p_adjusted"] = holm(p)
    return table


def _people_rows(people: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the row of each person; of more than a million, of as many at random.

    Permutations move single people, so each needs a row here.
    """
    counts = people.astype(np.int64)
    if counts.sum() > _MOST_PEOPLE:
        rng = np.random.default_rng(0)
        counts = rng.multinomial(_MOST_PEOPLE, counts / counts.sum())
    return np.repeat(np.arange(len(counts)), counts)


class _Masks:
    """The rows of subgroups; each condition is asked of the table once."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame
        self._single: dict[Any, BoolArray] = {}

    def __call__(self, conditions: Conditions) -> BoolArray:
        mask = np.ones(len(self._frame), bool)
        for condition in conditions:
            if condition not in self._single:
                self._single[condition] = condition.holds(self._frame)
            mask &= self._single[condition]
        return mask


def _critical(largest: NDArray[Any], alpha: float) -> float:
    """Return the statistic that chance exceeds with ``alpha``; infinite if unknown."""
    rank = ceil((1 - alpha) * (1 + len(largest))) - 1
    ordered = np.sort(largest)
    return float(ordered[rank]) if rank < len(ordered) else float("inf")


def _confirming(
    confirm: ArrayLike | None, about: BoolArray, min_size: int, measure: str
) -> tuple[BoolArray, int]:
    """Return the rows that confirm, and the fewest rows of a subgroup searched."""
    counted = about
    if confirm is not None:
        chosen = np.asarray(confirm)
        if chosen.dtype != bool or chosen.shape != about.shape:
            raise ValueError(
                "`confirm` must be True or False for every row, got an array of "
                f"{chosen.dtype} of shape {chosen.shape}."
            )
        counted = chosen & about
        if not (about & ~chosen).any():
            raise ValueError(
                f"`confirm` leaves no row to search that {measure!r} is about."
            )
    n = int(counted.sum())
    if n < min_size:
        which = "" if confirm is None else " that confirm"
        raise ValueError(
            f"`min_size` is {min_size:,}, but {measure!r} is about {n:,} rows in all"
            f"{which}; choose a smaller size, or another measure."
        )
    if confirm is None:
        return np.zeros(len(about), bool), min_size
    # In proportion to all rows, whichever the measure is about.
    least = ceil(min_size * (~chosen).sum() / chosen.sum())
    return counted, least


def _row(
    rows: SearchRows,
    conditions: Conditions,
    inside: BoolArray,
    critical: float,
    *,
    pair: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return rates, gap and interval of a subgroup, groups by number.

    Without a ``pair`` the two groups are those farthest apart in standard errors. With
    one, rows confirm: units then raise the variance.
    """
    counts = rows.counts_of(inside)
    low, high = widest_pair(counts) if pair is None else pair
    shrunk = gap_between(counts, low, high)
    if pair is not None and (rows.unit is not None or len(rows.marks) > 1):
        effect = _design_effect(rows, inside, pair, critical)
        shrunk = shrunk._replace(variance=shrunk.variance * effect, degrees=None)
    gap = float(shrunk.gap)
    half_width = np.inf
    if np.isfinite(shrunk.variance):
        half_width = float(shrunk.reach(critical))
    rate = counting.divide(counts.k, counts.n)
    n_rows = np.bincount(rows.group[inside], minlength=rows.n_groups)
    return {
        "subgroup": describe(conditions),
        "conditions": conditions,
        "n": int(n_rows.sum()),
        "lower": low,
        "higher": high,
        "rate_lower": rate[low],
        "rate_higher": rate[high],
        "n_lower": int(n_rows[low]),
        "n_higher": int(n_rows[high]),
        "gap": rate[high] - rate[low],
        "ci_low": np.clip(gap - half_width, -1, 1),
        "ci_high": np.clip(gap + half_width, -1, 1),
        "z": np.copysign(np.sqrt(shrunk.squares), gap),
    }


def _design_effect(
    rows: SearchRows, inside: BoolArray, pair: Sequence[int], critical: float
) -> float:
    """Return by how much units raise the variance of the gap of a pair.

    The linearised variance over units against that over rows, in the subgroup and in
    all rows, whichever is larger: few units may be alike by chance. The square of
    Student's quantile against ``critical`` makes up for few units, or heavy ones.
    """
    ratios = [1.0]
    fewest_units = np.inf
    for mask in (inside, np.ones(len(rows), bool)):
        used = np.isin(rows.group, pair) & mask
        group = rows.group[used]
        value = rows.value[used]
        mass = rows.mass[used]
        unit = None if rows.unit is None else pd.factorize(rows.unit[used])[0]
        group_mass = np.bincount(group, mass, rows.n_groups)
        value_sums = np.bincount(group, mass * value, rows.n_groups)
        mean = counting.divide(value_sums, group_mass)
        # The gap is a sum of these residuals, with a minus for the first group.
        residual = mass * (value - mean[group]) / group_mass[group]
        residual = np.where(group == pair[0], -residual, residual)
        one_cell = np.zeros(len(group), np.int64)
        over_rows = variance.linearised(residual, one_cell, 1).variance[0]
        over_units = variance.linearised(residual, one_cell, 1, unit=unit).variance[0]
        if over_rows > 0:
            ratios.append(over_units / over_rows)
        units = variance.design_units(
            np.asarray(mass, np.float64), group, rows.n_groups, unit
        )
        fewest_units = min(fewest_units, *units[list(pair)])
    degrees = float(max(fewest_units - 1, 1))
    student = float(stdtrit(degrees, float(ndtr(critical)))) / critical
    return float(np.nanmax(ratios) * student**2)


class _Values(NamedTuple):
    """Numbers in [0, 1] that are compared, and how to turn them back.

    Attributes
    ----------
    about : ndarray of bool
        The rows that the measure is about.
    value : ndarray
    least, width : float
        A number of the measure is ``least + width * value``.
    worth : float, optional
        That of `SearchRows`.
    """

    about: BoolArray
    value: NDArray[np.int64] | NDArray[np.float64]
    least: float
    width: float
    worth: float | None


def _values(y_pred: ArrayLike, y_true: ArrayLike | None, measure: str) -> _Values:
    """Return which rows count, with 0 and 1 or numbers between for each row."""
    if measure in catalog.NUMBER_MEASURES:
        numbers = Measured.of(measure, y_true, y_pred).predicted
        least = float(numbers.min())
        width = float(np.ptp(numbers)) or 1.0
        value = (numbers - least) / width
        mean = value.mean()
        spread = value.var()
        # A number counts as so many rows of 0 and 1, which spread as much.
        worth = float(mean * (1 - mean) / spread) if spread > 0 else 1.0
        everybody = np.ones(len(value), bool)
        return _Values(everybody, value, least, width, worth)
    decided = counting.binary_vector("y_pred", y_pred)
    if y_true is None and measure != "selection_rate":
        raise ValueError(f"`y_true` is needed for {measure!r}.")
    outcome = decided if y_true is None else counting.binary_vector("y_true", y_true)
    validation.check_lengths(decided, outcome)
    y = outcome.astype(np.float64)
    d = decided.astype(np.float64)
    is_about, is_counted = catalog.rate_of(measure)
    return _Values(
        about=is_about(y, d),
        value=is_counted(y, d).astype(np.int64),
        least=0.0,
        width=1.0,
        worth=None,
    )


def _columns(
    frame: pd.DataFrame, columns: Sequence[str] | None, group: NDArray[np.int64]
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to search, and why another one is not searched."""
    names = list(frame.columns) if columns is None else list(columns)
    absent = [name for name in names if name not in frame]
    if absent:
        raise ValueError(
            f"The table has no columns {absent} to search; choose among "
            f"{list(frame.columns)[:20]}."
        )
    searched: list[str] = []
    skipped: dict[str, str] = {}
    for name in names:
        if _codes_group(frame[name], group):
            skipped[name] = "is the sensitive feature"
        else:
            searched.append(name)
    return searched, skipped


def _codes_group(column: "pd.Series[Any]", group: NDArray[np.int64]) -> bool:
    """Return whether a column has one value for each group, and another for others."""
    n_groups = int(group.max()) + 1
    if column.iloc[:1000].nunique(dropna=False) > n_groups:
        return False
    codes, values = pd.factorize(column, use_na_sentinel=False)
    if len(values) != n_groups:
        return False
    cells = np.unique(codes * n_groups + group)
    return len(cells) == n_groups


def _nothing_left(skipped: dict[str, str]) -> str:
    """Return the error where no column can be searched."""
    if not skipped:
        return "`columns` is empty; name at least one column to search."
    reasons = [f"{name!r} {why}" for name, why in skipped.items()]
    more = len(reasons) - _REASONS
    rest = f" and {more} more" if more > 0 else ""
    return (
        f"No column can be searched: {'; '.join(reasons[:_REASONS])}{rest}. Add a "
        "column with at least two values, or choose a smaller `min_size`."
    )
