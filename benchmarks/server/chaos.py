"""Kill app, engine and workers at random while a sweep is trained; count what is lost.

A sweep of small models is queued, and `fairdash app` is started on it without any page.
Then app, engine and workers are killed in turn, as often each and at random moments, an
engine and a worker once they are there; the app is started anew, everything else has to
come back by itself. At the end every model must be
there once, written once, and as it was written.

With --deletes another process adds and deletes runs meanwhile and is killed as often:
no run that is listed may lack its model.

    python benchmarks/server/chaos.py [--kills 30] [--models 60] [--deletes] [--seed 0]
"""

import argparse
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil

from fairdash.datasets import load_sample
from fairdash.jobs import queue
from fairdash.jobs.engine import engine_lives
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

APP = "from fairdash.cli import app; app()"
DELETING = """
import sys
from dataclasses import dataclass, field
import numpy as np, pandas as pd
from fairdash.store import open_store
@dataclass(frozen=True)
class Question:
    key: str
    method: str = "road"
    params: dict = field(default_factory=dict)
    seed: int = 0
store = open_store(sys.argv[1])
data = store.datasets()[0].id
for n in range(1_000_000):
    key = f"{sys.argv[2]}-{n}"
    run = store.add_run({}, [Question(key)], name="short", dataset_id=data)
    store.artifact(key).write(
        row={}, history=pd.DataFrame({"epoch": [1]}), network={"w": np.ones(9)}
    )
    store.put_trial(run, key, row={}, seconds=0)
    store.set_status(run, "finished")
    if n % 2:
        store.delete_run(run)
"""


def sweep(n_models):
    """Return a sweep of ``n_models`` small models on a sample table."""
    quick = {"n_epochs": 30, "batch_size": 256}
    tau = np.geomspace(0.05, 2, (n_models + 2) // 3).round(4).tolist()
    road = {**quick, "fairness_weight": [0.5, 1.0, 2.0], "tau": tau}
    data = {"sample": "loans", "roles": load_sample("loans").roles, "name": "Loans"}
    methods = [{"method": "road", "params": road}]
    return SweepSpec.model_validate({"data": data, "methods": methods})


def start_app(home):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    return subprocess.Popen(
        [sys.executable, "-c", APP, "app", "--port", port, "--home", str(home)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def processes(home, app):
    """Return the pids of the app, of the engine and of its workers."""
    result = {"app": [app.pid], "engine": [], "worker": []}
    for process in psutil.process_iter(["cmdline"]):
        if {"fairdash.jobs.host", str(home)} <= set(process.info["cmdline"] or []):
            result["engine"].append(process.pid)
            family = process.children(recursive=True)
            result["worker"] += [
                first.pid for first in family if first.ppid() != process.pid
            ]
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--models", type=int, default=60)
    parser.add_argument("--deletes", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw = random.Random(options.seed)
    kills = Counter()
    home = Path(tempfile.mkdtemp()) / "home"
    os.environ.update(FAIRDASH_WORKERS="2", FAIRDASH_LINGER="2", OMP_NUM_THREADS="1")
    store = open_store(home)
    run_id = queue(store, sweep(options.models))
    keys = [trial.key for trial in store.snapshot(run_id).trials]
    app = start_app(home)
    began = time.monotonic()
    written = {}
    rival = None
    kinds = []
    while sum(kills.values()) < options.kills or not store.run(run_id).over:
        time.sleep(draw.uniform(0.3, 3))
        for key in keys:
            moment = store.artifact(key).written()
            if moment is not None:
                assert written.setdefault(key, moment) == moment, f"{key} twice"
        if sum(kills.values()) >= options.kills:
            if rival is not None:
                rival.kill()
            continue
        alive = processes(home, app)
        if not kinds:
            kinds = draw.sample(list(alive), len(alive))
        if not alive[kinds[-1]]:
            continue  # it has to come back first
        kind = kinds.pop()
        try:
            os.kill(draw.choice(alive[kind]), signal.SIGKILL)
        except ProcessLookupError:
            continue
        kills[kind] += 1
        if kind == "app":
            app.wait()
            app = start_app(home)
        if options.deletes:
            if rival is not None:
                rival.kill()
                rival.wait()
                kills["deleting"] += 1
            name = str(sum(kills.values()))
            rival = subprocess.Popen([sys.executable, "-c", DELETING, str(home), name])
    if rival is not None:
        rival.kill()
        rival.wait()
    app.send_signal(signal.SIGINT)
    app.wait()
    while engine_lives(home):
        time.sleep(0.2)
    for run in store.open_runs():  # of the process that was killed while it added one
        store.ask_cancel(run.id)
    store.tidy()
    statuses = Counter(trial.status for trial in store.snapshot(run_id).trials)
    faults = []
    for trial in store.snapshot(run_id).trials:
        try:
            store.artifact(trial.key).scores()
        except (OSError, ValueError) as error:
            faults.append(str(error))
    seconds = time.monotonic() - began
    print(f"{dict(kills)} killed in {seconds:.0f} s; models {dict(statuses)}")
    print(f"written twice 0, missing or damaged {len(faults)}", *faults[:5], sep="\n")
    store.close()
    lost = len(keys) - statuses["finished"]
    sys.exit(int(bool(faults or lost)))


if __name__ == "__main__":
    main()
