"""How often 95% intervals hold the truth, simulated for every measure.

    python benchmarks/subgroups/coverage.py            # docs/measured/audit.md
    python benchmarks/subgroups/coverage.py --draws 200
    python benchmarks/subgroups/coverage.py --pooled RESULTS   # of benchmarks/choice.py

Two groups have different features and outcomes. *Held out*: rows of one fixed model,
unweighted and with weights; the truth is its value over the population. First the
intervals of the pair and of the subgroup that a verdict names, and how often
at most it names a gap as sure where all subgroups are fair.

``--pooled`` says instead whether local gaps could be pulled to their mean (normal
prior, known variances, its spread integrated out): coverage of their 95% intervals
over all subgroups, in the worst of them and in that of the largest true gap, beside the
raw gaps' intervals, and mean squared error over that of the raw gaps. In settings of
many small subgroups, and in populations of RESULTS with as many rows as their test rows
have.
"""

import argparse
from itertools import product
from pathlib import Path
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
    results = {}
    for measure in MEASURES:
        predicted = scores if measure in catalog.SCORE_MEASURES else (scores > 0.5) * 1
        arguments = {"sensitive_features": rows.group, **more}
        table = measure_by_group(measure, rows.y, predicted, **arguments)
        gap = measure_gaps(measure, rows.y, predicted, reference="0", **arguments)
        gap = gap.rename(columns={"difference": "gap"})
        gap = gap[["gap", "ci_low", "ci_high"]].set_axis(
            ["value", "ci_low", "ci_high"], axis=1
        )
        results[measure] = pd.concat(
            [table, gap.assign(group="gap")], ignore_index=True
        )
    return results


def truths(
    population: People, scores: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of a model over the whole population, in the same order."""
    results = {}
    for measure in MEASURES:
        predicted = scores if measure in catalog.SCORE_MEASURES else (scores > 0.5) * 1
        table = measure_by_group(
            measure, population.y, predicted, sensitive_features=population.group
        )
        first, second = table["value"]
        results[measure] = np.array([first, second, second - first])
    return results


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
    holds = {name: np.zeros((draws, 3)) for name in MEASURES}
    for draw in range(draws):
        sites = rng.choice(POPULATION, n, p=share / share.sum())
        rows = population.at(sites)
        weight = rows.weight if weighted else None
        for name, table in values(rows, scores[sites], sample_weight=weight).items():
            holds[name][draw] = _holds(table, truth[name])
    return _shares(holds)


def named_pairs(groups: int, draws: int, random_state: int = 0) -> dict[str, float]:
    """Return how often the interval of the pair that a verdict names holds its gap.

    Groups of 60 rows are alike, so the gap is 0. The pair is the widest over all rows
    (of `fairdash.audit`), and inside the worst of four subgroups. Each at 95% for the
    pair alone, and as pages have it. Of two groups there is one pair, and the subgroup
    alone is named for its gap.
    """
    rng = np.random.default_rng(random_state)
    names = [f"g{k}" for k in range(groups)]
    group = np.tile(np.repeat(names, 60), 4)
    part = np.repeat(list("nesw"), 60 * groups)
    critical = intervals.for_all_pairs(0.95, groups)
    holds: dict[str, list[bool]] = {}
    for _ in range(draws):
        decided = (rng.random(len(group)) < 0.4).astype(int)
        arguments: dict[str, Any] = {"sensitive_features": group}
        for name, sure in (("alone", 0.95), ("all pairs", critical)):
            gaps = measure_gaps(
                "selection_rate", None, decided, confidence=sure, **arguments
            )
            row = gaps.iloc[int(gaps["difference"].abs().argmax())]
            holds.setdefault(f"all rows, {name}", []).append(
                row["ci_low"] <= 0 <= row["ci_high"]
            )
        local = LocalMeasure.of(
            "selection_rate", None, decided, subgroups=part, **arguments
        )
        table = local.table()
        worst = table.loc[table["gap"].idxmax()]
        values = worst[[f"value_{name}" for name in names]].to_numpy(float)
        pair = names[int(values.argmax())], names[int(values.argmin())]
        places = intervals.for_all_pairs(0.95, groups, times=4)
        for name, sure in (("alone", 0.95), ("all pairs", places)):
            ends = local.between(*pair, subgroup=worst["subgroup"], confidence=sure)
            holds.setdefault(f"worst subgroup, {name}", []).append(
                bool(ends.low <= 0 <= ends.high)
            )
    return {name: 100 * float(np.mean(flags)) for name, flags in holds.items()}


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
        k, n_wrong = (
            grid.ravel() for grid in np.meshgrid(range(few + 1), range(many + 1))
        )
        pooled = (k + n_wrong) / (few + many)
        enough = np.minimum(pooled, 1 - pooled) * few >= fewest
        for times in (2, 6, 12, 40):
            level = 1 - (1 - confidence) / times
            rates = (
                intervals.Interval(
                    count / n, *intervals.wilson_interval(count, n, confidence=level)
                )
                for count, n in ((k, few), (n_wrong, many))
            )
            low, high = intervals.difference_of(*rates)
            named = ((low > 0) | (high < 0)) & enough
            for rate in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 0.95):
                chance = binom.pmf(k, few, rate) * binom.pmf(n_wrong, many, rate)
                worst = max(worst, times * float(chance[named].sum()))
    return 100 * worst


def pooled_gaps(
    gaps: NDArray[np.float64], variances: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return posterior means and standard deviations of gaps, (draw, subgroup).

    Gaps are normal about theirs, which are normal about a common one; the common one
    and the spread have flat priors, and are integrated out.
    """
    largest = 2 * gaps.std(axis=1).max() + 2 * np.sqrt(variances.mean())
    spreads = np.linspace(0, largest, 60)[:, None]
    whole = variances[:, None] + spreads**2  # (draw, spread, subgroup)
    precision = (1 / whole).sum(axis=-1, keepdims=True)
    centre = (gaps[:, None] / whole).sum(axis=-1, keepdims=True) / precision
    squares = (gaps[:, None] - centre) ** 2 / whole
    logs = -0.5 * (np.log(whole) + squares).sum(axis=-1, keepdims=True)
    logs -= 0.5 * np.log(precision)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    pull = variances[:, None] / whole
    means = pull * centre + (1 - pull) * gaps[:, None]
    within = (1 - pull) * variances[:, None] + pull**2 / precision
    mean = (weights * means).sum(axis=1)
    spread = (weights * (within + means**2)).sum(axis=1) - mean**2
    return mean, np.sqrt(spread)


def pooled_row(
    n: NDArray[np.int64], rates: NDArray[np.float64], draws: int, seed: int = 0
) -> dict[str, float]:
    """Return coverage and error of raw and pooled gaps, of cells (subgroup, group)."""
    rng = np.random.default_rng(seed)
    positives = rng.binomial(n, rates, (draws, *n.shape))
    levels = [
        intervals.Interval(k / size, *intervals.wilson_interval(k, size))
        for k, size in zip(np.moveaxis(positives, -1, 0), n.T, strict=True)
    ]
    low, high = intervals.difference_of(*reversed(levels))
    raw = np.diff(positives / n, axis=-1)[..., 0]
    smooth = (positives + 1) / (n + 2)
    variances = (smooth * (1 - smooth) / n).sum(axis=-1)
    mean, spread = pooled_gaps(raw, variances)
    truth = rates[:, 1] - rates[:, 0]
    holds = {
        "raw": ((low <= truth) & (truth <= high)).mean(axis=0),
        "pooled": (np.abs(mean - truth) <= 1.96 * spread).mean(axis=0),
    }
    row = {}
    for name, shares in holds.items():
        row[f"{name}, all"], row[f"{name}, worst"] = shares.mean(), shares.min()
        row[f"{name}, largest gap"] = shares[np.abs(truth).argmax()]
    row["error"] = ((mean - truth) ** 2).mean() / ((raw - truth) ** 2).mean()
    return row


def pooled(folder: Path, draws: int) -> pd.DataFrame:
    """Return `pooled_row` of twenty settings and of the populations that were kept."""
    rng = np.random.default_rng(0)
    results = {}
    shapes = {
        "all alike": lambda k: np.zeros(k),
        "normal, sd .05": lambda k: 0.05 * rng.normal(size=k),
        "normal, sd .15": lambda k: 0.15 * rng.normal(size=k),
        "one of .4": lambda k: 0.4 * (np.arange(k) == 0),
        "a fifth of .2": lambda k: 0.2 * (np.arange(k) % 5 == 0),
    }
    for (name, draw), k, size in product(shapes.items(), (10, 40), (15, 40)):
        gaps = np.clip(draw(k), -0.35, 0.6)
        rates = 0.35 + np.outer(gaps, [0, 1])
        n = np.full((k, 2), size)
        results[f"{name}, {k} of 2 x {size}"] = pooled_row(n, rates, draws)
    for path in sorted(folder.glob("choice-*-adversarial-0.npz")):
        with np.load(path) as stored:  # parts: ..., test rows, truth; plain model first
            n, n_true = stored["rows"][-2:].sum(axis=-1)
            positives = stored["decided"][0, -1].sum(axis=-1)
        largest = n_true.sum(axis=0).argsort()[-2:]
        n, n_true, positives = (a[:, largest] for a in (n, n_true, positives))
        some = (n.sum(axis=1) >= 50) & (n.min(axis=1) > 0)
        rates = positives[some] / n_true[some]
        results[path.name.split("-")[1]] = pooled_row(n[some], rates, draws)
    return pd.DataFrame(results).T


def _holds(table: pd.DataFrame, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    low = table["ci_low"].to_numpy()
    high = table["ci_high"].to_numpy()
    holds = ((low <= truth) & (truth <= high)).astype(float)
    holds[np.isnan(low)] = np.nan
    return holds


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
    parser.add_argument("--pooled", type=Path, help="folder of benchmarks/choice.py")
    options = parser.parse_args()
    draws = options.draws
    if options.pooled:
        print(pooled(options.pooled, draws).round(3).to_string())
        return

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
