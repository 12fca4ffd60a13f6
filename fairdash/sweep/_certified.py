"""A choice with a guarantee: learn then test.

Which models are tried, and in which order, is settled on validation rows; whether
limits hold is tested on rows that had no part in that.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import ceil, inf
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit
from scipy.stats import beta, binom

from fairdash._metric_names import ODDS, OPPORTUNITY, PARITY, WORST
from fairdash.metrics import catalog
from fairdash.sweep._front import pareto_front

OVERALL = ""  # the subgroup of all rows
COLUMNS = ("model", "accuracy", "gap", "subgroup", "group", "n", "positives")
_MEASURES = {  # that a limit over all rows is of
    PARITY: ("selection_rate",),
    OPPORTUNITY: ("true_positive_rate",),
    "false_positive_rate_difference": ("false_positive_rate",),
    ODDS: ("true_positive_rate", "false_positive_rate"),
}
_COST = "error_cost_difference"  # and the costs, as in "error_cost_difference 3:1"
_LIMITS = (*_MEASURES, _COST, WORST)
_SET = 1e-4  # chance that the common rate lies outside the set it is looked for in
_MOST_ROWS = 10_000_000  # up to which the rows needed are tested exactly
_CHANCE = 0.8  # that so many more rows certify
_RATES = 65  # at which the largest p-value is looked for first
_FINER = 9  # rates around each local maximum
_REFINEMENTS = 6  # of each local maximum


@dataclass(frozen=True)
class CertifiedChoice:
    """Result of a certified choice.

    Attributes
    ----------
    model : object or None
        The most accurate certified model, as the table names it; None without one.
    tested : DataFrame
        The models in the order they were tested, up to the first that failed: model,
        accuracy, p_value, certified.
    rows_needed : float
        About how many more rows certify the first model with a chance of .8, if its
        rates are those on these; 0 if it is certified, infinite if its gaps are over
        the limits.
    """

    model: Any
    tested: pd.DataFrame
    rows_needed: float


@runtime_checkable
class CertifiableSweep(Protocol):
    """A finished sweep, which counts what limits are of."""

    def certification_table(self, limits: Mapping[str, float]) -> pd.DataFrame:
        """Return the table that `choose_certified` takes."""


@runtime_checkable
class CertifiablePolicy(Protocol):
    """A policy, whose limits have names of its own."""

    def certifiable(self) -> dict[str, float]:
        """Return its limits as `choose_certified` takes them."""


def choose_certified(
    table: pd.DataFrame | CertifiableSweep,
    *,
    limits: Mapping[str, float] | CertifiablePolicy,
    confidence: float = 0.95,
    wrong_groups: float = 0.0,
) -> CertifiedChoice:
    r"""Return the most accurate model whose limits are certified to hold on new rows.

    Models of the front of accuracy against gap on validation rows are tested from the
    fairest on, each at level :math:`\delta` = 1 - confidence, until the first fails
    (fixed-sequence testing: no correction for their number is needed). A model is
    certified when every gap between two groups, over all rows and in every subgroup,
    is shown to be below its limit; the p-value is the largest of theirs
    (an intersection-union test). So with probability at most :math:`\delta` over the
    rows tested a model is returned whose limits do not hold.

    Parameters
    ----------
    table : DataFrame or `fairdash.audits.StoredSweep`
        One row per model, subgroup and group: ``model``; ``accuracy`` and ``gap`` on
        validation rows, the gap in units of its limit if there are several; and, on
        rows that had no part in training or in this order, ``subgroup`` ("" for all
        rows), ``group``, ``n`` and ``positives``. The rows of one split alone: those of
        several overlap. Optional columns are ``measure``, by default "selection_rate":
        the rate of which ``n`` and ``positives`` are counts; and, where rows have
        sampling weights or units, ``rate`` with its linearised ``variance`` and the
        number of ``units``. Tested is then as of the number of independent rows with
        that variance (Korn and Graubard 1998): see `independent_counts`.
    limits : mapping of str to float, or `fairdash.audits.tables.Policy`
        A policy stands for its limits. Over all rows
        ``demographic_parity_difference``, of the selection rate,
        ``equal_opportunity_difference``, of the true positive rate,
        ``false_positive_rate_difference`` and ``equalized_odds_difference``, of both;
        ``error_cost_difference 3:1``, of the measure ``error_cost 3:1``, whose
        ``positives`` are the sum of costs, the larger of which counts 1;
        ``worst_1_di``, of the selection rate in every subgroup of the table.
    wrong_groups : float, default=0
        Share :math:`\gamma` of any group, among the rows that a rate is about, that may
        be recorded wrongly: the limits then hold for all true groups within total
        variation :math:`\gamma` of the recorded ones. A rate of these is at most
        :math:`\gamma` away, so that gaps are tested against the limit less
        :math:`2 \gamma`.

    Raises
    ------
    ValueError
        If the table lacks a column or the rows that a limit is of, or a limit or
        ``confidence`` is not between 0 and 1, or ``wrong_groups`` not in [0, 1).

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan and Lei, Learn then test: calibrating predictive
    algorithms to achieve risk control (2021), section 2 and Algorithm 1.
    """
    if not isinstance(limits, Mapping) and isinstance(limits, CertifiablePolicy):
        limits = limits.certifiable()
    # a frame has an attribute for each of its columns, whatever their names
    if not isinstance(table, pd.DataFrame) and isinstance(table, CertifiableSweep):
        table = table.certification_table(limits)
    table = independent_counts(table)
    _check(table, limits, confidence)
    if not 0 <= wrong_groups < 1:
        raise ValueError(f"`wrong_groups` must lie in [0, 1), got {wrong_groups!r}.")
    # Each of the two rates of a gap may be off by the share of wrong groups, times the
    # largest value that a row can have.
    limits = {
        name: limit - 2 * wrong_groups * max([1.0, *map(_largest_cost, _of(name))])
        for name, limit in limits.items()
    }
    models = table.drop_duplicates("model")[["model", "accuracy", "gap"]]
    axes = ("validation_worst_1_di", "validation_accuracy")
    models.columns = pd.Index(["model", axes[1], axes[0]])
    front = pareto_front(models, axes=axes)
    counts = dict(list(table.groupby("model", sort=False)))
    # Fixed-sequence testing: the front begins with the fairest model, and the first
    # that fails ends the sequence, so that no correction for their number is needed.
    tested = []
    chosen = None
    for model, accuracy in zip(
        front["model"], front["validation_accuracy"], strict=True
    ):
        p_value = _largest(counts[model], limits)
        certified = p_value <= 1 - confidence
        tested.append((model, accuracy, p_value, certified))
        if not certified:
            break
        chosen = model
    names = ["model", "accuracy", "p_value", "certified"]
    results = pd.DataFrame(tested, columns=names)
    needed = 0.0
    if chosen is None:
        needed = inf
        if tested:
            needed = _rows_needed(counts[tested[0][0]], limits, confidence)
    return CertifiedChoice(chosen, results, needed)


@lru_cache(maxsize=4096)  # a page asks the same again at every move
def gap_p_value(positives: tuple[int, int], n: tuple[int, int], limit: float) -> float:
    r"""Return the p-value of :math:`H: p_1 - p_0 \ge \text{limit}`.

    Exact and unconditional: the probability of a difference of rates as small as the
    one observed, at its largest over the pairs of rates on the border of H, looked for
    at a grid of rates within an exact interval of the second (Berger and Boos, 1994),
    whose chance of missing is added. No gap is below a limit of 0: then it is 1.
    """
    if limit <= 0:
        return 1.0
    (x1, x0) = positives
    (n1, n0) = n
    # Clopper and Pearson's interval of the second rate.
    low = float(beta.ppf(_SET / 2, x0, n0 - x0 + 1)) if x0 else 0.0
    high = float(beta.ppf(1 - _SET / 2, x0 + 1, n0 - x0)) if x0 < n0 else 1.0
    high = min(high, 1 - limit)
    if low > high:
        return _SET  # no pair on the border has a second rate as large
    # Counts of the second group more than nine standard deviations, each at most
    # sqrt(n) / 2, away from all rates of the interval have no chance worth adding.
    margin = 9 * np.sqrt(n0) / 2 + 9
    first = max(0, int(n0 * low - margin))
    last = min(n0, ceil(n0 * high + margin))
    second = np.arange(first, last + 1)
    # The largest x with x / n1 - second / n0 <= x1 / n1 - x0 / n0, in whole numbers.
    most = (n1 * second + x1 * n0 - x0 * n1) // n0

    def chances(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        column = rates[:, None]
        pairs = binom.pmf(second, n0, column) * binom.cdf(most, n1, column + limit)
        return np.sum(np.asarray(pairs), axis=1)

    return min(1.0, _supremum(chances, low, high) + _SET)


def _supremum(
    chances: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    low: float,
    high: float,
) -> float:
    """Return the largest chance over rates from ``low`` to ``high``.

    Chances have several local maxima: a coarse grid finds where they are, finer grids
    how large.
    """
    rates = np.linspace(low, high, _RATES)
    values = chances(rates)
    largest = float(values.max())
    step = (high - low) / (_RATES - 1)
    before = np.append(-1, values[:-1])
    after = np.append(values[1:], -1)
    tops = (values >= before) & (values >= after)
    # A local maximum far below the largest value does not exceed it within one step.
    for middle in rates[tops & (values > 0.8 * largest)]:
        width = step
        for _ in range(_REFINEMENTS):
            start = max(low, middle - width)
            end = min(high, middle + width)
            finer = np.linspace(start, end, _FINER)
            finer_values = chances(finer)
            middle = float(finer[finer_values.argmax()])
            width = width / 4
            largest = max(largest, float(finer_values.max()))
    return largest


def independent_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows with weights or units as counts of independent rows.

    A rate p with the variance V counts as :math:`p (1 - p) / V` rows, fewer for few
    units by the squared ratio of Student's to the normal quantile; never more than
    there are. A table without ``rate``, ``variance`` and ``units`` stays as it is.
    """
    if not {"rate", "variance", "units"} <= set(table.columns) or table.empty:
        return table
    rate = table["rate"].to_numpy(np.float64)
    variance = table["variance"].to_numpy(np.float64)
    units = table["units"].to_numpy(np.float64)
    if not ((variance >= 0) & (units >= 1) & (rate >= 0) & (rate <= 1)).all():
        raise ValueError(
            "In every row `rate` must lie in [0, 1], `variance` be 0 or more and "
            "`units` at least 1."
        )
    spread = rate * (1 - rate)
    varies = variance > 0
    # A rate of 0 or 1 has no variance: it counts as many rows as there are units.
    effective = np.where(varies, spread / np.where(varies, variance, 1.0), units)
    effective *= (ndtri(0.975) / stdtrit(np.maximum(units - 1, 1), 0.975)) ** 2
    n = np.maximum(np.floor(np.minimum(effective, table["n"])), 1).astype(int)
    return table.assign(n=n, positives=np.rint(rate * n).astype(int))


def limit_of(
    subgroup: str, limits: Mapping[str, float], measure: str = "selection_rate"
) -> float | None:
    """Return the limit in a subgroup, or over all rows; None if there is none.

    One on error costs is as a share of the larger cost.
    """
    if subgroup != OVERALL:
        return limits.get(WORST) if measure == "selection_rate" else None
    most = _largest_cost(measure)
    named = [limits[name] / most for name in limits if measure in _of(name)]
    return min(named, default=None)


def _of(name: str) -> tuple[str, ...]:
    """Return the measures whose gaps over all rows a limit bounds."""
    if name.partition(" ")[0] == _COST:
        return (name.replace(_COST, "error_cost"),)
    return _MEASURES.get(name, ())


def _largest_cost(measure: str) -> float:
    return max(catalog.error_costs(measure) or (1.0,))


def measures_of(limits: Mapping[str, float]) -> tuple[str, ...]:
    """Return the rates that limits are of, each once."""
    measures: list[str] = []
    for name in limits:
        measures += _of(name)
    if WORST in limits:
        measures.append("selection_rate")
    return tuple(dict.fromkeys(measures))


def _pairs(
    counts: pd.DataFrame, limits: Mapping[str, float]
) -> Iterator[tuple[tuple[int, int], tuple[int, int], float]]:
    """Yield positives, sizes and limit of every ordered pair of groups to test."""
    for (measure, subgroup), cells in _measured(counts).groupby(
        ["measure", "subgroup"], sort=False
    ):
        limit = limit_of(str(subgroup), limits, str(measure))
        if limit is not None:
            whole = cells[["positives", "n"]].round().astype(int)
            groups = whole.itertuples(index=False)
            for (x1, n1), (x0, n0) in permutations(groups, 2):
                yield (x1, x0), (n1, n0), limit


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    return table if "measure" in table else table.assign(measure="selection_rate")


def _largest(counts: pd.DataFrame, limits: Mapping[str, float]) -> float:
    return max((gap_p_value(*pair) for pair in _pairs(counts, limits)), default=1.0)


def _rows_needed(
    counts: pd.DataFrame, limits: Mapping[str, float], confidence: float
) -> float:
    """Return the number of further rows that certify with a chance of `_CHANCE`.

    With the rates of these rows, and half as often with as many as give them a p-value
    at the limit: their errors must be smaller by the quantile of the chance, too.
    """
    # A normal test needs, of each pair, this many times the rows that there are.
    factors = []
    for (x1, x0), (n1, n0), limit in _pairs(counts, limits):
        room = limit - (x1 / n1 - x0 / n0)
        if room <= 0:
            return inf
        variance = 0.0
        for x, n in ((x1, n1), (x0, n0)):
            rate = (x + 0.5) / (n + 1)  # not 0 or 1, where nothing would vary
            variance += rate * (1 - rate) / n
        factors.append(1.1 * float(ndtri(confidence)) ** 2 * variance / room**2)
    factor = max(1.0, *factors)
    names = _measured(counts)[["measure", "subgroup"]]
    first = (names == names.iloc[0]).all(axis=1)
    n_rows = counts.loc[first, "n"].sum()
    amounts = counts[["n", "positives"]].astype(float)
    # From there on by the exact test.
    while factor * n_rows < _MOST_ROWS:
        more = counts.assign(**(factor * amounts).round())
        if factor > 1 and _largest(more, limits) <= 1 - confidence:
            break
        factor = max(1.1 * factor, 1 + 1 / n_rows)
    # All tests must pass at once: the chance of a miss is shared among those that are
    # nearly as hard as the hardest.
    n_near = max(sum(value > max(factors) / 2 for value in factors), 1)
    surely = float(ndtri(1 - (1 - _CHANCE) / n_near)) / float(ndtri(confidence))
    return float(ceil((factor * (1 + max(surely, 0.0)) ** 2 - 1) * n_rows))


def _check(table: pd.DataFrame, limits: Mapping[str, float], confidence: float) -> None:
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise ValueError(f"The table has no columns {missing}; see `choose_certified`.")
    if not limits or not {name.partition(" ")[0] for name in limits} <= set(_LIMITS):
        raise ValueError(f"`limits` must name some of {list(_LIMITS)}, got {limits}.")
    for name, value in {**limits, "confidence": confidence}.items():
        if not 0 < value < 1:
            raise ValueError(f"`{name}` must lie between 0 and 1, got {value!r}.")
    if (table["n"] < 1).any():
        rows = table.index[table["n"] < 1].tolist()
        raise ValueError(f"`n` must be at least 1; rows {rows[:5]} have none.")
    overall = table["subgroup"] == OVERALL
    measured = _measured(table)["measure"]
    for name in limits:
        wanted = _of(name) or ("selection_rate",)
        for measure in wanted:
            cells = table[(overall == (name != WORST)) & (measured == measure)]
            if set(cells["model"]) == set(table["model"]):
                continue
            scope = "inside subgroups" if name == WORST else "over all rows"
            raise ValueError(
                f"A limit on {name!r} is tested {scope}, where the table has no row of "
                "some model. Drop the limit, choose wider subgroups, or lower the size "
                "from which one is estimable."
            )
