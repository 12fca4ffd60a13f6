"""How often a monitor is wrong in a year, and how late it is when it is right.

Every week brings 1,000 decisions on two groups (40 % and 60 %). The policy allows a gap
of .1. An alarm before the gap is larger than that is false. Beside the sequential alarm
stand two plain ones: the first week whose gap is above the limit, and the first week
whose 95 % interval is. Units are of four rows with one decision, rows weigh by a
log-normal weight; the plain alarms count rows.

python benchmarks/server/monitor.py [REPEATS]
"""

import sys
from itertools import product

import numpy as np

from fairdash.analysis.earlier import Masses
from fairdash.analysis.sequential import (
    alarms,
    block_terms,
    blocks_of,
    deal,
    evidence,
    growth,
)

WEEKS = 52
ROWS = 1000
SHARE = 0.4
LIMIT = 0.1
SEED = 20_261_125
GAPS = {
    "no gap": np.zeros(WEEKS),
    "gap at the limit": np.full(WEEKS, LIMIT),
    "from 0 to .15 in week 20": np.where(np.arange(WEEKS) < 20, 0.0, 0.15),
    "from the limit to .2 in week 20": np.where(np.arange(WEEKS) < 20, LIMIT, 0.2),
    "from 0 by .006 a week": 0.006 * np.arange(WEEKS),
}


def week(group, picked, rng, earlier, size):
    """Return the terms of both sides of the limit in a week of units of ``size``."""
    weight = np.ones((len(group), size))
    if size > 1:
        weight = rng.lognormal(0, 0.7, weight.shape)
    mass = weight.sum(axis=1)
    known_weeks = []
    for masses, of_group in zip(earlier, (~group, group), strict=True):
        unit = np.flatnonzero(of_group)
        known_weeks.append((masses, unit, mass[unit], (mass * picked)[unit]))
    terms = []
    for sign in (1, -1):
        factors = (sign, -sign)
        sides = [
            masses.side(f, *units)
            for f, (masses, *units) in zip(factors, known_weeks, strict=True)
        ]
        if None in sides or not (n_blocks := blocks_of(sides)):
            terms.append((np.zeros(1), 1.0))
            continue
        block = deal(sides, len(group), n_blocks, rng)
        terms.append(block_terms(sides, -LIMIT, block, n_blocks))
    for masses, _, mass, positive in known_weeks:
        masses.add(mass, positive)
    return terms


def year(gaps, rng, size):
    """Return the first week of each kind of alarm, WEEKS where there is none."""
    weeks = []
    above = []
    beyond = []
    earlier = Masses(), Masses()
    for gap in gaps:
        group = rng.random(ROWS // size) < SHARE
        picked = rng.random(ROWS // size) < np.where(group, 0.5 - gap, 0.5)
        terms = week(group, picked, rng, earlier, size)
        weeks.append(np.array([growth(*term) for term in terms]))
        group = np.repeat(group, size)
        picked = np.repeat(picked, size)
        first = picked[~group]
        second = picked[group]
        rates = first.mean(), second.mean()
        variance = sum(
            p * (1 - p) / n
            for p, n in zip(rates, (len(first), len(second)), strict=True)
        )
        result = abs(rates[0] - rates[1])
        above.append(result > LIMIT)
        beyond.append(result - 1.96 * np.sqrt(variance) > LIMIT)
    stands = alarms(evidence(weeks))
    return [int(np.argmax(a)) if np.any(a) else WEEKS for a in (stands, beyond, above)]


def main(repeats=500):
    """Print a row a setting: false alarms, alarms in time, and the median delay."""
    rng = np.random.default_rng(SEED)
    print(f"{repeats} years of {WEEKS} weeks, {ROWS} rows a week, limit {LIMIT}")
    kinds = ("sequential", "95 % interval of a week", "gap of a week")
    for (name, gaps), size in [*product(GAPS.items(), (1, 4))]:
        broken = np.flatnonzero(gaps > LIMIT)
        start = broken[0] if len(broken) else WEEKS
        first = np.array([year(gaps, rng, size) for _ in range(repeats)])
        for kind, weeks in zip(kinds, first.T, strict=True):
            false = (weeks < start).mean()
            right = weeks[(weeks >= start) & (weeks < WEEKS)] - start
            seen = len(right) / max((weeks >= start).sum(), 1)
            delay = np.median(right) if len(right) else np.nan
            text = f"found {seen:.3f}, delay {delay:.0f}" if start < WEEKS else ""
            print(f"{name:32} units of {size} {kind:24} false {false:.3f} {text}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
