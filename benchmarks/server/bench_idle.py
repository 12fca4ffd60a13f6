"""What an engine costs while nobody asks anything of it, and how long its start takes.

An app is attached to an empty home folder, so that the engine stays. Counted is the
processor time of the engine, its fork server, nannies and workers, which other work on
the machine changes little. With --busy, so many processes of others compute meanwhile,
and a run is queued at the start: how long until its first epoch is over?

    python benchmarks/server/bench_idle.py [--seconds 60] [--starts 3]
    python benchmarks/server/bench_idle.py --seconds 0 --busy 2
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from fairdash.jobs import engine, queue
from fairdash.jobs.engine import engine_lives
from fairdash.store import open_store
from fairdash.sweep import DataSource, MethodGrid, SweepSpec

RUN = SweepSpec(
    data=DataSource(sample="loans"), methods=(MethodGrid(method="unconstrained"),)
)


def family(home):
    """Return the processes of the engine."""
    host = psutil.Process(json.loads((home / "engine.json").read_text())["pid"])
    return [host, *host.children(recursive=True)]


def used(processes):
    """Return the seconds of processor time by process."""
    times = ((process.pid, process.cpu_times()) for process in processes)
    return {pid: time.user + time.system for pid, time in times}


@contextmanager
def busy(n):
    """Have ``n`` processes compute, each in a session of its own as another user's."""
    compute = [sys.executable, "-c", "while True: pass"]
    workers = [subprocess.Popen(compute, start_new_session=True) for _ in range(n)]
    try:
        yield
    finally:
        for process in workers:
            process.kill()


def first_epoch(home):
    """Wait until a model in the store has finished an epoch or all."""
    with closing(open_store(home)) as store:
        (run,) = store.open_runs()
        while not store.snapshot(run.id, curves=False).share:
            time.sleep(0.05)
        store.ask_cancel(run.id)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--starts", type=int, default=1)
    parser.add_argument("--busy", type=int, default=0)
    options = parser.parse_args()
    os.environ.update(FAIRDASH_WORKERS="2", FAIRDASH_LINGER="0", OMP_NUM_THREADS="1")
    for _ in range(options.starts):
        home = Path(tempfile.mkdtemp()) / "home"
        with closing(open_store(home)) as store:
            if options.busy:
                queue(store, RUN)
        with engine.attach(home), busy(options.busy):
            began = time.monotonic()
            engine.ensure_engine(home)
            while not (home / "engine.json").exists():
                time.sleep(0.01)
            wall = time.monotonic() - began
            processes = family(home)
            start = sum(used(processes).values())
            print(f"ready in {wall:.1f} s, {start:.2f} s of processor time", flush=True)
            if options.busy:
                first_epoch(home)
                print(f"first epoch after {time.monotonic() - began:.1f} s", flush=True)
            if options.seconds:
                time.sleep(10)
                before = used(processes)
                time.sleep(options.seconds)
                after = used(processes)
                shares = {pid: (after[pid] - before[pid]) for pid in after}
                for process in processes:
                    name = " ".join(process.cmdline())[-60:]
                    share = shares[process.pid] / options.seconds
                    print(f"{share:8.2%} of a core  {name}")
                total = sum(shares.values()) / options.seconds
                print(f"{total:8.2%} of a core  in all")
        while engine_lives(home):
            time.sleep(0.1)


if __name__ == "__main__":
    main()
