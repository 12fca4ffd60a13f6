"""The paper's whole grid of ROAD on COMPAS: wall time, memory, and the plain loop.

20 values of λ by 10 of τ at the paper's settings go through the engine, as the app's
sweeps do: detached host, two worker processes, every model kept on disk. Memory is the
largest sum of the proportional set sizes (shared pages shared out) of this process and
all below it and the host, looked at every half second. The plain loop trains one model
after the other by autograd; a few are timed, two at a time as processes, right after
the sweep, and multiplied.

    python benchmarks/full_sweep.py --data FOLDER [--models 200] [--epochs 100]

Needs the public tables: ``FAIRDASH_DATA`` or ``--data`` names their folder.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from bench_training import plain_fit
from process_memory import family, memory
from road_tables import TABLES

from fairdash.datasets import encode, make_dataset, read_table, split
from fairdash.jobs import engine, submit
from fairdash.store import open_store
from fairdash.sweep import DataSource, SweepSpec

LOOK_SECONDS = 0.5
PLAIN_EPOCHS = 2  # of a timed plain model; its time is proportional to them


def specification(path, options):
    """Return the paper's grid, thinned out to about ``--models`` models."""
    setup = TABLES["compas"]
    n_taus = 10 if options.models >= 10 else 1
    params = {
        "fairness_weight": np.linspace(0, 5, max(1, options.models // n_taus)).tolist(),
        "tau": np.linspace(0.1, 1, n_taus).tolist(),
        "n_epochs": options.epochs,
    }
    roles = setup["roles"](read_table(path))
    return SweepSpec(
        data=DataSource(path=str(path), roles=roles, name="COMPAS"),
        methods=({"method": "road", "effort": "paper", "params": params},),
        subgroups=setup["subgroups"],
        scaling=setup["scaling"],
    )


def sweep(home, spec):
    """Run a sweep through the engine; return it, its seconds and its peak of memory."""
    peak = 0
    with engine.attach(home), closing(open_store(home)) as store:
        engine.ensure_engine(home)
        while not (home / "engine.json").exists():
            time.sleep(0.1)
        host = json.loads((home / "engine.json").read_text())["pid"]
        began = time.perf_counter()
        run = submit(store, spec)
        while not store.run(run).over:
            time.sleep(LOOK_SECONDS)
            peak = max(peak, memory(family(os.getpid(), host)))
        seconds = time.perf_counter() - began
        return store.snapshot(run, curves=False), seconds, peak


def begin_plain(path):
    """Make a worker ready: one thread, the rows in place, torch warm."""
    torch.set_num_threads(1)
    setup = TABLES["compas"]
    frame = read_table(path)
    data = make_dataset(frame, setup["roles"](frame), name="compas")
    train = split(data, 0).train
    X = encode(data, train, scaling=setup["scaling"]).X[train]
    global rows
    rows = (
        torch.tensor(X),
        torch.tensor(data.y[train]).float(),
        torch.tensor(data.group[train]).float(),
    )
    fit_plain([part[:2] for part in rows], 1, 2)


def fit_plain(part, n_epochs, batch_size):
    """Train one model by the plain loop."""
    plain_fit(
        *part, fairness_weight=1.0, tau=0.3, n_epochs=n_epochs, batch_size=batch_size
    )


def train_plain(batch_size):
    """Train one short model; return its features and its rows."""
    if batch_size:
        fit_plain(rows, PLAIN_EPOCHS, batch_size)
    return rows[0].shape


def plain_seconds(path, batch_size, workers):
    """Return seconds per model and epoch of the plain loop on all workers at once."""
    with ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=begin_plain,
        initargs=(path,),
    ) as pool:
        (shape, *_) = pool.map(train_plain, [0] * 8 * workers)
        list(pool.map(train_plain, [batch_size] * workers))
        began = time.perf_counter()
        list(pool.map(train_plain, [batch_size] * workers))
        seconds = time.perf_counter() - began
    return seconds / (PLAIN_EPOCHS * workers), shape


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("FAIRDASH_DATA"))
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if not options.data:
        parser.error("set FAIRDASH_DATA or --data to the folder of the public tables")
    os.environ["FAIRDASH_WORKERS"] = str(options.workers)
    os.environ["FAIRDASH_LINGER"] = "0.5"
    path = (Path(options.data) / TABLES["compas"]["file"]).resolve()
    home = Path(tempfile.mkdtemp())
    try:
        snapshot, seconds, peak = sweep(home, specification(path, options))
        disk = sum(f.stat().st_size for f in home.rglob("*") if f.is_file())
    finally:
        time.sleep(2)  # the host gives up its lock
        shutil.rmtree(home, ignore_errors=True)
    n_models = snapshot.count("finished")
    batch_size = int(snapshot.trials[0].params["batch_size"])
    seconds_each, (n_rows, n_features) = plain_seconds(
        path, batch_size, options.workers
    )
    plain = seconds_each * n_models * options.epochs
    print(
        f"COMPAS, {n_rows:,} training rows, {n_features} features; ROAD at the paper's "
        f"settings, batch {batch_size}, {options.epochs} epochs, "
        f"{options.workers} workers, load {os.getloadavg()[0]:.1f}"
    )
    print(f"run {snapshot.run.status}: {n_models} of {len(snapshot.trials)} models")
    print(f"sweep, whole run with store   {seconds:9.0f} s")
    print(f"plain loop, extrapolated      {plain:9.0f} s   {plain / seconds:.2f} x")
    print(f"peak memory, all processes    {peak / 2**30:9.2f} GiB")
    print(f"on disk                       {disk / 2**20:9.0f} MiB")


if __name__ == "__main__":
    main()
