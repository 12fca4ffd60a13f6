"""The matrix of `benchmarks/coverage.py`, and which of its cells fall short."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from coverage_statements import PARTS, WRONG
from coverage_tables import MEASURES, SETTINGS, TABLES, Rows

import fairdash
from fairdash._change import Change
from fairdash._wording import moved_words
from fairdash.metrics import gap_change

LEAST, MOST = 0.93, 0.07  # coverage and false clears that a cell may have


def example(part: str, name: str, statement: str, seed: int) -> str:
    """Return what is shown of the first table of a setting on which one is wrong."""
    settings: dict[str, Any] = {**SETTINGS, **TABLES}
    rng = np.random.default_rng(seed)
    memo = dict[str, Any]()
    truth = Rows(*[None] * 6) if part in WRONG else settings[name].draw(rng, 300_000)
    for _ in range(400):
        rows = settings[name].draw(rng)
        for n_made, holds in PARTS[part](rows, truth, memo):
            if n_made == statement and holds == (part in WRONG):
                return shown(statement, rows)
    return "–"


def shown(statement: str, rows: Rows) -> str:
    """Return what is shown, without "The widest:", of what a statement is about."""
    if statement == "change of a gap":
        change = gap_change(rows.decided, rows.after, **rows.asked)
        moved = Change(*map(float, change))
        return moved_words(moved, "narrows", "widens", "the gap")
    measure = next((m for m in MEASURES if m in statement), "selection_rate")
    inside: dict[str, Any] = {}
    if "inside" in statement or "Worst" in statement:
        inside = {"subgroups": rows.part, "min_size": 20}
    return fairdash.audit(
        rows.y,
        rows.decided,
        scores=rows.scores,
        measures=[measure],
        **inside,
        **rows.asked,
    ).verdict.rpartition(": ")[2]


def wrong(statement: str, made: int, held: int) -> bool:
    """Tell whether a cell is beyond what is allowed, its simulation's error aside."""
    share = held / made
    error = 2 * np.sqrt(0.05 * 0.95 / made)
    if _of_part(statement) in WRONG:
        return share > MOST and share - error > 0.05
    return share < LEAST and share + error < 0.95


def _of_part(statement: str) -> str:
    """Return the part that makes a statement."""
    starts = {
        "clear": "verdicts",
        "beyond": "verdicts",
        "Worst-1-DI above": "verdicts",
        "decides": "verdicts",
        "a subgroup": "searches",
        "certified": "certificates",
        "difference": "gaps",
        "ratio": "gaps",
        "largest": "gaps",
        "Worst-1-DI": "gaps",
        "change": "gaps",
        "accuracy by": "ramps",
        "gap by": "ramps",
        "named": "named",
        "both ways": "directions",
        "turned": "directions",
    }
    return next(
        (p for start, p in starts.items() if statement.startswith(start)), "intervals"
    )


Cells = dict[str, list[int]]

Results = dict[str, dict[str, dict[int, Cells]]]  # part, setting, seed


def report(results: Results, seeds: list[int], fresh: int | None = None) -> str:
    """Return the matrix as Markdown, and what is shown where a cell is bold.

    The matrix pools ``seeds``; bold cells stand beside what the ``fresh`` one found.
    """
    lines = [
        "# Coverage of statements",
        "",
        "How often 95 % intervals hold the truth, and fair tables are called unfair. "
        "Tables are of two seeds, pooled. Bold is below .93, or above .07 for a false "
        "statement, by more than two standard errors of the simulation; of 300 such "
        "cells about seven are bold by chance. A dash: said in fewer than 20 tables, "
        "else the page says that rows are too few.",
    ]
    all_results = results
    results = _of_seeds(results, seeds)
    for title, parts in (
        ("Held (.95)", [part for part in PARTS if part not in WRONG]),
        ("Wrong (at most .05)", list(WRONG)),
    ):
        by_setting: dict[str, Cells] = defaultdict(dict)
        for part in parts:
            for setting, by_seed in results.get(part, {}).items():
                by_setting[setting] |= pooled(by_seed.values())
        names = list(dict.fromkeys(s for cells in by_setting.values() for s in cells))
        if not names:
            continue
        lines += ["", f"## {title}", "", "|".join(["", "Table", *names, ""])]
        lines += ["|---" * (len(names) + 1) + "|"]
        for setting, cells in (
            by_setting | {"All": pooled(by_setting.values())}
        ).items():
            row = [_cell(name, *cells.get(name, (0, 0))) for name in names]
            lines.append("|".join(["", setting, *row, ""]))
    all_seeds = [*seeds, *([] if fresh is None else [fresh])]
    return "\n".join([*lines, *_by_seed(all_results, seeds, all_seeds)]) + "\n"


def _of_seeds(results: Results, seeds: list[int]) -> Results:
    of_seeds: Results = defaultdict(lambda: defaultdict(dict))
    for part, by_setting in results.items():
        for setting, by_seed in by_setting.items():
            some = {seed: by_seed[seed] for seed in seeds if seed in by_seed}
            if some:
                of_seeds[part][setting] = some
    return of_seeds


def wanting(results: Results) -> list[tuple[str, str, str]]:
    """Return part, setting and statement of the cells that are bold."""
    return [
        (part, setting, name)
        for part, by_setting in results.items()
        for setting, by_seed in by_setting.items()
        for name, (n_made, n_held) in pooled(by_seed.values()).items()
        if n_made >= 20 and wrong(name, n_made, n_held)
    ]


def pooled(several: Iterable[Cells]) -> Cells:
    """Return how often statements were made and right in all of several simulations."""
    sums: Cells = defaultdict(lambda: [0, 0])
    for cells in several:
        for name, (n_made, n_held) in cells.items():
            sums[name] = [sums[name][0] + n_made, sums[name][1] + n_held]
    return dict(sums)


def _by_seed(results: Results, seeds: list[int], beside: list[int]) -> list[str]:
    """Return the bold cells with what each seed found, and what is then shown."""
    rows = []
    for part, setting, name in wanting(_of_seeds(results, seeds)):
        by_seed = results[part][setting]
        cells_found = [by_seed.get(seed, {}).get(name, [0, 0]) for seed in beside]
        shares = [f"{_cell(name, *cell)} of {cell[0]}" for cell in cells_found]
        sentence = example(part, setting, name, beside[-1])
        rows.append("|".join(["", setting, name, *shares, sentence, ""]))
    names = ["Table", "Statement", *(f"Seed {s}" for s in beside), "Shown, wrong"]
    heads = ["|".join(["", *names, ""]), "|---" * len(names) + "|"]
    return ["", "## Bold cells", "", *heads, *rows] if rows else []


def _cell(name: str, made: int, held: int) -> str:
    if made < 20:
        return "–"
    text = f"{held / made:.3f}".lstrip("0")
    return f"**{text}**" if wrong(name, made, held) else text


def failing(results: Results) -> str:
    """Name the statements that hold too seldom over all settings; "" where none does.

    Of a thousand tables a statement that holds in .95 passes at .93 all but surely.
    """
    pooled_cells = pooled(
        cells
        for by_setting in results.values()
        for by_seed in by_setting.values()
        for cells in by_seed.values()
    )
    shares = {
        name: n_held / n_made
        for name, (n_made, n_held) in pooled_cells.items()
        if n_made
    }
    return "\n".join(
        f"{name}: {share:.3f} of {pooled_cells[name][0]:,}"
        for name, share in shares.items()
        if (share > MOST if _of_part(name) in WRONG else share < LEAST)
    )
