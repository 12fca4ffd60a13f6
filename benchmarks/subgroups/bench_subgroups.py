"""Seconds of processor time, and memory, of a search of subgroups.

A table of numbers and categories with a planted region; the whole call, and, as a
baseline that a reader would write, the same subgroups by pandas `groupby` for a share
of the blocks of columns.

    python benchmarks/subgroups/bench_subgroups.py [--rows 50000] [--columns 15]
"""

import argparse
import resource
import time
from itertools import combinations

import numpy as np
import pandas as pd

from fairdash.analysis.subgroups.conditions import search_columns
from fairdash.analysis.subgroups.rows import SearchRows
from fairdash.audits import find_subgroups


def make(n, n_columns, seed=0):
    """Return decisions, groups and columns: two numbers to each category."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            f"c{i}": rng.choice([*"abcdef"], n) if i % 3 == 2 else rng.normal(size=n)
            for i in range(n_columns)
        }
    )
    woman = rng.random(n) < 0.45
    planted = (frame["c0"] < -0.5) & (frame["c2"] == "a")
    decided = (rng.random(n) < 0.6 - 0.3 * (woman & planted)).astype(int)
    return decided.to_numpy(), np.where(woman, "Female", "Male"), frame


def timed(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def by_pandas(rows, frame, depth, share):
    """Return the seconds of `groupby` over all blocks, from some of them."""
    bins = pd.DataFrame({c.name: c.codes for c in rows.columns})
    bins["group"], bins["value"] = rows.group, rows.value
    blocks = list(combinations(frame.columns, depth))
    some = blocks[:: max(1, round(1 / share))]
    seconds, _ = timed(
        lambda: [
            bins.groupby([*block, "group"])["value"].agg(["size", "sum"])
            for block in some
        ]
    )
    return seconds * len(blocks) / len(some)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--columns", type=int, default=15)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--permutations", type=int, default=199)
    options = parser.parse_args()
    decided, sex, frame = make(options.rows, options.columns)
    columns, _ = search_columns(frame, list(frame), bins=6, min_size=50)
    rows = SearchRows(columns, decided, (sex == "Male").astype(np.int64), 2)
    print(f"{options.rows:,} rows, {options.columns} columns, depth {options.depth}")
    seconds, table = timed(
        lambda: find_subgroups(
            decided,
            sensitive_features=sex,
            frame=frame,
            depth=options.depth,
            n_permutations=options.permutations,
            random_state=0,
        )
    )
    text = f"{table['subgroup'][0]}, p {table['p_adjusted'][0]:.3f}"
    print(f"find_subgroups             {seconds:8.2f} s  {text}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory                {peak:8.2f} GB")
    share = 0.02 if options.rows > 200_000 else 0.1
    seconds = by_pandas(rows, frame, options.depth, share)
    print(f"groupby of the same cells  {seconds:8.2f} s")


if __name__ == "__main__":
    main()
