"""How often 95% intervals hold the truth, simulated for every measure.

    python benchmarks/subgroups/coverage.py            # docs/measured/audit.md
    python benchmarks/subgroups/coverage.py --draws 200

Two groups have different features and outcomes. *Held out*: rows of one fixed model,
unweighted and with weights; the truth is its value over the population. First the
intervals of the pair and of the subgroup that a verdict names, and how often
at most it names a gap as sure where all subgroups are fair.
"""

import argparse
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from fairdash.metrics import (
    MEASURES,
    LocalMeasure,
    catalog,
    intervals,
    measure_by_group,
    measure_gaps,
)

POPULATION = 20_000


class People(NamedTuple):
    """Rows of a population: features, groups 0 and 1, outcomes, sampling weights."""

    X: NDArray[np.float64]
    group: NDArray[np.int64]
    y: NDArray[np.int64]
    weight: NDArray[np.float64]

    def at(self, rows: NDArray[np.int64]) -> "People":
        """Return some of the rows."""
        return People(*(part[rows] for part in self))


def people(n: int, rng: np.random.Generator) -> People:
    """Draw a population in which one group has other features and fewer outcomes."""
    group = (rng.random(n) < 0.4).astype(np.int64)
    X = rng.normal(size=(n, 3)) - 0.4 * group[:, None] * [1, 0, 0]
    odds = X @ [1.0, -0.7, 0.4] + 0.5 * np.sin(2 * X[:, 1]) - 0.5 * group
    y = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(np.int64)
    return People(X, group, y, 0.5 + rng.random(n) + 0.5 * group)


def values(
    rows: People, scores: NDArray[np.float64], **more: Any
) -> dict[str, pd.DataFrame]:
    """Return every measure by group, and the gap between them as a further row."""
    found = {}
    for measure in MEASURES:
        predicted = scores if measure in catalog.SCORE_MEASURES else (scores > 0.5) * 1
        asked = {"sensitive_features": rows.group, **more}
        table = measure_by_group(measure, rows.y, predicted, **asked)
        gap = measure_gaps(measure, rows.y, predicted, reference="0", **asked)
        gap = gap.rename(columns={"difference": "gap"})
        gap = gap[["gap", "ci_low", "ci_high"]].set_axis(
            ["value", "ci_low", "ci_high"], axis=1
        )
        found[measure] = pd.concat([table, gap.assign(group="gap")], ignore_index=True)
    return found


def truths(
    population: People, scores: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of a model over the whole population, in the same order."""
    found = {}
    for measure in MEASURES:
        predicted = scores if measure in catalog.SCORE_MEASURES else (scores > 0.5) * 1
        table = measure_by_group(
            measure, population.y, predicted, sensitive_features=population.group
        )
        one, other = table["value"]
        found[measure] = np.array([one, other, other - one])
    return found


def held_out(
    n: int, draws: int, *, weighted: bool, random_state: int = 0
) -> pd.DataFrame:
    """Return the share of intervals that hold the truth, for one fixed model."""
    rng = np.random.default_rng(random_state)
    population = people(POPULATION, rng)
    model = LogisticRegression().fit(population.X[:500], population.y[:500])
    scores = model.predict_proba(population.X)[:, 1]
    truth = truths(population, scores)
    share = 1 / population.weight if weighted else np.ones(POPULATION)
    held = {name: np.zeros((draws, 3)) for name in MEASURES}
    for draw in range(draws):
        where = rng.choice(POPULATION, n, p=share / share.sum())
        rows = population.at(where)
        weight = rows.weight if weighted else None
        for name, table in values(rows, scores[where], sample_weight=weight).items():
            held[name][draw] = _holds(table, truth[name])
    return _shares(held)


def named_pairs(groups: int, draws: int, random_state: int = 0) -> dict[str, float]:
    """Return how often the interval of the pair that a verdict names holds its gap.

    Groups of 60 rows are alike, so the gap is 0. The pair is the widest over all rows
    (of `fairdash.audit`), and inside the worst of four subgroups. Each at 95% for the
    pair alone, and as pages have it. Of two groups there is one pair, and the subgroup
    alone is named for its gap.
    """
    rng = np.random.default_rng(random_state)
    names = [f"g{k}" for k in range(groups)]
    group, part = np.tile(np.repeat(names, 60), 4), np.repeat(list("nesw"), 60 * groups)
    every = intervals.for_all_pairs(0.95, groups)
    held: dict[str, list[bool]] = {}
    for _ in range(draws):
        decided = (rng.random(len(group)) < 0.4).astype(int)
        asked: dict[str, Any] = {"sensitive_features": group}
        for name, sure in (("alone", 0.95), ("all pairs", every)):
            gaps = measure_gaps(
                "selection_rate", None, decided, confidence=sure, **asked
            )
            row = gaps.iloc[int(gaps["difference"].abs().argmax())]
            held.setdefault(f"all rows, {name}", []).append(
                row["ci_low"] <= 0 <= row["ci_high"]
            )
        local = LocalMeasure.of(
            "selection_rate", None, decided, subgroups=part, **asked
        )
        table = local.table()
        worst = table.loc[table["gap"].idxmax()]
        values = worst[[f"value_{name}" for name in names]].to_numpy(float)
        pair = names[int(values.argmax())], names[int(values.argmin())]
        places = intervals.for_all_pairs(0.95, groups, times=4)
        for name, sure in (("alone", 0.95), ("all pairs", places)):
            ends = local.between(*pair, subgroup=worst["subgroup"], confidence=sure)
            held.setdefault(f"worst subgroup, {name}", []).append(
                bool(ends.low <= 0 <= ends.high)
            )
    return {name: 100 * float(np.mean(flags)) for name, flags in held.items()}


def sure_gaps(confidence: float, fewest: float) -> float:
    """Return how often at most a gap of fair subgroups is named as sure, in percent.

    The chance of one Newcombe interval above or below 0, over all tables of two
    groups with one rate, times the number of subgroups: the largest over 2, 6, 12 and
    40 subgroups of even and uneven groups, and eight rates. With ``fewest`` expected
    rows of both values in the smaller group.
    """
    sizes = ((5, 45), (10, 90), (20, 180), (30, 270), (50, 450), (100, 900))
    worst = 0.0
    for few, many in (*sizes, (30, 30), (60, 60), (25, 100), (10, 400)):
        k, other = (
            grid.ravel() for grid in np.meshgrid(range(few + 1), range(many + 1))
        )
        pooled = (k + other) / (few + many)
        enough = np.minimum(pooled, 1 - pooled) * few >= fewest
        for times in (2, 6, 12, 40):
            each = 1 - (1 - confidence) / times
            rates = (
                intervals.Interval(
                    count / n, *intervals.wilson_interval(count, n, confidence=each)
                )
                for count, n in ((k, few), (other, many))
            )
            low, high = intervals.difference_of(*rates)
            named = ((low > 0) | (high < 0)) & enough
            for rate in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 0.95):
                chance = binom.pmf(k, few, rate) * binom.pmf(other, many, rate)
                worst = max(worst, times * float(chance[named].sum()))
    return 100 * worst


def _holds(table: pd.DataFrame, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = table["ci_low"].to_numpy(), table["ci_high"].to_numpy()
    held = ((low <= truth) & (truth <= high)).astype(float)
    held[np.isnan(low)] = np.nan
    return held


def _shares(held: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    """Return percentages of a group's value (the mean of both) and of the gap."""
    return pd.DataFrame(
        {
            name: {
                "value": 100 * np.nanmean(flags[:, :2]),
                "gap": 100 * np.nanmean(flags[:, 2]),
            }
            for name, flags in held.items()
        }
    ).T


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws

    pairs = {groups: named_pairs(groups, draws) for groups in (2, 3, 4, 5)}
    print(pd.DataFrame(pairs).round(1).to_string(), flush=True)
    for confidence, fewest in ((0.95, 0), (0.95, 5), (0.975, 5)):
        named = sure_gaps(confidence, fewest)
        print(f"sure at {confidence:.1%}, {fewest} expected: {named:.1f}% at most")

    def show(name: str, table: pd.DataFrame) -> None:
        print(f"\n{name}\n{table.round(1).T.to_string()}", flush=True)

    for n in (125, 500):
        for weighted in (False, True):
            name = f"held out, {n} rows{', weights' if weighted else ''}"
            show(name, held_out(n, draws, weighted=weighted))


if __name__ == "__main__":
    main()
