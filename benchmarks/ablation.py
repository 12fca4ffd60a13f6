"""ROAD's ablations (its Figures 6 and 7) on Law School: the tables of docs/results/road.md.

One choice of ROAD varied over several seeds: quick schedule, λ .1, .25, .5, 1 by
τ .1, .5 (beyond, most models of Law do not decide), min-max scaling, subgroups of 20
rows or more.

    FAIRDASH_DATA=FOLDER python benchmarks/ablation.py capacity normalisation --seeds 10 --home HOME

A model that HOME holds is not trained again.
"""  # noqa: E501

import argparse
import os
from pathlib import Path

import pandas as pd
from fronts import compare_values

from fairdash.audits import sweeps
from fairdash.audits.trials.models import as_scored
from fairdash.audits.trials.rows import rows_trained_on
from fairdash.datasets import PUBLIC, Subgroups
from fairdash.jobs import submit
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

LAW = PUBLIC["law"]
GRID = {"fairness_weight": (0.1, 0.25, 0.5, 1.0), "tau": (0.1, 0.5)}
CAPACITIES = ("simple", "medium", "complex")
ABLATIONS = {
    "capacity": {"adversary_layers": CAPACITIES, "ratio_layers": CAPACITIES},
    "normalisation": {"normalisation": ("conditional", "global")},
}
SHOWN = {"fairness_weight": 1.0, "tau": 0.5}  # where r is looked at


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ablations", nargs="+", choices=list(ABLATIONS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--effort", default="fast", choices=["fast", "paper"])
    parser.add_argument("--home", type=Path, required=True, help="keeps the models")
    parser.add_argument("--out", type=Path, help="file of what was found")
    options = parser.parse_args()
    os.environ["FAIRDASH_INLINE"] = "1"
    store = open_store(options.home)
    path = Path(os.environ["FAIRDASH_DATA"]) / "raw" / LAW.file
    digest = store.add_table(path.read_bytes(), LAW.file)
    tables = []
    for name in options.ablations:
        spec = SweepSpec(
            data={"table": digest, "roles": LAW.roles, "name": LAW.title},
            methods=(
                {"method": "unconstrained", "effort": options.effort},
                {
                    "method": "road",
                    "params": GRID | ABLATIONS[name],
                    "effort": options.effort,
                },
            ),
            seeds=tuple(range(options.seeds)),
            subgroups=LAW.subgroups,
            scaling="minmax",
        )
        sweep = sweeps.finished_sweep(store, submit(store, spec))
        for param in ABLATIONS[name]:
            comparison = compare_values(sweep.result.rows, "road", param)
            tables.append(comparison.assign(param=param))
            print(f"\n{param}\n{comparison.to_string(float_format='%.3f')}")
        if name == "normalisation":
            print(last_weights(sweep).to_string())
    store.close()
    if options.out:
        pd.concat(tables).to_csv(options.out, index=False)


def last_weights(sweep):
    """Return mean r by normalisation, seed and group at the end of training."""
    problems = []
    for trial in sweep.trials.values():
        ratio = sweep.store.artifact(trial.key).ratio()
        if ratio is None or not SHOWN.items() <= trial.params.items():
            continue
        data = sweep.run.dataset_id
        model = as_scored(trial)
        rows = rows_trained_on(sweep.store, data, model, Subgroups())
        means = pd.Series(ratio[-1] if ratio.ndim > 1 else ratio).groupby(
            rows.groups["sensitive_features"]
        )
        problems.append(
            {
                "normalisation": trial.params["normalisation"],
                "seed": trial.seed,
                **means.mean(),
            }
        )
    return pd.DataFrame(problems)


if __name__ == "__main__":
    main()
