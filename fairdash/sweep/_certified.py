"""A choice with a guarantee: learn then test.

Which models are tried, and in which order, is settled on validation rows; whether
limits hold is tested on rows that had no part in that.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import ceil, inf
from typing import Any

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
_FINER, _HALVINGS = 9, 6  # rates around each local maximum, and how often


@dataclass(frozen=True)
class CertifiedChoice:
    """What was certified.

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


def choose_certified(
    table: Any,
    *,
    limits: Mapping[str, float] | Any,
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
    if hasattr(limits, "certifiable"):
        limits = limits.certifiable()
    if hasattr(table, "certification_table"):
        table = table.certification_table(limits)
    table = independent_counts(table)
    _check(table, limits, confidence)
    if not 0 <= wrong_groups < 1:
        raise ValueError(f"`wrong_groups` must lie in [0, 1), got {wrong_groups!r}.")
    limits = {
        name: limit - 2 * wrong_groups * max([1.0, *map(_largest_cost, _of(name))])
        for name, limit in limits.items()
    }
    models = table.drop_duplicates("model")[["model", "accuracy", "gap"]]
    axes = ("validation_worst_1_di", "validation_accuracy")
    models.columns = pd.Index(["model", axes[1], axes[0]])
    front = pareto_front(models, axes=axes)
    counts = dict(list(table.groupby("model", sort=False)))
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
    low = float(beta.ppf(_SET / 2, x0, n0 - x0 + 1)) if x0 else 0.0
    high = float(beta.ppf(1 - _SET / 2, x0 + 1, n0 - x0)) if x0 < n0 else 1.0
    high = min(high, 1 - limit)
    if low > high:
        return _SET  # no pair on the border has a second rate as large
    wide = 9 * np.sqrt(n0) / 2 + 9
    first = max(0, int(n0 * low - wide))
    second = np.arange(first, min(n0, ceil(n0 * high + wide)) + 1)
    # x / n1 <= second / n0 + (x1 / n1 - x0 / n0), in whole numbers
    most = (n1 * second + x1 * n0 - x0 * n1) // n0

    def chances(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        at = rates[:, None]
        pairs = binom.pmf(second, n0, at) * binom.cdf(most, n1, at + limit)
        return np.sum(np.asarray(pairs), axis=1)

    return min(1.0, _supremum(chances, low, high) + _SET)


def _supremum(
    chances: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    low: float,
    high: float,
) -> float:
    rates = np.linspace(low, high, _RATES)
    values = chances(rates)
    largest = float(values.max())
    step = (high - low) / (_RATES - 1)
    around = np.pad(values, 1, constant_values=-1)
    tops = (around[1:-1] >= around[:-2]) & (around[1:-1] >= around[2:])
    # far from the largest a maximum cannot be within one step of it
    for middle in rates[tops & (values > 0.8 * largest)]:
        width = step
        for _ in range(_HALVINGS):
            finer = np.linspace(
                max(low, middle - width), min(high, middle + width), _FINER
            )
            there = chances(finer)
            middle = float(finer[there.argmax()])
            width = width / 4
            largest = max(largest, float(there.max()))
    return largest


def independent_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows with weights or units as counts of independent rows.

    A rate p with the variance V counts as :math:`p (1 - p) / V` rows, fewer for few
    units by the squared ratio of Student's to the normal quantile; never more than
    there are. A table without ``rate``, ``variance`` and ``units`` stays as it is.
    """
    if not {"rate", "variance", "units"} <= set(table.columns) or table.empty:
        return table
    rate, variance, units = (
        table[name].to_numpy(np.float64) for name in ("rate", "variance", "units")
    )
    if not ((variance >= 0) & (units >= 1) & (rate >= 0) & (rate <= 1)).all():
        raise ValueError(
            "In every row `rate` must lie in [0, 1], `variance` be 0 or more and "
            "`units` at least 1."
        )
    spread = rate * (1 - rate)
    varies = variance > 0
    worth = np.where(varies, spread / np.where(varies, variance, 1.0), units)
    worth *= (ndtri(0.975) / stdtrit(np.maximum(units - 1, 1), 0.975)) ** 2
    n = np.maximum(np.floor(np.minimum(worth, table["n"])), 1).astype(int)
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
    if name.partition(" ")[0] == _COST:
        return (name.replace(_COST, "error_cost"),)
    return _MEASURES.get(name, ())


def _largest_cost(measure: str) -> float:
    return max(catalog.error_costs(measure) or (1.0,))


def measures_of(limits: Mapping[str, float]) -> tuple[str, ...]:
    """Return the rates that limits are of, each once."""
    every = [measure for name in limits for measure in _of(name)]
    return tuple(dict.fromkeys([*every, *(["selection_rate"] * (WORST in limits))]))


def _pairs(
    counts: pd.DataFrame, limits: Mapping[str, float]
) -> Iterator[tuple[tuple[int, int], tuple[int, int], float]]:
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
    """Return how many more rows certify with a chance of `_CHANCE`.

    With the rates of these rows, and half as often with as many as give them a p-value
    at the limit: their errors must be smaller by the quantile of the chance, too.
    """
    each = []
    for (x1, x0), (n1, n0), limit in _pairs(counts, limits):
        rates = (x1 + 0.5) / (n1 + 1), (x0 + 0.5) / (n0 + 1)
        room = limit - (x1 / n1 - x0 / n0)
        if room <= 0:
            return inf
        spread = sum(r * (1 - r) / n for r, n in zip(rates, (n1, n0), strict=True))
        each.append(1.1 * float(ndtri(confidence)) ** 2 * spread / room**2)
    times = max(1.0, *each)
    names = _measured(counts)[["measure", "subgroup"]]
    first = (names == names.iloc[0]).all(axis=1)
    n_rows = counts.loc[first, "n"].sum()
    amounts = counts[["n", "positives"]].astype(float)
    while times * n_rows < _MOST_ROWS:
        more = counts.assign(**(times * amounts).round())
        if times > 1 and _largest(more, limits) <= 1 - confidence:
            break
        times = max(1.1 * times, 1 + 1 / n_rows)
    n_near = max(sum(one > max(each) / 2 for one in each), 1)
    surely = float(ndtri(1 - (1 - _CHANCE) / n_near)) / float(ndtri(confidence))
    return float(ceil((times * (1 + max(surely, 0.0)) ** 2 - 1) * n_rows))


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
    of = _measured(table)["measure"]
    for name in limits:
        wanted = _of(name) or ("selection_rate",)
        for measure in wanted:
            cells = table[(overall == (name != WORST)) & (of == measure)]
            if set(cells["model"]) == set(table["model"]):
                continue
            where = "inside subgroups" if name == WORST else "over all rows"
            raise ValueError(
                f"A limit on {name!r} is tested {where}, where the table has no row of "
                "some model. Drop the limit, choose wider subgroups, or lower the size "
                "from which one is estimable."
            )
