"""Watch a deployed model: add, run, list, show and remove monitors."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Annotated
from urllib.request import Request, urlopen

import typer

from fairdash._validation import check_one_of
from fairdash.audits import tables
from fairdash.cli._options import Home, Out, check_out, echo, opened, refusing, say
from fairdash.cli._parsing import CommandApp

ALLOWED = "FAIRDASH_MONITOR_HOOKS"
HOOK_SECONDS = 30
ALARM = 1  # exit status

monitor = CommandApp(
    no_args_is_help=True,
    add_completion=False,
    help="Watch a deployed model, batch by batch.",
)

Name = Annotated[str, typer.Argument(help="Of a monitor.")]


@monitor.command()
def add(
    name: Name,
    source: Annotated[
        str, typer.Option(help='File, or pattern of files: "scores/*.csv".')
    ],
    policy: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="YAML file of the limits.")
    ],
    every: Annotated[str, typer.Option(help="A batch: day, week or month.")] = "week",
    date: Annotated[
        str | None, typer.Option(help="Column of dates. Without, each file is a batch.")
    ] = None,
    outcomes: Annotated[
        str | None, typer.Option(help="File of outcomes that come later.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="Column that joins outcomes to rows.")
    ] = None,
    hook: Annotated[
        str | None,
        typer.Option(help=f"Command or URL for an alarm; ${ALLOWED} must list it."),
    ] = None,
    home: Home = None,
) -> None:
    """Add a monitor of a source of decisions or scores; no run is needed.

    The exit status is 2 when there is a monitor of this name, or something does not
    fit.
    """
    with opened(home) as store:
        if name in {
            tables.Watch.of_json(text).monitor.name for text in store.monitors()
        }:
            raise ValueError(
                f"There is a monitor {name!r}; remove it, or choose another name."
            )
        if hook is not None:
            check_one_of("--hook", hook, allowed_hooks())
        limited = tables.Policy.parse(policy.read_bytes(), policy.name)
        limits = limited.model_dump(mode="json")
        fields = (name, source, limits, every, date, outcomes, key, hook)
        store.keep_monitor(name, tables.Watch(tables.Monitor(*fields), ()).to_json())
    echo(f"{name} was added; `fairdash monitor run` looks at its batches")


@monitor.command()
def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Default: all.")
    ] = None,
    home: Home = None,
) -> None:
    """Look at new batches, and at those whose outcomes have come; such as by cron.

    The exit status is 1 when an alarm stands, 2 when a source cannot be read.
    """
    alarm = False
    with opened(home) as store:
        every = [tables.Watch.of_json(text).monitor.name for text in store.monitors()]
        for name in names or sorted(every):
            before = tables.Watch.of_json(store.monitor(name))
            watch = before.run()
            store.keep_monitor(name, watch.to_json())
            echo(f"{name}: {watch.answer().verdict}")
            alarm |= bool(watch.broken)
            if set(watch.broken) - set(before.broken):
                _call(watch)
    raise typer.Exit(ALARM if alarm else 0)


@monitor.command()
def show(
    name: Annotated[
        str | None, typer.Argument(help="Name of a monitor; default: all.")
    ] = None,
    out: Out = None,
    home: Home = None,
) -> None:
    """List all monitors, or print every batch of one: interval, evidence and alarm."""
    with opened(home) as store:
        check_out(out)
        if name is not None:
            say(tables.Watch.of_json(store.monitor(name)).answer(), out)
            return
        for watch in map(tables.Watch.of_json, store.monitors()):
            echo(f"{watch.monitor.name}: {watch.answer().verdict}")


@monitor.command()
def remove(name: Name, home: Home = None) -> None:
    """Delete a monitor with what it has seen."""
    with opened(home) as store:
        store.delete_monitor(name)
    echo(f"{name} was deleted")


def allowed_hooks() -> list[str]:
    """Return the commands and URLs that the operator allows, one a line."""
    return [line for line in os.environ.get(ALLOWED, "").splitlines() if line.strip()]


def _call(watch: tables.Watch) -> None:
    hook = watch.monitor.hook
    if hook is None:
        return
    with refusing():
        check_one_of("--hook", hook, allowed_hooks())
    broken = [{"limit": limit, "batch": batch} for limit, batch in watch.broken]
    text = json.dumps({"monitor": watch.monitor.name, "broken": broken}).encode()
    try:
        if hook.startswith(("http://", "https://")):
            kind = {"Content-Type": "application/json"}
            urlopen(Request(hook, text, kind), timeout=HOOK_SECONDS).close()
        else:
            command = shlex.split(hook)
            subprocess.run(command, input=text, timeout=HOOK_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        echo(f"The hook failed ({type(error).__name__}).", err=True)
