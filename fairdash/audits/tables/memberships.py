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

from fairdash._escaping import as_printed, visible_table
from fairdash._validation import as_written, check_lengths, check_one_of
from fairdash._wording import in_points, listing, plural
from fairdash.audits.answer import Answer, Listing
from fairdash.audits.tables.audit import decisions_of, plain_rows
from fairdash.audits.tables.counting import CountedRows
from fairdash.audits.tables.question import TableQuestion
from fairdash.brought import TableModel
from fairdash.metrics import catalog, counting, intervals, variance, views

Array = NDArray[np.float64]
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
        of_gap = ~self.estimates["measure"].isin(catalog.RATES)
        fits = self.estimates["reference"].isna() == to_all
        return self.estimates[of_gap & fits]

    @property
    def verdict(self) -> str:
        """The first measure's gap that is sure for all true groups, or its range."""
        measure = self.estimates["measure"].iloc[0]
        name = catalog.MEASURE_NAMES[measure].lower()
        gaps = self.gaps().dropna(subset="low")
        gaps = gaps[gaps["measure"] == views.gap_of(measure)]
        if gaps.empty:
            return "A group has too few expected rows to compare it."
        least = gaps["low"].clip(lower=-gaps["high"])  # positive if all agree on a side
        gap = gaps.iloc[int(least.argmax())]
        if least.max() <= 0:
            most = in_points(np.abs(gaps[["low", "high"]].to_numpy()).max())
            return f"Groups may have the same {name}, or differ by up to {most} points."
        lower, higher = gap["group"], gap["reference"]
        if gap["low"] > 0:
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
        numbers = {"rows": self.n, "confidence": self.confidence}
        rows = plain_rows(self.estimates)
        return {"verdict": self.verdict, **numbers, "estimates": rows}

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
    able: Sequence[str] = catalog.RATES if y_true is not None else ["selection_rate"]
    if isinstance(measures, str):
        measures = [measures]
    for measure in measures or ():
        check_one_of("measures", measure, able)
    y: Any = decided if y_true is None else counting.binary_vector("y_true", y_true)
    weight = counting.row_weights("sample_weight", sample_weight, len(p))
    unit = variance.unit_codes(cluster, len(p))
    own = np.arange(len(p)) if unit is None else unit
    half = np.random.default_rng(SEED).integers(2, size=int(own.max()) + 1)[own]
    tree = DecisionTreeRegressor(min_samples_leaf=CELL, random_state=0)
    cell = tree.fit(p, p).apply(p)
    everyone = np.column_stack([p, np.ones(len(p))])
    rows = MembershipRows(everyone, weight, cell, unit, half)
    names = pd.Series([*map(str, group_probabilities), None], dtype=object)
    parts = []
    for measure in measures or able:
        about, counted = (part(y, decided) for part in catalog.rate_of(measure))
        rates, gaps = rows.measured(about & counted, about & ~counted, confidence)
        sides = {side: gaps[side].map(names) for side in ("group", "reference")}
        parts.append(rates.assign(measure=measure, group=names, reference=None))
        parts.append(gaps.assign(measure=views.gap_of(measure), **sides))
    table = pd.concat(parts, ignore_index=True)
    columns = ["measure", "group", "reference", *NUMBERS, "n"]
    return MembershipAudit(table[columns], len(p), confidence)


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

    p: Array
    weight: Array
    cell: NDArray[np.int64]
    unit: NDArray[np.int64] | None
    half: NDArray[np.int64]

    def measured(
        self, counted: Any, missed: Any, confidence: float
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a rate by group, and the gap of each pair; see the module."""
        (least, most), (least_missed, most_missed) = map(self._ends, (counted, missed))
        part = np.hstack([self.p * counted[:, None], least, most])
        rest = np.hstack([self.p * missed[:, None], most_missed, least_missed])
        rate, covariance = self._rates(part, rest)
        n = (self.p * (counted | missed)[:, None]).sum(axis=0)
        spread, all_n = np.diag(covariance), np.tile(n, 3)
        rows = variance.Variance(spread, all_n).effective(rate, all_n, all_n)

        def wilson(level: float) -> intervals.Interval:
            ends = intervals.wilson_interval(rate * rows, rows, confidence=level)
            return intervals.Interval(rate, *ends)

        rates = _table(*(part.reshape(3, -1) for part in wilson(confidence)))
        first, other = np.array([*combinations(range(len(n)), 2)]).T
        pairs = wilson(intervals.for_all_pairs(confidence, len(n)))
        place = np.arange(len(rate)).reshape(3, -1)  # estimate, least and most
        left, right = place[:, first], place[[0, 2, 1]][:, other]
        a, b = (intervals.Interval(*(p[at] for p in pairs)) for at in (left, right))
        correlation = counting.divide(covariance, np.sqrt(np.outer(spread, spread)))
        shared = np.nan_to_num(correlation[left, right])
        ends = np.clip(intervals.difference_of(a, b, shared), -1, 1)
        fewer = np.minimum(n[first], n[other])
        gaps = _table(a.value - b.value, *np.where(fewer >= FEW, ends, np.nan))
        return rates.assign(n=n), gaps.assign(group=first, reference=other, n=fewer)

    def _ends(self, event: NDArray[np.bool_]) -> tuple[Array, Array]:
        happened = event.astype(np.float64)[:, None]
        means = self._elsewhere(np.column_stack([self.p, happened]))
        share, chance = means[:, :-1], means[:, -1:]
        all_of_it = share == 1  # leaves no choice, whatever happened elsewhere
        upper = np.where((share <= chance) & ~all_of_it, self.p, happened)
        surplus = (share + chance > 1) | all_of_it
        return np.where(surplus, self.p + happened - 1, 0.0), upper

    def _elsewhere(self, values: Array) -> Array:
        weighed = pd.DataFrame(values).assign(rows=1.0).mul(self.weight, axis=0)
        sums = weighed.groupby([self.cell, self.half]).sum()
        other = [self.cell, self.half.max() - self.half]
        means = sums.reindex(pd.MultiIndex.from_arrays(other)).to_numpy()
        return counting.divide(means[:, :-1], means[:, -1:])

    def _rates(self, part: Array, rest: Array) -> tuple[Array, Array]:
        weight = self.weight[:, None]
        top, bottom = ((weight * terms).sum(axis=0).clip(0) for terms in (part, rest))
        rate = counting.divide(top, top + bottom)
        residual = weight * ((1 - rate) * part - rate * rest)
        sums = counting.divide(residual, top + bottom)
        if self.unit is not None:
            sums = pd.DataFrame(sums).groupby(self.unit).sum().to_numpy()
        return rate, sums.T @ sums * len(sums) / (len(sums) - 1)


def _table(value: Array, low: Array, high: Array) -> pd.DataFrame:
    columns = [value[0], low[0], high[0], value[1], value[2], low[1], high[2]]
    return pd.DataFrame(dict(zip(NUMBERS, columns, strict=True)))


def _checked(probabilities: pd.DataFrame) -> Array:
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
