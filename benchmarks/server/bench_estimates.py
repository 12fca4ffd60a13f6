"""The time that Train and Sweep promise beside the time taken.

    python benchmarks/server/bench_estimates.py
    python benchmarks/server/bench_estimates.py --home FOLDER --runs 1-7

In an empty home twenty runs are asked for in this order, none of them trained before:
what was trained so far tells how fast this machine is. Said and taken are seconds until
the run is over, CPU those of the engine and its workers, and busy how many times as
long as on idle processors training took when it was said. The last lines count the
promises that are right within a factor of 1.5 and of 2. With ``--home`` a
few runs can be made at a time: later ones learn from what lies there.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from processor_time import processor_seconds

from fairdash import ui
from fairdash.audits import training
from fairdash.audits.crowding import crowd
from fairdash.audits.pace import n_workers
from fairdash.jobs import engine, submit
from fairdash.store import Store
from fairdash.sweep import MethodGrid
from fairdash.ui.data import add_sample
from fairdash.ui.widgets.runs import training_spec

sys.path.append(str(Path(__file__).parents[1]))
from process_memory import family

LOOK_SECONDS = 0.1
RIGHT = 1.5, 2.0  # factors
ASKED = (
    ("loans", 1, MethodGrid(method="unconstrained")),
    ("loans", 3, MethodGrid(method="road")),
    ("loans", 1, MethodGrid(method="adversarial", params={"fairness_weight": 3.0})),
    ("loans", 3, MethodGrid(method="fair_log_loss")),
    ("loans", 1, MethodGrid(method="sensei")),
    ("loans", 3, MethodGrid(method="sensei", params={"fairness_weight": 0.5})),
    ("loans", 3, MethodGrid(method="noisy_dro")),
    ("loans", 1, MethodGrid(method="reductions")),
    ("loans", 1, MethodGrid(method="forest")),
    ("loans", 1, MethodGrid(method="road", effort="paper")),
    ("hiring", 1, MethodGrid(method="unconstrained")),
    ("hiring", 3, MethodGrid(method="road")),
    ("readmission", 1, MethodGrid(method="adversarial")),
    ("readmission", 3, MethodGrid(method="fair_log_loss")),
    ("readmission", 1, MethodGrid(method="sensei")),
    (
        "loans",
        1,
        MethodGrid(
            method="road",
            params={
                "fairness_weight": {"linear": [0, 5, 5]},
                "tau": {"log": [0.05, 1, 5]},
            },
        ),
    ),
    ("hiring", 5, MethodGrid(method="unconstrained", effort="paper")),
    ("readmission", 1, MethodGrid(method="reductions", params={"tolerance": 0.02})),
    (
        "hiring",
        2,
        MethodGrid(
            method="adversarial",
            params={"fairness_weight": {"linear": [0.5, 6, 12]}},
        ),
    ),
    ("readmission", 5, MethodGrid(method="road", params={"tau": 0.6})),
)


def spent(host: int) -> float:
    """Return the processor seconds of a process and of all below it."""
    return sum(map(processor_seconds, family(host)))


@contextmanager
def home_at(folder: str | None) -> Iterator[Path]:
    """Give a folder that stays, or an empty one that is gone in the end."""
    if folder is not None:
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as result:
        yield Path(result)


def started_engine(home: Path) -> int:
    """Start the engine of a home; return its process."""
    engine.ensure_engine(home)
    while not (home / "engine.json").exists():
        time.sleep(LOOK_SECONDS)
    return int(json.loads((home / "engine.json").read_text())["pid"])


class Outcome(NamedTuple):
    """The ratio of the expected time to that taken, and whether the words held."""

    ratio: float
    held: bool


def ask(
    store: Store, host: int, sample: str, n_seeds: int, grid: MethodGrid
) -> Outcome:
    """Train what is asked for, print a line and return what became of the promise."""
    data = add_sample(sample)
    spec = training_spec(data, grid, n_seeds)
    busy = crowd(n_workers())
    cost = training.expected_cost(store, data, spec)
    before = spent(host)
    began = time.perf_counter()
    run = submit(store, spec)
    while not store.run(run).over:
        time.sleep(LOOK_SECONDS)
    taken = time.perf_counter() - began
    status = store.run(run).status
    holds = cost.promise.low <= taken <= cost.promise.high
    words = cost.words().partition(": ")[2].partition(" with ")[0]
    print(
        f"{cost.seconds:6.1f} {taken:6.1f} {cost.seconds / taken:6.2f} "
        f"{spent(host) - before:6.1f} {busy:5.1f}   {'held' if holds else 'not '}   "
        f"{sample}, {grid.method} {grid.effort}, {cost.missing} models: {words}"
        + f" {status}"
        * (status != "finished"),
        flush=True,
    )
    return Outcome(cost.seconds / taken, holds)


def main() -> None:
    """Ask for all settings, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--home", help="a folder that stays; empty at the first run")
    parser.add_argument("--runs", default=f"1-{len(ASKED)}", help="first and last")
    chosen = parser.parse_args()
    first, _, last = chosen.runs.partition("-")
    print("  said  taken  ratio    CPU  busy   words  what")
    with home_at(chosen.home) as home:
        os.environ["FAIRDASH_HOME"] = str(home)
        with engine.attach(home), closing(ui.store()) as store:
            host = started_engine(home)
            outcomes = [
                ask(store, host, *sweep_asked)
                for sweep_asked in ASKED[int(first) - 1 : int(last or first)]
            ]
    print(f"words held: {sum(o.held for o in outcomes)} of {len(outcomes)}")
    for factor in RIGHT:
        right = sum(1 / factor <= outcome.ratio <= factor for outcome in outcomes)
        print(f"within a factor of {factor}: {right} of {len(outcomes)}")


if __name__ == "__main__":
    main()
