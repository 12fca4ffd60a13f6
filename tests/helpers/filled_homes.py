"""Homes with a table, a data set and models, and all that they answer with."""

import numpy as np
import pandas as pd
from toys import ROLES, Question, people


def train(store, dataset_id, *keys):
    """Keep models in the order of an engine: files first, then the row of each."""
    trials = [Question(key) for key in keys]
    run = store.add_run({}, trials, name=keys[0], dataset_id=dataset_id)
    for key in keys:
        store.artifact(key).write(
            row={"key": key},
            scores=np.linspace(0, 1, 100, dtype=np.float32),
            history=pd.DataFrame({"epoch": [1, 2], "loss": [0.5, 0.4]}),
            network={"weight": np.full(3, len(key), np.float32)},
        )
        store.put_trial(run, key, row={"test_accuracy": len(key) / 10}, seconds=1.0)
    store.set_status(run, "finished")
    return run


def fill(store, key="first"):
    """Keep a table, a data set with later scores, and a run with two models."""
    table = store.add_frame(people(100), "people.csv")
    data = store.add_dataset(table, ROLES, "People")
    store.log_scores(data, np.linspace(0, 1, 100), name="later")
    run = train(store, data, key, f"{key} again")
    store.keep_summary(run, "abcdef", b"pictures")
    store.overview(table)
    return run


def content(store):
    """Return everything that a home answers with, files read through their digests."""
    models = {}
    runs = store.runs()
    for run in runs:
        for trial in store.snapshot(run.id).trials:
            artifact = store.artifact(trial.key)
            models[run.id, trial.key] = (
                trial,
                artifact.row() if trial.status == "finished" else None,
                artifact.scores().tolist() if trial.status == "finished" else None,
            )
    return {
        "tables": [(t, store.table(t.sha256).to_dict("list")) for t in store.tables()],
        "sets": [(d, store.dataset(d.id).y.tolist()) for d in store.datasets()],
        "scores": [store.own_scores(data.id) for data in store.datasets()],
        "models": models,
        "runs": runs,
        "summaries": [store.summaries(run.id) for run in runs],
        "overviews": [store.has_overview(table.sha256) for table in store.tables()],
        "monitors": store.monitors(),
    }
