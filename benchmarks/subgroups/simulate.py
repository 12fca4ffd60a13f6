"""How often a search of subgroups errs, and what it finds.

``size``: tables without a gap inside any subgroup searched, or with one in half of the
rows, where what is found in the other half is false. ``power``: planted gaps in 13 % of
the rows, of several sizes, in tables of several sizes.
``samples``: decisions of boosted trees on the sample tables, by cross-fitting on all
rows or on test rows alone; and on two twins without bias: decisions redrawn whatever
the row, so that groups still differ in their columns; and groups shuffled, so that
decisions still differ by the columns.
Beside each a naive scan: is any subgroup beyond 1.96 standard errors?

    python benchmarks/subgroups/simulate.py size [--repetitions 200] [--case weighed]
    python benchmarks/subgroups/simulate.py power [--repetitions 100]
    python benchmarks/subgroups/simulate.py samples [--repetitions 10] [--kind cross]
"""

import argparse
import warnings
from functools import cache, partial

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import KFold, cross_val_predict

from fairdash.audits import find_subgroups
from fairdash.datasets import SAMPLES, encode, load_sample, split
from fairdash.metrics import intervals


def columns(rng, n):
    return pd.DataFrame(
        {
            "age": rng.integers(18, 66, n),
            "pay": rng.lognormal(3, 0.5, n),
            "score": rng.normal(size=n),
            "site": rng.choice([*"abcde"], n),
            "job": rng.choice([*"uvw"], n),
            "open": rng.random(n) < 0.5,
        }
    )


def independent(rng, n):
    """Draw groups that have nothing to do with anything."""
    frame = columns(rng, n)
    rate = expit(0.8 * frame["score"])
    return rng.random(n) < rate, rng.integers(0, 2, n), frame


def different(rng, n):
    """Draw groups that differ in age and site, decisions by score and job."""
    frame = columns(rng, n)
    lean = 0.06 * (frame["age"] - 40) + 1.5 * (frame["site"] == "a")
    group = (rng.random(n) < expit(lean)).astype(int)
    rate = expit(0.8 * frame["score"] - 1.0 * (frame["job"] == "u"))
    return rng.random(n) < rate, group, frame


def rare(rng, n):
    """Draw four groups, the smallest of 5 %, and few positive decisions."""
    frame = columns(rng, n)
    group = rng.choice(4, n, p=[0.6, 0.25, 0.1, 0.05])
    return rng.random(n) < 0.06, group, frame


def half(rng, n):
    """Draw a gap where open: what is found elsewhere alone is false."""
    frame = columns(rng, n)
    group = rng.integers(0, 2, n)
    rate = 0.5 - 0.25 * group * frame["open"]
    return rng.random(n) < rate, group, frame


def skewed(rng, n):
    """Draw skewed errors of numbers by score and job, groups by age and site."""
    _, group, frame = different(rng, n)
    size = np.exp(0.5 * frame["score"] + 0.8 * (frame["job"] == "u"))
    return size * (rng.exponential(size=n) - 1), group, frame


def half_of_numbers(rng, n):
    """Draw errors of numbers that differ where open: what is elsewhere is false."""
    frame = columns(rng, n)
    group = rng.integers(0, 2, n)
    return rng.exponential(size=n) + 0.6 * group * frame["open"], group, frame


def weighed(rng, n):
    """Draw groups alike, and rows of positive decisions that weigh four times."""
    decided, group, frame = independent(rng, n)
    weight = rng.uniform(0.8, 1.2, n) * (1 + 3 * np.asarray(decided))
    return decided, group, frame, weight


def planted(gap):
    def draw(rng, n):
        frame = columns(rng, n)
        group = rng.integers(0, 2, n)
        inside = (frame["site"] == "a") & (frame["job"] != "u")
        return rng.random(n) < 0.55 - gap * group * inside, group, frame

    draw.__doc__ = f"Draw a gap of {gap:.2f} in 13 % of the rows."
    return draw


FAIR = {
    draw.__name__: draw
    for draw in (independent, different, rare, half, skewed, half_of_numbers, weighed)
}


def is_false(name, conditions):
    """Tell whether a finding is of a subgroup without a gap."""
    if not name.startswith("half"):
        return True
    return any(c.column == "open" and c.levels == ("0",) for c in conditions)


def hits(conditions):
    """Tell whether a finding names the planted site, and no other."""
    return any(c.levels == ("a",) for c in conditions)


def size(repetitions, first, n, permutations, cases):
    for draw in map(FAIR.__getitem__, cases):
        tell = partial(is_false, draw.__name__)
        how = {"n_permutations": permutations}
        count, naive = reported(draw, tell, n, range(first, first + repetitions), how)
        print(f"  {count}, naive {naive}  {n:,} rows  {draw.__doc__}", flush=True)


def power(repetitions, first, permutations):
    seeds = range(first, first + repetitions)
    for n in (1000, 2000, 4000):
        for gap in (0.0, 0.1, 0.2, 0.3, 0.4):
            how = {"n_permutations": permutations}
            # without a gap whatever is reported is false
            tell = hits if gap else partial(is_false, "none")
            count, naive = reported(planted(gap), tell, n, seeds, how)
            print(f"{n:,} rows, gap {gap:.1f}: {count}, naive {naive}", flush=True)


def reported(draw, tell, n, seeds, how):
    """Return in which share of tables some finding is told, and of a naive scan."""
    results = []
    for seed in seeds:
        values, group, frame, *weight = draw(np.random.default_rng(seed), n)
        values = np.asarray(values)
        rates = values.dtype == bool
        table = find_subgroups(
            values.astype(int) if rates else values,
            measure="selection_rate" if rates else "mean_prediction",
            sensitive_features=group,
            frame=frame,
            random_state=seed,
            sample_weight=weight[0] if weight else None,
            **how,
        )
        beyond = table["p_adjusted"] <= 0.05, table["z"] > 1.96
        results.append([any(map(tell, table.loc[at, "conditions"])) for at in beyond])
    counts = np.sum(results, 0)
    return [
        f"{k / len(seeds):.2f} ({float(low):.2f} to {float(high):.2f})"
        for k in counts
        for low, high in [intervals.wilson_interval(k, len(seeds))]
    ]


def samples(repetitions, first, kind, names, cases, permutations):
    for name in names:
        dataset = load_sample(name)
        for case in cases:
            n_found = leads = alarms = naive = 0
            for seed in range(first, first + repetitions):
                rng = np.random.default_rng(seed)
                # twins redraw what one model decided
                again = 0 if case != "as it is" else seed
                rows, decided = decisions(name, again, kind)
                groups = dataset.sensitive_features[rows]
                if case == "redrawn":
                    decided = rng.permutation(decided)
                elif case == "shuffled":
                    groups = rng.permutation(groups)
                frame = dataset.frame.iloc[rows][list(dataset.roles.features)]
                table = find_subgroups(
                    decided,
                    sensitive_features=groups,
                    frame=frame,
                    n_permutations=permutations,
                    random_state=seed,
                )
                best = table.iloc[0]
                naive += table["z"].max() > 1.96
                inside = np.logical_and.reduce(
                    [condition.holds(frame) for condition in best["conditions"]]
                )
                share = SAMPLES[name].planted_rows(frame)[inside].mean()
                n_found += best["p_adjusted"] < 0.01
                leads += best["p_adjusted"] < 0.01 and share >= 0.9
                alarms += best["p_adjusted"] <= 0.05
            print(
                f"{name:12s} {kind:6s} {case:9s} of {repetitions}: p < .01 {n_found}, "
                f"planted first {leads}, p <= .05 {alarms}, naive {naive}",
                flush=True,
            )


@cache
def decisions(name, seed, kind):
    """Return rows and decisions of boosted trees that were not trained on them."""
    data = load_sample(name)
    model = HistGradientBoostingClassifier(
        max_iter=100, learning_rate=0.05, random_state=0
    )
    if kind == "cross":
        X = encode(data, np.arange(data.n_rows)).X
        folds = KFold(5, shuffle=True, random_state=seed)
        return np.arange(data.n_rows), cross_val_predict(model, X, data.y, cv=folds)
    train, _, test = split(data, seed)
    X = encode(data, train).X
    return test, model.fit(X[train], data.y[train]).predict(X[test])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["size", "power", "samples"])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--case", nargs="+", default=list(FAIR), choices=FAIR)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--kind", default="cross", choices=["cross", "test"])
    cases = ["as it is", "redrawn", "shuffled"]
    parser.add_argument("--cases", nargs="+", default=cases, choices=cases)
    parser.add_argument("--names", nargs="+", default=list(SAMPLES))
    parser.add_argument("--permutations", type=int, default=199)
    options = parser.parse_args()
    warnings.simplefilter("error", RuntimeWarning)
    seeds = (options.repetitions, options.first)
    permutations = options.permutations
    if options.what == "size":
        size(*seeds, options.rows, permutations, options.case)
    elif options.what == "power":
        power(*seeds, permutations)
    else:
        samples(*seeds, options.kind, options.names, options.cases, permutations)


if __name__ == "__main__":
    main()
