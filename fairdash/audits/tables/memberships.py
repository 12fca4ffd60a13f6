r"""Audit groups that are not recorded, by each person's probabilities of membership.

Given are :math:`p_{ig} = P(G = g \mid Z_i)` of a proxy Z such as surname and place. A
rate is of the rows that it counts, N, among these and those that it misses, C.

The **weighted estimate** :math:`\sum_i p_{ig} N_i / \sum_i p_{ig} (N_i + C_i)` is right
if decision and group are independent given Z. Its bias for the selection rate is
:math:`-E[\mathrm{Cov}(1\{G = g\}, N \mid Z)] / P(G = g)` (Chen et al. 2019).

The **bounds** assume nothing of the decisions. With the shares :math:`p_g` and
:math:`m_N` in a cell of Z, Fréchet's inequalities give (Kallus, Mao and Zhou 2022)

.. math:: \frac{L_N}{L_N + U_C} \le \text{rate}_g \le \frac{U_N}{U_N + L_C}, \quad
    U_N = E \min(p_g, m_N), \quad L_N = E \max(0, p_g + m_N - 1)

Some true groups attain the upper end of one group and the lower end of another at once,
so their difference is the sharp bound of the gap. Which side of a minimum holds is
decided on other rows than those summed: errors then widen the bounds on average. So do
cells that join rows of unlike probabilities.

J. Chen, N. Kallus, X. Mao, G. Svacha and M. Udell (2019), Fairness under unawareness.
FAccT. N. Kallus, X. Mao and A. Zhou (2022), Assessing algorithmic fairness with
unobserved protected class using data combination. Management Science 68, 1959-1981.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeRegressor

from fairdash._arrays import FloatArray
from fairdash._escaping import as_printed, visible_table
from fairdash._validation import as_written, check_lengths, check_one_of
from fairdash._wording import in_points, listing, plural
from fairdash.audits.answer import Answer, Listing
from fairdash.audits.tables.audit import decisions_of, plain_rows
from fairdash.audits.tables.counting import CountedRows
from fairdash.audits.tables.question import TableQuestion
from fairdash.brought import TableModel
from fairdash.metrics import catalog, counting, intervals, variance, views

CELL = 100  # rows of a cell of similar probabilities, at least
FEW = 50  # expected rows of a group, below which no gap is said
ROUNDED = 0.01  # by how much the probabilities of a row may miss 1
SEED = 20_261_126  # of the halves; drawn data begin with 0 or 1
NUMBERS = ["value", "ci_low", "ci_high", "bound_low", "bound_high", "low", "high"]
ALL = "all rows"
_HEADINGS = ["Measure", "Group", "Weighted", "Low", "High", "Least possible"]
_HEADINGS += ["Largest possible", "Least, with error", "Largest, with error", "Rows"]


@dataclass(frozen=True, eq=False)
class MembershipAudit:
    """Rates by groups that are not recorded, and their gaps.

    Attributes
    ----------
    estimates : DataFrame
        measure, group, reference, value (the weighted estimate), ci_low, ci_high,
        bound_low and bound_high (over all true groups that are possible), low and high
        (these with sampling error), n (expected rows). A "gap in" a measure is that of
        the group minus that of the reference; without a name either is all rows. Gaps
        of a measure hold all at once.
    """

    estimates: pd.DataFrame
    n: int
    confidence: float

    def gaps(self, *, to_all: bool = False) -> pd.DataFrame:
        """Return the gaps of two groups, or of each group to all rows."""
        is_gap = ~self.estimates["measure"].isin(catalog.RATES)
        is_wanted = self.estimates["reference"].isna() == to_all
        return self.estimates[is_gap & is_wanted]

    @property
    def verdict(self) -> str:
        """The first measure's gap that is sure for all true groups, or its range."""
        measure = self.estimates["measure"].iloc[0]
        name = catalog.MEASURE_NAMES[measure].lower()
        gaps = self.gaps().dropna(subset="low")
        gaps = gaps[gaps["measure"] == views.gap_of(measure)]
        if gaps.empty:
            return "A group has too few expected rows to compare it."
        # The least size of each gap over all true groups: positive where all of these
        # agree which group has the lower rate. Gaps hold all at once, so that the
        # largest may be named.
        least = gaps["low"].clip(lower=-gaps["high"])
        surest = gaps.iloc[int(least.argmax())]
        if least.max() <= 0:
            most = in_points(np.abs(gaps[["low", "high"]].to_numpy()).max())
            return f"Groups may have the same {name}, or differ by up to {most} points."
        lower = surest["group"]
        higher = surest["reference"]
        if surest["low"] > 0:
            lower, higher = higher, lower
        points = f"at least {in_points(float(least.max()))} points"
        return f"The {name} is {points} lower for {lower} than for {higher}."

    def answer(self) -> Answer:
        """Return estimates and bounds as an answer."""
        rates = self.estimates[self.estimates["measure"].isin(catalog.RATES)]
        table = rates.drop(columns="reference").assign(
            measure=rates["measure"].map(catalog.MEASURE_NAMES),
            group=rates["group"].fillna(ALL),
        )
        rows = f"{plural(self.n, 'row')}, {100 * self.confidence:g}% intervals"
        return Answer(
            self.verdict,
            table=Listing("Measures by group", table.set_axis(_HEADINGS, axis=1)),
            caption=f"{rows}. The probabilities are taken as right.",
            file="fairdash-memberships.csv",
            data=self.estimates,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it, NaN as None."""
        return {
            "verdict": self.verdict,
            "rows": self.n,
            "confidence": self.confidence,
            "estimates": plain_rows(self.estimates),
        }

    def __str__(self) -> str:
        """Return verdict and estimates as text."""
        named = self.estimates.fillna({"group": ALL, "reference": ""})
        table = visible_table(named).to_string(index=False, float_format="%.3f")
        return f"{as_printed(self.verdict)}\n\n{table}"


def audit_memberships(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    group_probabilities: pd.DataFrame,
    measures: str | Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    confidence: float = 0.95,
) -> MembershipAudit:
    """Measure decisions by groups that are known by probability only; see the module.

    Parameters
    ----------
    y_true : array-like of 0/1, (n_rows,), optional
        None where outcomes are unknown: then selection rates alone.
    y_pred : array-like of 0/1, (n_rows,)
    group_probabilities : DataFrame, (n_rows, n_groups)
        Of a row for each group, which a column names; they add to 1. Rows of similar
        probabilities, 100 or more, are a cell of Z.
    measures : str or sequence of str, optional
        Rates of `fairdash.metrics.catalog.RATES`, by default all that can be computed.
    sample_weight, cluster : array-like, (n_rows,), optional
        Sampling weights, and the unit of each row.

    Raises
    ------
    ValueError
        If probabilities are outside [0, 1] or do not add to 1, there are fewer than two
        groups, lengths differ, or a measure needs ``y_true``.
    """
    decided: Any = counting.binary_vector("y_pred", y_pred)
    check_lengths(decided, group_probabilities, y_true)
    p = _checked(group_probabilities)
    n_rows = len(p)
    y: Any = decided
    possible: Sequence[str] = ["selection_rate"]
    if y_true is not None:
        y = counting.binary_vector("y_true", y_true)
        possible = catalog.RATES
    if isinstance(measures, str):
        measures = [measures]
    for measure in measures or ():
        check_one_of("measures", measure, possible)

    unit = variance.unit_codes(cluster, n_rows)
    # Rows of one unit are in one half, else a unit would decide about itself.
    half_code = np.arange(n_rows) if unit is None else unit
    rng = np.random.default_rng(SEED)
    half = rng.integers(2, size=int(half_code.max()) + 1)[half_code]
    # A leaf holds rows of similar probabilities: the cells of Z.
    tree = DecisionTreeRegressor(min_samples_leaf=CELL, random_state=0)
    cell = tree.fit(p, p).apply(p)
    # The last column is of all rows: a group that everybody belongs to.
    memberships = np.column_stack([p, np.ones(n_rows)])
    weight = counting.row_weights("sample_weight", sample_weight, n_rows)
    rows = MembershipRows(memberships, weight, cell, unit, half)

    names = pd.Series([*map(str, group_probabilities), None], dtype=object)
    tables = []
    for measure in measures or possible:
        base, positive = catalog.rate_of(measure)
        is_base = base(y, decided)
        is_positive = positive(y, decided)
        rates, gaps = rows.measured(
            is_base & is_positive, is_base & ~is_positive, confidence
        )
        tables.append(rates.assign(measure=measure, group=names, reference=None))
        tables.append(
            gaps.assign(
                measure=views.gap_of(measure),
                group=gaps["group"].map(names),
                reference=gaps["reference"].map(names),
            )
        )
    table = pd.concat(tables, ignore_index=True)
    columns = ["measure", "group", "reference", *NUMBERS, "n"]
    return MembershipAudit(table[columns], n_rows, confidence)


def memberships_of_table(
    rows: CountedRows, question: TableQuestion, *, model: TableModel | None = None
) -> MembershipAudit:
    """Audit rows of a table whose ``question.groups`` are columns of probabilities.

    Raises ValueError as `audit_memberships` and `fairdash.audits.tables.audit_table`.
    """
    if question.count is not None:
        raise ValueError(
            "--probabilities is of single people; give one row each, no --count."
        )
    if question.subgroups or question.reference:
        raise ValueError("--probabilities takes no --subgroup and no --reference.")
    decided, _ = decisions_of(rows, question, model)
    return audit_memberships(
        None if rows.actual is None else rows.actual.astype(int),
        decided.astype(int),
        group_probabilities=rows.frame[list(rows.features)],
        measures=question.measures or None,
        sample_weight=None if question.weight is None else rows.frame[question.weight],
        cluster=None if question.unit is None else rows.frame[question.unit],
    )


class MembershipRows(NamedTuple):
    """Probabilities, weights, cells of the proxy, units and halves of the same rows."""

    p: FloatArray
    weight: FloatArray
    cell: NDArray[np.int64]
    unit: NDArray[np.int64] | None
    half: NDArray[np.int64]

    def measured(
        self, counted: Any, missed: Any, confidence: float
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a rate by group, and the gap of each pair; see the module."""
        # Three versions of each rate stand beside each other: the weighted estimate,
        # the least possible one (N least, C most) and the largest possible one.
        least, most = self._bounds(counted)
        least_missed, most_missed = self._bounds(missed)
        numerator = np.hstack([self.p * counted[:, None], least, most])
        remainder = np.hstack([self.p * missed[:, None], most_missed, least_missed])
        rate, covariance = self._rates(numerator, remainder)

        n = (self.p * (counted | missed)[:, None]).sum(axis=0)
        variances = np.diag(covariance)
        n_three = np.tile(n, 3)
        # How many independent rows would have this variance: Wilson's interval of so
        # many is as wide as weights, units and the proxy make it.
        n_effective = variance.Variance(variances, n_three).effective(
            rate, n_three, n_three
        )

        def wilson(level: float) -> intervals.Interval:
            low, high = intervals.wilson_interval(
                rate * n_effective, n_effective, confidence=level
            )
            return intervals.Interval(rate, low, high)

        alone = wilson(confidence)
        rates = _table(*(part.reshape(3, -1) for part in alone))

        # Gaps hold for all pairs at once (Bonferroni). The largest gap is the most of
        # one group less the least of the other.
        first, second = np.array([*combinations(range(len(n)), 2)]).T
        at_once = wilson(intervals.for_all_pairs(confidence, len(n)))
        index = np.arange(len(rate)).reshape(3, -1)  # estimate, least and most
        before_first = index[:, first]
        right = index[[0, 2, 1]][:, second]
        left_rate = intervals.Interval(*(part[before_first] for part in at_once))
        right_rate = intervals.Interval(*(part[right] for part in at_once))
        deviations = np.sqrt(np.outer(variances, variances))
        correlation = counting.divide(covariance, deviations)
        shared = np.nan_to_num(correlation[before_first, right])
        ends = intervals.difference_of(left_rate, right_rate, shared)
        low, high = np.clip(ends, -1, 1)
        fewer = np.minimum(n[first], n[second])
        enough = fewer >= FEW
        gaps = _table(
            left_rate.value - right_rate.value,
            np.where(enough, low, np.nan),
            np.where(enough, high, np.nan),
        )
        return rates.assign(n=n), gaps.assign(group=first, reference=second, n=fewer)

    def _bounds(self, event: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        """Return the terms of L and U of an event, row by row; see the module."""
        happened = event.astype(np.float64)[:, None]
        means = self._means_of_other_half(np.column_stack([self.p, happened]))
        share = means[:, :-1]
        chance = means[:, -1:]
        # A group that has all of a cell leaves no choice, whatever happened in the
        # other half.
        has_all = share == 1
        upper = np.where((share <= chance) & ~has_all, self.p, happened)
        has_surplus = (share + chance > 1) | has_all
        lower = np.where(has_surplus, self.p + happened - 1, 0.0)
        return lower, upper

    def _means_of_other_half(self, values: FloatArray) -> FloatArray:
        """Return weighted means over the other half of each row's cell."""
        weighted = pd.DataFrame(values).assign(rows=1.0).mul(self.weight, axis=0)
        sums = weighted.groupby([self.cell, self.half]).sum()
        other_half = self.half.max() - self.half
        keys = pd.MultiIndex.from_arrays([self.cell, other_half])
        totals = sums.reindex(keys).to_numpy()
        return counting.divide(totals[:, :-1], totals[:, -1:])

    def _rates(
        self, numerator: FloatArray, remainder: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the rates N / (N + C), and their covariance by linearisation."""
        weight = self.weight[:, None]
        counted = (weight * numerator).sum(axis=0).clip(0)
        missed = (weight * remainder).sum(axis=0).clip(0)
        rate = counting.divide(counted, counted + missed)
        residual = weight * ((1 - rate) * numerator - rate * remainder)
        influence = counting.divide(residual, counted + missed)
        if self.unit is not None:
            # Rows of a unit are not independent; their sums are.
            influence = pd.DataFrame(influence).groupby(self.unit).sum().to_numpy()
        n = len(influence)
        return rate, influence.T @ influence * n / (n - 1)


def _table(value: FloatArray, low: FloatArray, high: FloatArray) -> pd.DataFrame:
    """Return the columns `NUMBERS` of estimate, least and largest, a row of each."""
    columns = [value[0], low[0], high[0], value[1], value[2], low[1], high[2]]
    return pd.DataFrame(dict(zip(NUMBERS, columns, strict=True)))


def _checked(probabilities: pd.DataFrame) -> FloatArray:
    """Return probabilities that add to 1; ValueError names the first row without."""
    if probabilities.shape[1] < 2:
        raise ValueError("Give the probabilities of two groups or more, a column each.")
    numbers = probabilities.apply(pd.to_numeric, errors="coerce")
    p = numbers.to_numpy(np.float64, na_value=np.nan)
    wrong = ~((p >= 0) & (p <= 1)).all(axis=1) | (abs(p.sum(axis=1) - 1) > ROUNDED)
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            "Probabilities of groups must be from 0 to 1 and add to 1 in every row. "
            f"In {plural(int(wrong.sum()), 'row')} they do not, first row {row + 1} "
            f"with {listing(map(as_written, probabilities.iloc[row]))}. Add a column "
            "of all other groups, or give rows without any the shares of all people."
        )
    return p / p.sum(axis=1, keepdims=True)
