"""SenSeI, SenSR and CLP through a sweep: names of columns reach them as text."""

import numpy as np
from toys import people, specification

from fairdash.sweep import run_sweep

QUICK = {"n_epochs": 2, "batch_size": 128}


def test_they_train_in_a_sweep_with_columns_named_in_text(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    free = {**QUICK, "metric": "columns", "columns": "branch, age"}
    methods = [
        {"method": "sensei", "params": {**free, "fairness_weight": [0.0, 5.0]}},
        {"method": "sensr", "params": {**QUICK, "fair_radius": [0.0, 0.1]}},
        {"method": "clp", "params": {**QUICK, "metric": "both", "columns": "branch"}},
    ]
    rows = run_sweep(specification(path, methods=methods))
    assert rows["method"].tolist() == [*("sensei", "sensei", "sensr", "sensr", "clp")]
    assert np.isfinite(rows["test_balanced_accuracy"]).all()
    assert rows["columns"].iloc[0] == "branch, age"
