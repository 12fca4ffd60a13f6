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
from fairdash._wording import plural
from fairdash.audits import tables
from fairdash.audits.tables import stored_name
from fairdash.cli._options import (
    Home,
    JoinBy,
    JoinFile,
    Out,
    check_out,
    echo,
    explain,
    opened,
    say,
)
from fairdash.cli._parsing import UNUSABLE, CommandApp
from fairdash.store import Store

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
        str,
        typer.Option(
            help='File, or pattern of files: "scores/*.csv". Or an address, as of '
            "`fairdash audit`, with --date: it is counted where it lies."
        ),
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
    join: JoinFile = None,
    by: JoinBy = None,
    home: Home = None,
) -> None:
    """Add a monitor of a source of decisions or scores; no run is needed.

    Its first batch is audited, so that it is sure to fit. With --join each batch gets
    columns of a second file, such as people's groups; it is read at each look.

    The exit status is 2 when there is a monitor of this name, or something does not
    fit.
    """
    with opened(home) as store:
        if name in map(stored_name, store.monitors()):
            raise ValueError(
                f"There is a monitor {name!r}; remove it, or choose another name."
            )
        if hook is not None:
            check_one_of("--hook", hook, allowed_hooks())
        limited = tables.Policy.parse(policy.read_bytes(), policy.name)
        limits = limited.model_dump(mode="json")
        fields = (name, source, limits, every, date, outcomes, key, hook)
        further = None if join is None else str(join)
        watch = tables.Watch(tables.Monitor(*fields, further, tuple(by or ())), ())
        first = watch.first_batch()
        store.keep_monitor(name, watch.to_json())
    echo(
        f"{name} was added: {first.label} has {plural(first.rows, 'row')}. "
        "`fairdash monitor run` looks at its batches."
    )


@monitor.command()
def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Default: all.")
    ] = None,
    home: Home = None,
) -> None:
    """Look at new batches, and at those whose outcomes have come; such as by cron.

    Each monitor is looked at, whatever becomes of the others. The exit status is that
    of the worst: 1 when an alarm stands, 2 when a source cannot be read. A batch that
    fails by itself is named, but is no alarm.
    """
    with opened(home) as store:
        stored = sorted(map(stored_name, store.monitors()))
        statuses = [_look(store, name) for name in names or stored]
    raise typer.Exit(max(statuses, default=0))


def _look(store: Store, name: str) -> int:
    """Run one monitor and print what it says; return its exit status."""
    try:
        before = tables.Watch.of_json(store.monitor(name))
        watch = before.run()
        store.keep_monitor(name, watch.to_json())
    except Exception as error:  # whatever it is, the others are looked at
        _explain(name, error)
        return UNUSABLE
    first, *failing = watch.lines()
    echo(f"{name}: {first}")
    for line in failing:
        echo(f"  {line}")
    status = ALARM if watch.broken else 0
    if set(watch.broken) - set(before.broken):
        status = max(status, _call(watch))
    return status


def _explain(name: str, error: Exception) -> None:
    about = f"{name} was not looked at"
    if isinstance(error, ValueError):
        explain(error, about)
    else:
        explain(f"{type(error).__name__}: {error}", about)


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
        status = 0
        for text in store.monitors():
            name = stored_name(text)
            try:
                verdict = tables.Watch.of_json(text).answer().verdict
            except ValueError as error:
                _explain(name, error)
                status = UNUSABLE
            else:
                echo(f"{name}: {verdict}")
    raise typer.Exit(status)


@monitor.command()
def remove(name: Name, home: Home = None) -> None:
    """Delete a monitor with what it has seen."""
    with opened(home) as store:
        store.delete_monitor(name)
    echo(f"{name} was deleted")


def allowed_hooks() -> list[str]:
    """Return the commands and URLs that the operator allows, one a line."""
    return [line for line in os.environ.get(ALLOWED, "").splitlines() if line.strip()]


def _call(watch: tables.Watch) -> int:
    """Call the hook of a monitor; return `UNUSABLE` if the operator forbids it."""
    hook = watch.monitor.hook
    if hook is None:
        return 0
    try:
        check_one_of("--hook", hook, allowed_hooks())
    except ValueError as error:
        explain(error, watch.monitor.name)
        return UNUSABLE
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
        explain(f"The hook failed ({type(error).__name__}).", watch.monitor.name)
    return 0
