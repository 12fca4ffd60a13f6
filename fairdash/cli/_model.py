"""`fairdash model`: what a run has trained, exported, applied and questioned."""

import typer

from fairdash.cli._export import apply_to_file, export, predict
from fairdash.cli._models import audit_flips, drift_of_run, subgroups

model = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Export, apply and question the models of a run.",
)
model.command()(export)
model.command()(predict)
model.command("apply")(apply_to_file)
model.command("flips")(audit_flips)
model.command()(subgroups)
model.command("drift")(drift_of_run)
