"""The time that Train and Sweep promise beside the time taken.

    python benchmarks/server/bench_estimates.py

In an empty home the settings are asked for in this order, none of them trained before:
what was trained so far tells how fast this machine is. Said and taken are seconds until
the run is over, CPU those of the engine and its workers. A promise is right within a
factor of two; of 2 s or less nothing can be told.
"""

import json
import os
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from bench_release import processor_seconds

from fairdash import ui
from fairdash.audits import training
from fairdash.jobs import engine, submit
from fairdash.sweep import MethodGrid
from fairdash.ui.data import add_sample
from fairdash.ui.widgets.runs import training_spec

sys.path.append(str(Path(__file__).parents[1]))
from process_memory import family

LOOK_SECONDS = 0.1
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
)


def spent(host: int) -> float:
    """Return the processor seconds of a process and of all below it."""
    return sum(map(processor_seconds, family(host)))


def main() -> None:
    """Ask for all settings, one after the other."""
    print("  said  taken  ratio    CPU   what")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["FAIRDASH_HOME"], home = folder, Path(folder)
        with engine.attach(home), closing(ui.store()) as store:
            engine.ensure_engine(home)
            while not (home / "engine.json").exists():
                time.sleep(LOOK_SECONDS)
            host = json.loads((home / "engine.json").read_text())["pid"]
            for sample, n_seeds, grid in ASKED:
                data = add_sample(sample)
                spec = training_spec(data, grid, n_seeds)
                said = training.expected_cost(store, data, spec)
                seconds = float("nan") if said.seconds is None else said.seconds
                before, began = spent(host), time.perf_counter()
                run = submit(store, spec)
                while not store.run(run).over:
                    time.sleep(LOOK_SECONDS)
                taken = time.perf_counter() - began
                print(
                    f"{seconds:6.1f} {taken:6.1f} {seconds / taken:6.2f} "
                    f"{spent(host) - before:6.1f}   {sample}, {grid.method} "
                    f"{grid.effort}, {said.missing} models"
                    + f" {store.run(run).status}"
                    * (store.run(run).status != "finished"),
                    flush=True,
                )


if __name__ == "__main__":
    main()
