"""How often the check for proxies is wrong, what it finds, and what it costs.

    python benchmarks/proxies.py --draws 400

False alarms are tables of independent features with a finding, with the least sizes of
the check and, to see its test by itself, without them. The time is processor time of
50,000 rows and 30 features, beside that of all other checks in the same run.
"""

import argparse
import itertools
import time
from collections.abc import Sequence
from unittest import mock

import numpy as np
import pandas as pd

from fairdash.datasets import Roles, check_table
from fairdash.datasets.checks import proxies, table


def independent(
    rng: np.random.Generator, n: int, shares: Sequence[float]
) -> pd.DataFrame:
    """Return numbers, codes and names that know nothing of the group."""
    return pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "code": rng.integers(0, 5, n),
            "amount": rng.integers(0, 9999, n),
            "kind": rng.choice(list("abcdefg"), n),
            "name": [f"n{k}" for k in rng.integers(0, 200, n)],
            "group": rng.choice(len(shares), n, p=shares).astype(str),
            "y": rng.integers(0, 2, n),
        }
    )


def found(frame: pd.DataFrame) -> set[str]:
    """Return the features that are called proxies."""
    names = [name for name in frame if name not in ("group", "y")]
    roles = Roles(
        target="y", positive="1", sensitive_feature="group", features=tuple(names)
    )
    checks = check_table(frame, roles)
    return set(checks.loc[checks["check"] == "proxy", "column"])


def false_alarms(rng: np.random.Generator, draws: int) -> None:
    """Print how often independent features are called proxies."""
    for n, shares in itertools.product(
        (40, 300, 2000), ((0.5, 0.5), (0.7, 0.2, 0.1), (0.9, 0.1))
    ):
        tables = [independent(rng, n, shares) for _ in range(draws)]
        alarms = sum(bool(found(item)) for item in tables)
        with (
            mock.patch.object(proxies, "AREA", 0.0),
            mock.patch.object(proxies, "FEWER_ERRORS", -np.inf),
        ):
            bare = sum(bool(found(item)) for item in tables)
        print(f"{n:,} rows, groups of {shares}: {alarms / draws:.3f}, ", end="")
        print(f"without least sizes {bare / draws:.3f}", flush=True)


def power(rng: np.random.Generator, draws: int) -> None:
    """Print how often proxies are found: 36 names of one group each, and numbers."""
    group_of = np.arange(36) % 3
    for n in (200, 1000):
        hits = 0
        for _ in range(draws):
            frame = independent(rng, n, (0.6, 0.3, 0.1))
            code = rng.integers(0, 36, n)
            frame["name"] = [f"n{k}" for k in code]
            frame["group"] = group_of[code].astype(str)
            hits += "name" in found(frame)
        print(f"36 names, {n:,} rows: {hits / draws:.3f}")
    for shift in (0.5, 1.0, 1.5, 2.0):
        hits = 0
        for _ in range(draws):
            frame = independent(rng, 1000, (0.5, 0.5))
            frame["number"] += shift * (frame["group"] == "1")
            hits += "number" in found(frame)
        print(f"a number {shift} deviations apart, 1,000 rows: {hits / draws:.3f}")


def cost(rng: np.random.Generator) -> None:
    """Print the processor time of the check beside that of all checks."""
    n = 50_000
    columns = {f"x{i}": rng.normal(size=n) for i in range(15)}
    columns |= {
        f"c{i}": rng.choice([f"level {k}" for k in range(8 + 3 * i)], n)
        for i in range(15)
    }
    frame = pd.DataFrame(columns)
    roles = Roles(
        target="y", positive="1", sensitive_feature="group", features=tuple(frame)
    )
    frame = frame.assign(y=rng.integers(0, 2, n), group=rng.choice(["a", "b"], n))
    spent = []
    with mock.patch.object(table, "proxy_findings", return_value=()):
        spent.append(_seconds(frame, roles))
    spent.append(_seconds(frame, roles))
    without, whole = spent
    print(f"all checks {whole:.2f} s, without proxies {without:.2f} s")


def _seconds(frame: pd.DataFrame, roles: Roles) -> float:
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        check_table(frame, roles)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print all three."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    false_alarms(rng, options.draws)
    power(rng, max(options.draws // 4, 1))
    cost(rng)


if __name__ == "__main__":
    main()
