"""The commands. Each is loaded when it is used, so that --help answers at once."""

import errno
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from fairdash import __version__
from fairdash.cli._parsing import UNUSABLE, CommandApp, RefusedCommand

UsageError: Any = typer.BadParameter.__bases__[0]  # of all options that do not fit


class Command(NamedTuple):
    """Where a command stands, and what --help says of it.

    ``unusable`` is its exit status when its input cannot be used.
    """

    module: str
    name: str
    help: str
    unusable: int = UNUSABLE


COMMANDS = {
    "app": Command("_serve", "serve", "Serve the app; Ctrl-C stops it."),
    "run": Command("_run", "run", "Train what a configuration asks for."),
    "compare": Command("_compare", "compare", "Rank the methods of a benchmark."),
    "data": Command("_data", "data", "Add, list and remove tables."),
    "audit": Command("_audit", "audit", "Audit decisions or scores of a table."),
    "check": Command(
        "_check",
        "check",
        "Hold a table against the limits of a policy.",
        unusable=4,  # 2 is "undecided"
    ),
    "thresholds": Command(
        "_thresholds", "learn_thresholds", "Learn thresholds by group from scores."
    ),
    "certify": Command(
        "_certify", "certify", "Say what is certain though groups are noisy."
    ),
    "report": Command("_export", "write_report", "Write what a run found as a page."),
    "model": Command("_export", "model", "Export and apply the models of a run."),
    "monitor": Command("_monitor", "monitor", "Watch a deployed model."),
    "store": Command("_data", "store", "Look after everything that is kept."),
    "cluster": Command("_serve", "cluster", "Train on several machines."),
}


class Commands(TyperGroup):
    """Commands that say in one line what keeps a file or the store from working."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a command."""
        if cmd_name not in COMMANDS:
            return None
        place = COMMANDS[cmd_name]
        # Only this command's libraries are loaded: PyTorch alone takes seconds.
        module = import_module(f"fairdash.cli.{place.module}")
        command = getattr(module, place.name)
        if not isinstance(command, typer.Typer):
            command = _app(command)
        return get_command(command)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without loading them."""
        formatter.write_usage("fairdash", "COMMAND ...")
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        with formatter.section("Commands"):
            formatter.write_dl([(name, c.help) for name, c in COMMANDS.items()])
        with formatter.section("Options"):
            formatter.write_dl([("--version", "Print the version.")])

    def invoke(self, ctx: Any) -> Any:
        """Run a command; whatever it cannot use ends with its own exit status."""
        try:
            return self._explained(ctx)
        except (UsageError, RefusedCommand) as refusal:
            command = COMMANDS.get(ctx.invoked_subcommand or "")
            if command is not None:
                refusal.exit_code = command.unusable
            raise

    def _explained(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            # Whoever reads the output has read enough, as `head` does.
            if error.errno == errno.EPIPE:
                raise
            from fairdash.cli._options import refuse
            from fairdash.store import trouble

            raise refuse(trouble(error) or str(error)) from error


def _app(command: Callable[..., Any]) -> typer.Typer:
    app = CommandApp(pretty_exceptions_enable=False, add_completion=False)
    app.command()(command)
    return app


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairdash {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, help="Print the version."),
    ] = False,
) -> None:
    """Explore the fairness trade-offs of classifiers, with honest uncertainty."""
