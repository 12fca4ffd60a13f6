"""How often a chosen model breaks its promise on new people: four ways to choose.

    python benchmarks/certified/certified_choice.py planted --splits 1000
    python benchmarks/certified/certified_choice.py adult --splits 1000 --data FOLDER
    python benchmarks/certified/certified_choice.py planted --splits 300 --tests
    python benchmarks/certified/certified_choice.py size --rows 500 2000 20000

A population with known gaps stands behind every split, so that a broken promise can be
counted. From each split one model is chosen with limits on the demographic parity
difference overall and inside subgroups:

* **naive**: the most accurate whose gaps on validation rows keep the limits;
* **candidate and safety test**: the most accurate that is expected to pass the test
  (its gaps and twice the width of the bound on validation rows), tested once on the
  other rows with the same exact test;
* **Seldonian, t bounds**: the same two steps with the bounds of Thomas et al. (Science
  2019), never compared with their engine: a two-sided Student t interval of each rate,
  the error shared among limits and rates, through the absolute difference by interval
  arithmetic; the candidate is the most accurate that passes with intervals twice as
  wide on validation rows;
* **certified**: `fairdash.sweep.choose_certified`.

With ``--tests`` two variants of the last instead, beside it:

* **in order of p**: models are tested in the order of their p-values on validation
  rows, as Pareto testing does (Laufer-Goldshtein et al. 2023), not of their gaps;
* **betting**: the p-value is one over the largest wealth of who bets, by aGRAPA, that
  pairs of rows of both groups differ less than the limit (Waudby-Smith and Ramdas,
  2024).

"planted" draws decisions of models whose rates are made up; "adult" trains Zhang and
ROAD on 40 % of Adult and draws both parts of a split from the rest, with replacement.
"size" draws nothing: of two groups, one of 20 rows, it adds up the chances of all
tables in which a gap equal to the limit is certified.
"""

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binom, norm, t

from fairdash.metrics import decision_status, intervals
from fairdash.sweep import choose_certified
from fairdash.sweep._certified import _largest, _pairs, gap_p_value

LIMITS = {"demographic_parity_difference": 0.1, "worst_1_di": 0.15}
CONFIDENCE = 0.95
TESTS = ("certified", "in order of p", "betting")
WAYS = ("naive", "candidate and safety test", "Seldonian, t bounds", "certified")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("population", choices=["planted", "adult", "size"])
    parser.add_argument("--splits", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 4000])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--tests", action="store_true", help="variants of the test")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.population == "size":
        print("rows of either group, limit: chance of a certificate, at rates")
        for n, limit in itertools.product(args.rows, (0.05, 0.1)):
            for pair in [(n, 20), (20, n)]:
                size, rate = exact_size(pair, limit)
                results = f"{size:.4f} at {rate + limit:.3f} and {rate:.3f}"
                print(f"{pair} {limit}: {results}", flush=True)
        return
    cells, truth = planted() if args.population == "planted" else adult(args.data)
    print(truth.round(3).to_string(), "\n")
    for n_rows in args.rows:
        rng = np.random.default_rng(args.seed)
        way = compare_tests if args.tests else choose
        results = [way(draw(cells, n_rows, rng), truth) for _ in range(args.splits)]
        print(f"{n_rows} rows in each part, {args.splits} splits")
        print(summary(pd.DataFrame(results), truth).to_string(), "\n", flush=True)


def planted() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and truth of six models, fairer ones less accurate."""
    shares = {("a", 0): 0.3, ("a", 1): 0.2, ("b", 0): 0.3, ("b", 1): 0.2}
    gaps = [
        (0.02, 0.03),
        (0.05, 0.07),
        (0.08, 0.11),
        (0.1, 0.14),
        (0.12, 0.18),
        (0.16, 0.25),
    ]
    rows = []
    for model, gaps_of_model in enumerate(gaps):
        for (subgroup, group), share in shares.items():
            gap = gaps_of_model[0 if subgroup == "a" else 1]
            cell = {"model": model, "subgroup": subgroup, "group": group}
            rows.append({**cell, "share": share, "rate": 0.4 - gap * group})
    accuracy = pd.Series([0.66, 0.68, 0.695, 0.705, 0.71, 0.72])
    return with_truth(pd.DataFrame(rows), accuracy)


def trained_on_adult(folder: Path | None) -> tuple[np.ndarray, ...]:
    """Return scores of nine networks, outcomes, groups and who is under 40.

    All of the rows that were not trained on.
    """
    from fairdash.datasets import Roles, encode, make_dataset
    from fairdash.methods import ROAD, AdversarialDebiasing

    if folder is None:
        raise SystemExit("--data must name the folder that holds adult.parquet")
    frame = pd.read_parquet(folder / "adult.parquet")
    features = ["age", "workclass", "education", "occupation", "hours_per_week"]
    roles = Roles(
        target="income",
        positive=next(v for v in frame["income"].unique() if ">" in str(v)),
        sensitive_feature="sex",
        features=tuple(name for name in features if name in frame),
    )
    data = make_dataset(frame, roles, name="Adult")
    order = np.random.default_rng(0).permutation(data.n_rows)
    train, rest = np.split(order, [int(0.4 * data.n_rows)])
    X = encode(data, train).X
    groups = data.sensitive_features
    how = {"random_state": 0, "n_epochs": 15}
    models = [
        *AdversarialDebiasing(**how).fit_many(
            [{"fairness_weight": w} for w in (0.0, 0.3, 0.6, 1.0, 1.5, 2.0)],
            X[train],
            data.y[train],
            sensitive_features=groups[train],
        ),
        *ROAD(**how).fit_many(
            [{"fairness_weight": w, "tau": 0.3} for w in (0.5, 1.0, 2.0)],
            X[train],
            data.y[train],
            sensitive_features=groups[train],
        ),
    ]
    scores = np.stack([model.predict_proba(X[rest])[:, 1] for model in models])
    young = data.frame["age"].to_numpy()[rest] < 40
    return scores, data.y[rest], groups[rest], young


def adult(folder: Path | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and truth of trained models on the rows they did not see.

    Of those that decide: who accepts all but nobody keeps any limit, and is of no use.
    """
    scores, y, groups, young = trained_on_adult(folder)
    status = decision_status(y, (scores > 0.5).astype(int))["status"]
    decided = list(scores[(status == "").to_numpy()] > 0.5)
    about = pd.DataFrame(
        {"subgroup": np.where(young, "under 40", "40 or more"), "group": groups}
    )
    parts = []
    for model, y_pred in enumerate(decided):
        cell = about.assign(rate=y_pred).groupby(["subgroup", "group"])["rate"]
        part = cell.agg(["mean", "size"]).reset_index()
        part["share"] = part["size"] / len(y)
        parts.append(part.assign(model=model).rename(columns={"mean": "rate"}))
    accuracy = [float((y_pred == y).mean()) for y_pred in decided]
    return with_truth(pd.concat(parts), pd.Series(accuracy))


def with_truth(
    cells: pd.DataFrame, accuracy: "pd.Series[float]"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells and what holds of each model in the population."""
    truth = pd.DataFrame({"accuracy": accuracy})
    for model, part in cells.groupby("model"):
        inside = part.pivot_table(index="subgroup", columns="group", values="rate")
        weighted = part.assign(positive=part["rate"] * part["share"])
        sums = weighted.groupby("group")[["positive", "share"]].sum()
        truth.loc[model, "gap"] = np.ptp(sums["positive"] / sums["share"])
        truth.loc[model, "worst"] = np.ptp(inside, axis=1).max()
    overall, worst = LIMITS.values()
    truth["keeps"] = (truth["gap"] <= overall) & (truth["worst"] <= worst)
    return cells, truth


def draw(
    cells: pd.DataFrame, n_rows: int, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Return counts of validation and test rows; all models decide the same people."""
    first = cells[cells["model"] == 0]
    results = {}
    for part in ("validation", "test"):
        n = rng.multinomial(n_rows, first["share"] / first["share"].sum())
        sizes = first[["subgroup", "group"]].assign(n=np.maximum(n, 1))
        counts = cells.merge(sizes, on=["subgroup", "group"])
        # the same luck for every model: a person's place in the order of scores
        uniform = {
            key: rng.random(size)
            for *key, size in sizes.itertuples(index=False)
            for key in [tuple(key)]
        }
        counts["positives"] = [
            int((uniform[subgroup, group] < rate).sum())
            for subgroup, group, rate in counts[
                ["subgroup", "group", "rate"]
            ].itertuples(index=False)
        ]
        inside = counts[["model", "subgroup", "group", "n", "positives"]]
        two = inside.groupby(["model", "group"], as_index=False)[["n", "positives"]]
        results[part] = pd.concat([two.sum().assign(subgroup=""), inside])
    return results


def gaps(counts: pd.DataFrame, sides: float = 0.0) -> "pd.Series[float]":
    """Return each model's largest share of a limit, gaps widened by normal bounds."""
    rate = counts["positives"] / counts["n"]
    variance = rate * (1 - rate) / counts["n"]
    wide = counts.assign(rate=rate, variance=variance)
    cell = wide.groupby(["model", "subgroup"])
    gap = cell["rate"].max() - cell["rate"].min()
    gap += sides * norm.ppf(CONFIDENCE) * np.sqrt(cell["variance"].sum())
    overall, worst = LIMITS.values()
    limit = np.where(gap.index.get_level_values("subgroup") == "", overall, worst)
    return (gap / limit).groupby("model").max()


def t_bounds(counts: pd.DataFrame, widened: float = 1.0) -> "pd.Series[float]":
    """Return each model's largest share of a limit, by upper ends of t intervals."""
    rate = counts["positives"] / counts["n"]
    n = np.maximum(counts["n"], 2)
    # the error is shared among limits, the two rates of each, and their two sides
    delta = (1 - CONFIDENCE) / counts["subgroup"].nunique() / 2 / 2
    half = widened * t.ppf(1 - delta, n - 1) * np.sqrt(rate * (1 - rate) / (n - 1))
    ends = counts.assign(low=rate - half, high=rate + half)
    cell = ["model", "subgroup"]
    low, high = (
        ends.pivot_table(index=cell, columns="group", values=end)
        for end in ("low", "high")
    )
    a, b = low.columns
    gap = np.maximum(high[a] - low[b], high[b] - low[a])
    overall, worst = LIMITS.values()
    limit = np.where(gap.index.get_level_values("subgroup") == "", overall, worst)
    return (gap / limit).groupby("model").max()


def choose(parts: dict[str, pd.DataFrame], truth: pd.DataFrame) -> dict[str, object]:
    """Return the model that each way chooses, None without one."""
    seen = parts["validation"]
    test = parts["test"]
    ranked = truth["accuracy"].sort_values(ascending=False).index
    ratio = gaps(seen)
    accuracy = truth["accuracy"]
    naive = next((m for m in ranked if ratio[m] <= 1), None)
    expected = gaps(seen, sides=2.0)
    candidate = next((m for m in ranked if expected[m] <= 1), expected.idxmin())
    about = pd.DataFrame({"accuracy": accuracy, "gap": ratio})
    table = test.join(about, on="model")
    alone = table[table["model"] == candidate]
    arguments = {"limits": LIMITS, "confidence": CONFIDENCE}
    hoped = t_bounds(seen, widened=2.0)
    hoped_bounds = t_bounds(test)
    best = next((m for m in ranked if hoped[m] <= 1), hoped.idxmin())
    seldonian = best if hoped_bounds[best] <= 1 else None
    safe = choose_certified(alone, **arguments).model
    certified = choose_certified(table, **arguments).model
    return dict(zip(WAYS, (naive, safe, seldonian, certified), strict=True))


def compare_tests(
    parts: dict[str, pd.DataFrame], truth: pd.DataFrame
) -> dict[str, object]:
    """Return the model that each variant of the certified choice returns."""
    seen = parts["validation"]
    test = parts["test"]
    accuracy = truth["accuracy"]

    def ordered(gap: "pd.Series[float]") -> pd.DataFrame:
        about = pd.DataFrame({"accuracy": accuracy, "gap": gap})
        return test.join(about, on="model")

    by_gap = ordered(gaps(seen))
    p = pd.Series({m: _largest(part, LIMITS) for m, part in seen.groupby("model")})
    arguments = {"limits": LIMITS, "confidence": CONFIDENCE}
    chosen = [
        choose_certified(table, **arguments).model for table in (by_gap, ordered(p))
    ]
    best = None
    for model in by_gap.drop_duplicates("model").sort_values("gap")["model"]:
        pairs = _pairs(test[test["model"] == model], LIMITS)
        if max(betting_p_value(*pair) for pair in pairs) > 1 - CONFIDENCE:
            break
        better = best is None or accuracy[model] > accuracy[best]
        best = model if better else best
    return dict(zip(TESTS, (*chosen, best), strict=True))


def betting_p_value(
    positives: tuple[int, int], n: tuple[int, int], limit: float
) -> float:
    """Return the p-value of a gap of at least the limit, by betting on pairs."""
    rng = np.random.default_rng([*positives, *n])
    first, second = (
        rng.permutation(np.arange(size) < k)[: min(n)].astype(float)
        for k, size in zip(positives, n, strict=True)
    )
    z = (1 - (first - second)) / 2
    m = (1 - limit) / 2
    # what is bet on a pair is known before it
    t = np.arange(1, len(z) + 1)
    mean = np.concatenate([[m], (m + np.cumsum(z)) / (t + 1)])[:-1]
    spread = np.concatenate([[0.25], (0.25 + np.cumsum((z - mean) ** 2)) / (t + 1)])[
        :-1
    ]
    bet = np.clip((mean - m) / (spread + (mean - m) ** 2), 0, 0.9 / m)
    wealth = np.cumsum(np.log1p(bet * (z - m)))
    return float(np.exp(-max(wealth.max(), 0)))


def exact_size(n: tuple[int, int], limit: float) -> tuple[float, float]:
    """Return the largest chance to certify rates that differ by the limit, and where.

    Of the smaller group every count is taken; of the other one those that are certified
    beside it, which end somewhere, for p-values rise with the difference.
    """
    first_is_small = n[0] < n[1]
    small, large = sorted(n)
    most = np.empty(small + 1, dtype=np.int64)
    last = -1
    for count in range(small + 1):

        def certified(other: int, count: int = count) -> bool:
            positives = (other, count)
            if first_is_small:
                positives = small - count, large - other
            return gap_p_value(positives, n, limit) <= 1 - CONFIDENCE

        last = most[count] = largest(certified, last, large)

    def chance(rate: float) -> float:
        rates = (1 - rate - limit, 1 - rate) if first_is_small else (rate, rate + limit)
        of_small = binom.pmf(np.arange(small + 1), small, rates[0])
        return float(of_small @ binom.cdf(most, large, rates[1]))

    rates = np.linspace(0, 1 - limit, 2001)
    sizes = [chance(rate) for rate in rates]
    return max(sizes), float(rates[int(np.argmax(sizes))])


def largest(holds: Callable[[int], bool], known: int, most: int) -> int:
    """Return the largest number up to ``most`` that holds, where ``known`` does."""
    step = 1
    while known + step <= most and holds(known + step):
        known = known + step
        step = 2 * step
    beyond = min(known + step, most + 1)
    while beyond - known > 1:
        middle = (known + beyond) // 2
        known, beyond = (middle, beyond) if holds(middle) else (known, middle)
    return known


def summary(found: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Return by way: promises broken with interval, no answer, accuracy where one."""
    lines = {}
    n = len(found)
    for way in found:
        chosen = found[way].dropna().astype(int)
        broken = int((~truth.loc[chosen, "keeps"]).sum())
        low, high = intervals.wilson_interval(broken, n)
        lines[way] = {
            "broken": f"{broken / n:.3f} ({low:.3f}–{high:.3f})",
            "no answer": f"{1 - len(chosen) / n:.3f}",
            "accuracy": f"{truth.loc[chosen, 'accuracy'].mean():.4f}",
        }
    best = truth.loc[truth["keeps"], "accuracy"].max()
    blank = {"broken": "", "no answer": ""}
    lines["best that keeps them"] = {**blank, "accuracy": f"{best:.4f}"}
    return pd.DataFrame(lines).T


if __name__ == "__main__":
    main()
