"""A sweep of 1,000 models on workers elsewhere, of which one is killed and one joins.

Starts a Postgres, a Dask scheduler and services `fairdash cluster worker` on this
machine, each with a home folder of its own, as on a machine of its own; models go into
a folder of objects. First a part of the sweep is trained by one process, for the speed
of one. Then all of it by two services of two processes each; after a third of the
models one service is killed with its processes, and another joins.

Printed: seconds and models a second of both, the efficiency of scaling (models a second
of a process, beside those of the one alone; processes that share a core share its
speed, so divide by the cores where there are fewer), and whether each model was trained
once. With --expect-once the exit status is 1 unless it was.

    python benchmarks/server/bench_cluster.py [--models 1000] [--alone 100]
        [--rows 1000] [--expect-once]
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
import psutil
from bench_sliders import ROLES, applicants
from bench_users import postgres, wait_until_no_engine

from fairdash.jobs import engine, submit
from fairdash.store import open_store
from fairdash.sweep import SweepSpec

COMMAND = [sys.executable, "-c", "from fairdash.cli import app; app()"]
SCHEDULER = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
PROCESSES = 2  # of a service
SERVICES = 2
LOOK_SECONDS = 0.2
N_TAU = 10


def start(command, **variables):
    """Start a service of its own session."""
    return subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@contextmanager
def scheduler():
    """Start a scheduler; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    listen = ["--host", "127.0.0.1", "--port", str(port), "--protocol", "tcp"]
    process = start([*SCHEDULER, *listen, "--dashboard-address", "127.0.0.1:0"])
    try:
        yield f"tcp://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


class Services:
    """Services of workers, which end with the benchmark."""

    def __init__(self, folder, address):
        self._folder = folder
        self._address = address
        self._running = []

    def join(self, n_processes=PROCESSES):
        """Start a service with a home folder of its own."""
        home = self._folder / f"worker{len(self._running)}"
        workers = ["--workers", str(n_processes)]
        command = [*COMMAND, "cluster", "worker", self._address, *workers]
        self._running.append(start(command, FAIRDASH_HOME=str(home)))

    def kill(self, number):
        """Kill a service with all its processes, as a machine that is lost."""
        service = psutil.Process(self._running[number].pid)
        for process in [service, *service.children(recursive=True)]:
            process.send_signal(signal.SIGKILL)
        self._running[number].wait()

    def end(self):
        """End all that still run."""
        for service in self._running:
            if service.poll() is None:
                service.terminate()
            service.wait()


def sweep(table, n_models, seed):
    """Return a sweep of ROAD over so many settings."""
    data = {"path": str(table), "roles": ROLES, "name": "Applicants"}
    params = {
        "n_epochs": 1,
        "batch_size": 256,
        "fairness_weight": np.linspace(0.1, 5, n_models // N_TAU).round(4).tolist(),
        "tau": np.linspace(0.1, 1, N_TAU).round(2).tolist(),
    }
    methods = [{"method": "road", "params": params}]
    spec = {"data": data, "methods": methods, "seeds": [seed]}
    return SweepSpec.model_validate(spec)


def train(store, spec, watch=lambda n_finished: None):
    """Train a sweep; return the seconds from its first model to its end."""
    run = submit(store, spec)
    began = None
    while True:
        time.sleep(LOOK_SECONDS)
        engine.wake_engine(store)
        snapshot = store.snapshot(run, curves=False)
        n_finished = snapshot.count("finished")
        if began is None and (n_finished or snapshot.count("running")):
            began = time.perf_counter()
        watch(n_finished)
        if snapshot.run.over:
            return run, time.perf_counter() - began


class Loss:
    """Kills a service and lets another join, once a third of the models is there."""

    def __init__(self, services, n_models, number):
        self._services = services
        self._after = n_models // 3
        self._number = number
        self.is_over = False

    def __call__(self, n_finished):
        """Look at how many are finished."""
        if not self.is_over and n_finished >= self._after:
            self.is_over = True
            self._services.kill(self._number)
            self._services.join()


def print_result(name, n_models, seconds, n_processes, alone=None):
    """Print the speed of a training, and how well it scales."""
    speed = n_models / seconds
    words = f"{name}: {n_models} models in {seconds:.1f} s, {speed:.1f} a second"
    if alone is not None:
        at_once = min(n_processes, os.cpu_count())
        words += f", {speed / alone / at_once:.0%} of {at_once} times one process"
    print(words)
    return speed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--expect-once", action="store_true")
    options = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", FAIRDASH_LINGER="2")
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        os.environ["FAIRDASH_DATABASE"] = ends.enter_context(postgres())
        os.environ["FAIRDASH_FILES"] = f"file://{folder}/files"
        os.environ["FAIRDASH_SCHEDULER"] = address = ends.enter_context(scheduler())
        home = folder / "home"
        os.environ["FAIRDASH_HOME"] = str(home)
        ends.callback(wait_until_no_engine, [home])
        table = folder / "applicants.csv"
        applicants(options.rows)[0].to_csv(table, index=False)
        services = Services(folder, address)
        ends.callback(services.end)
        store = ends.enter_context(closing(open_store(home)))
        with engine.attach(home):
            services.join(1)
            _, seconds = train(store, sweep(table, options.alone, 0))
            alone = print_result("one process", options.alone, seconds, 1)
            services.kill(0)
            for _ in range(SERVICES):
                services.join()
            loss = Loss(services, options.models, 1)
            spec = sweep(table, options.models, 1)
            run, seconds = train(store, spec, loss)
        name = "one killed, one joined"
        n_processes = SERVICES * PROCESSES
        print_result(name, options.models, seconds, n_processes, alone)
        n_finished = store.snapshot(run, curves=False).count("finished")
        objects = list((folder / "files" / "artifacts").glob("*/*"))
        n_kept = len(objects) - options.alone
        print(f"finished: {n_finished}, kept: {n_kept}, service lost: {loss.is_over}")
        is_whole = n_finished == n_kept == options.models
    if options.expect_once and not (is_whole and loss.is_over):
        sys.exit(1)


if __name__ == "__main__":
    main()
