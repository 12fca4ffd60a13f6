"""Finished runs that come with the samples: small files, opened without training."""

import io
import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
from safetensors import numpy as safetensors

from fairdash.datasets import SAMPLES, encode, split
from fairdash.jobs._submit import queue
from fairdash.jobs._work import begin, end, keep, measure, record
from fairdash.methods import CATALOG, scorer_of
from fairdash.store import Store
from fairdash.sweep import (
    RESULTS_VERSION,
    SweepSpec,
    TrialResult,
    expand,
    source_file,
)

_FACTS, _HISTORY = "run.json", "history.parquet"
_EPOCHS = 40  # of a curve that are kept
_RATIO = "ratio of training rows"


def finished_file(sample: str) -> Path:
    """Return the file of the finished run that comes with a sample."""
    return SAMPLES[sample].path.with_name(f"{sample}_run.zip")


def pack_run(store: Store, run_id: str, file: Path) -> None:
    """Write a finished run as one file: what was asked, networks, weights, curves.

    Networks are kept to the bit, so that `unpack_run` scores every row as the run did;
    weights r to 16 bits, after the last epoch alone; curves at 40 epochs.

    Parameters
    ----------
    run_id : str
        Of networks that need no group to predict, on a sample.
    """
    snapshot = store.snapshot(run_id)
    facts = {
        "version": RESULTS_VERSION,
        "name": snapshot.run.name,
        "spec": snapshot.run.spec,
        "keys": [trial.key for trial in snapshot.trials],
    }
    curves = []
    with ZipFile(file, "w", ZIP_DEFLATED) as bundle:
        bundle.writestr(_FACTS, json.dumps(facts))
        for trial in snapshot.trials:
            artifact = store.artifact(trial.key)
            arrays, ratio = artifact.network(), artifact.ratio()
            if ratio is not None:
                arrays[_RATIO] = ratio.astype(np.float16)
            bundle.writestr(trial.key, safetensors.save(arrays))
            whole = artifact.history().astype(np.float32)
            step = max(1, len(whole) // _EPOCHS)
            curves.append(whole.iloc[::-step][::-1].assign(key=trial.key))
        buffer = io.BytesIO()
        pd.concat(curves).to_parquet(buffer, index=False, compression="zstd")
        bundle.writestr(_HISTORY, buffer.getvalue())


def unpack_run(store: Store, file: Path) -> str:
    """Put the run of a file of `pack_run` in the store and return its id.

    One that is there already is not put there again. Metrics are computed anew. Models
    have no training time: they were trained elsewhere. Raises ValueError when the file
    is of another version, in which the same settings trained other models, or its
    sample has changed.
    """
    with ZipFile(file) as bundle:
        facts = json.loads(bundle.read(_FACTS))
        spec, name = SweepSpec.of_run(facts["spec"]), facts["name"]
        path = source_file(spec.data)
        dataset_id = store.add_dataset(
            store.add_table(path, path.name),
            spec.data.roles,
            spec.data.name,
            spec.subgroups,
        )
        for run in store.runs(dataset_id):
            if (run.name, run.spec, run.status) == (name, facts["spec"], "finished"):
                return run.id
        dataset = store.dataset(dataset_id)
        trials = expand(spec, dataset.key)
        if facts["version"] != RESULTS_VERSION or facts["keys"] != [
            trial.key for trial in trials
        ]:
            raise ValueError(
                f"The finished run in {file.name} is of results version "
                f"{facts['version']} on other data or settings than here (version "
                f"{RESULTS_VERSION}); train it, or make the file anew with "
                "`python sample_data/make_runs.py`."
            )
        curves = pd.read_parquet(io.BytesIO(bundle.read(_HISTORY)))
        rows = {
            seed: encode(dataset, split(dataset, seed).train, scaling=spec.scaling).X
            for seed in spec.seeds
        }
        for trial in trials:
            arrays = dict(safetensors.load(bundle.read(trial.key)))
            ratio = arrays.pop(_RATIO, None)
            scores = scorer_of(arrays).positive(rows[trial.seed], dataset.group)
            history = curves[curves["key"] == trial.key].drop(columns="key")
            method = CATALOG[trial.method]
            assert not method.needs_groups, "a bundle is of models without groups"
            made = TrialResult(
                trial,
                seconds=0.0,
                scores=scores.astype(np.float32),
                history=history.dropna(axis=1, how="all").reset_index(drop=True),
                network=arrays,
                ratio=ratio,
                ratio_history=None,
            )
            keep(store, made, None)
    run_id = queue(store, spec, name=name)
    for stack in begin(store, store.run(run_id), "cpu"):
        keys = [trial.key for trial in stack.trials]
        record(store, run_id, measure(store, dataset, stack.seed, keys, spec))
    end(store, run_id)
    return run_id
