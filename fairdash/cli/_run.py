"""Train what a configuration says, and show how it goes."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fairdash import jobs
from fairdash._escaping import as_printed
from fairdash._wording import duration
from fairdash.cli._log import Tracker, log_run, tracker
from fairdash.cli._options import (
    Home,
    Out,
    check_out,
    echo,
    echo_table,
    opened,
    write,
)
from fairdash.jobs import engine, keep_table, queue, run_open, wake
from fairdash.store import Snapshot, Store, StoreError, Unreachable
from fairdash.sweep import SweepSpec, benchmark_specs, long_table

POLL_SECONDS = 0.2
AWAY_SECONDS = 300.0  # for which a database that restarts is waited for
LOST = (
    "The database of this store was not reached for {}. See that its server runs. Run "
    "{} is kept; an app or the next command on this home folder goes on with it."
)
SHOWN = (
    "method",
    "seed",
    "fairness_weight",
    "tau",
    "test_accuracy",
    "test_demographic_parity_difference",
    "test_worst_1_di",
)


def run(
    config: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, readable=True)
    ] = None,
    resume: Annotated[
        str | None, typer.Option(help="Id of a run to go on with, instead of a file.")
    ] = None,
    inline: Annotated[
        bool, typer.Option("--inline", help="Train in this process.")
    ] = False,
    out: Out = None,
    name: Annotated[str | None, typer.Option(help="Title of the run.")] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            readable=True,
            help="File of the data, for a configuration that names it by its digest.",
        ),
    ] = None,
    log: Annotated[
        Tracker | None,
        typer.Option(help="Write parameters, measures, report and model there too."),
    ] = None,
    home: Home = None,
) -> None:
    """Train a YAML configuration and print the results: a sweep, or a single model.

    A configuration with `tables` in place of `data` is a benchmark: each table is a
    run, and `--out` is one long table with the digests of tables and splits.

    The run appears in the app as well; Ctrl-C cancels it. Finished models are kept:
    `--resume` trains nothing twice, on the rows that the run was on. The exit status
    is 0 when all trials have finished, 1 when one failed or the run was cancelled, 2
    when the configuration cannot be used.
    """
    with opened(home, config) as store:
        if table is not None and resume is not None:
            raise ValueError("Give --table with a configuration.")
        check_out(out)
        client = None if log is None else tracker(log)
        is_benchmark = False
        if config is not None and resume is None:
            specs = benchmark_specs(config)
            is_benchmark = bool(specs)
            if not is_benchmark:
                specs = [keep_table(store, SweepSpec.from_yaml(config), table)]
            queued = [partial(queue, store, spec, name=name) for spec in specs]
        elif resume is not None and config is None:
            queued = [partial(jobs.resume, store, resume, name=name)]
        else:
            raise ValueError("Give either a configuration or --resume ID.")
        parts = []
        finished = True
        for queue_run in queued:
            with engine.attach(store.root):
                run_id = queue_run()
                snapshot = follow(store, run_id, inline=inline)
            rows = snapshot.table()
            _print_results(snapshot, rows)
            finished &= snapshot.run.status == "finished"
            if client is not None:
                echo(f"logged as {log_run(store, run_id, client)}", err=True)
            if is_benchmark:
                dataset = store.dataset(snapshot.run.dataset_id)
                rows = long_table(dataset, snapshot.run.spec["data"]["name"], rows)
            parts.append(rows)
    write(pd.concat(parts, ignore_index=True), out)
    raise typer.Exit(0 if finished else 1)


def follow(store: Store, run_id: str, *, inline: bool) -> Snapshot:
    """Show progress until the run is over; Ctrl-C cancels it, a second one leaves.

    Where the run waits, it says for what; without a terminal each once. Raises
    StoreError when the database was not reached for `AWAY_SECONDS`.
    """
    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeRemainingColumn(),
    ]
    reached = time.monotonic()
    printed = {""}  # reasons to wait; none is no reason
    with _ctrl_c() as pressed, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("queued", total=1.0)

        def say(wait: str, *words: str) -> None:
            # A terminal has it in the line of the bar, which a log file does not show.
            if wait not in printed and not bar.console.is_terminal:
                printed.add(wait)
                bar.console.print(as_printed(wait), markup=False)
            bar.update(task, description=as_printed(", ".join(words)))

        def show() -> Snapshot:
            nonlocal reached
            if pressed.is_set():
                store.ask_cancel(run_id)
            snapshot = store.snapshot(run_id, curves=False)
            reached = time.monotonic()
            wait = ""
            # Inline, this process trains by itself and waits for no engine.
            if not inline and not snapshot.run.over:
                wait = engine.why_waits(store, snapshot)
            done = f"{snapshot.count('finished')} of {len(snapshot.trials)} trials"
            say(wait, wait or snapshot.run.status, done)
            bar.update(task, completed=snapshot.share)
            return snapshot

        while True:
            try:
                snapshot = show()
                if snapshot.run.over:
                    return snapshot
                if inline:
                    run_open(store, watch=show)
                else:
                    wake(store)
            except Unreachable as error:
                away = time.monotonic() - reached
                if away > AWAY_SECONDS:
                    raise StoreError(LOST.format(duration(away), run_id)) from error
                say(engine.FOR_DATABASE, f"{engine.FOR_DATABASE} for {duration(away)}")
            time.sleep(POLL_SECONDS)


@contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    # An exception in the midst of training could be lost in a callback of a library.
    pressed = threading.Event()

    def press(*_: object) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


def _print_results(snapshot: Snapshot, table: pd.DataFrame) -> None:
    if not table.empty:
        short = table[[name for name in SHOWN if name in table]]
        short = short.rename(columns=lambda name: str(name).removeprefix("test_"))
        echo_table(short, missing="")
    echo(f"run {snapshot.run.id}: {snapshot.run.status}")
    if snapshot.run.error:
        echo(snapshot.run.error, err=True)
    for trial in snapshot.trials:
        if trial.status == "failed":
            what = f"{trial.method}, seed {trial.seed}, {trial.params}"
            echo(f"failed: {what}: {trial.reason}", err=True)
