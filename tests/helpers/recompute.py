"""Models trained for a test of a page, and their rows to recompute its numbers from."""

import numpy as np
import pandas as pd
from fairlearn.metrics import demographic_parity_difference
from toys import ROLES, people

from fairdash import ui
from fairdash.datasets import Subgroups, split
from fairdash.jobs import submit
from fairdash.sweep import MethodGrid, SweepSpec
from fairdash.ui import start_training

QUICK = {"n_epochs": 4, "batch_size": 128}
SUBGROUPS = Subgroups(columns=("branch",), min_size=20)


def add_table(n_groups):
    """Return the id of a data set of applicants in two or four groups."""
    frame = people(1200)
    if n_groups == 4:
        seniority = np.where(frame["age"] < 40, "young", "old")
        frame["origin"] = frame["origin"] + " " + seniority
    table = ui.store().add_table(frame.to_csv(index=False).encode(), "people.csv")
    return ui.store().add_dataset(table, ROLES, "People", SUBGROUPS)


def train(dataset_id, kind):
    """Return a run: of one seed, of three, or a sweep of one after three of another."""
    if kind != "sweep":
        grid = MethodGrid(method="road", params=QUICK)
        return start_training(dataset_id, grid, 1 if kind == "one seed" else 3)
    start_training(dataset_id, MethodGrid(method="unconstrained", params=QUICK), 3)
    grids = [
        {"method": "unconstrained", "params": QUICK},
        {"method": "road", "params": {**QUICK, "fairness_weight": [1.0, 3.0]}},
    ]
    source = {"table": ui.store().dataset_record(dataset_id).table_sha256}
    spec = {"data": {**source, "roles": ROLES, "name": "People"}, "methods": grids}
    spec["subgroups"] = SUBGROUPS
    return submit(ui.store(), SweepSpec.model_validate(spec))


def exported(dataset_id, model, seeds, part="test"):
    """Return the decisions of a model on the rows of a part, of some seeds."""
    dataset = ui.store().dataset(dataset_id)
    tables = []
    for trial in model.trials:
        if trial.seed in seeds:
            places = getattr(split(dataset, trial.seed), part)
            scores = ui.store().artifact(trial.key).scores()[places]
            rows = {
                "seed": trial.seed,
                "y": dataset.y[places],
                "group": dataset.sensitive_features[places],
                "branch": dataset.frame["branch"].iloc[places].to_numpy(),
                "score": scores.astype(float),
                "decided": (scores > 0.5).astype(int),
            }
            tables.append(pd.DataFrame(rows))
    return pd.concat(tables, ignore_index=True)


def figures_of(rows):
    """Return accuracy, gap and largest local gap of rows, as means over seeds."""
    figures = []
    for _, part in rows.groupby("seed"):
        rates = part.pivot_table("decided", "branch", "group")
        gap = demographic_parity_difference(
            part["y"], part["decided"], sensitive_features=part["group"]
        )
        worst = (rates.max(axis=1) - rates.min(axis=1)).max()
        figures.append([(part["y"] == part["decided"]).mean(), gap, worst])
    return np.mean(figures, axis=0)
