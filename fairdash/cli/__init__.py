"""The command line: serve the app, run a configuration, check a table."""

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairdash import __version__
from fairdash.cli._audit import (
    audit_flips,
    audit_scores,
    cross_validate,
    drift_of_run,
    subgroups,
)
from fairdash.cli._certify import certify, estimate
from fairdash.cli._data import data, scores, store
from fairdash.cli._export import apply_to_file, export, predict, write_report
from fairdash.cli._options import refuse
from fairdash.cli._run import run
from fairdash.cli._serve import cluster, serve, worker
from fairdash.cli._thresholds import learn_thresholds
from fairdash.store import trouble


class Commands(TyperGroup):
    """Commands that say in one line what keeps a file or the store from working."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno == errno.EPIPE:  # whoever reads has read enough
                raise
            raise refuse(trouble(error) or str(error)) from error


app = typer.Typer(cls=Commands, no_args_is_help=True, pretty_exceptions_enable=False)
app.command("app")(serve)
app.command()(run)
app.command("sweep")(run)
app.command()(worker)
app.command("thresholds")(learn_thresholds)
app.command("apply")(apply_to_file)
app.command()(export)
app.command()(predict)
app.command("report")(write_report)
app.command("audit")(audit_flips)
app.command("audit-scores")(audit_scores)
app.command()(certify)
app.command()(cross_validate)
app.command("noise")(estimate)
app.command()(subgroups)
app.command("drift")(drift_of_run)
app.add_typer(data, name="data")
app.add_typer(scores, name="scores")
app.add_typer(store, name="store")
app.add_typer(cluster, name="cluster")


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
