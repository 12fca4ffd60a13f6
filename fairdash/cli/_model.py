"""`fairdash model`: what a run has trained, exported, applied and compared."""

import typer

from fairdash.cli._drift import drift_of_run
from fairdash.cli._export import apply_to_file, export, predict

model = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Export, apply and compare the models of a run.",
)
model.command()(export)
model.command()(predict)
model.command("apply")(apply_to_file)
model.command("drift")(drift_of_run)
