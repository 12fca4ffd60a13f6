"""Print what is wrong with a table."""

from pathlib import Path

import typer
import yaml

from fairdash.datasets import Roles, check_table, guess_roles, read_table


def check_file(file: Path, roles_file: Path | None, sheet: str | None) -> set[str]:
    """Print the findings about a table and return their severities.

    Raises
    ------
    ValueError
        When a file cannot be read.
    """
    frame = read_table(file, sheet=sheet, compact=True)
    roles = guess_roles(frame) if roles_file is None else read_roles(roles_file)
    typer.echo(f"{file.name}: {len(frame)} rows, {frame.shape[1]} columns")
    typer.echo(f"outcome {roles.target!r}, positive value {roles.positive!r}")
    typer.echo(f"sensitive feature {roles.sensitive_feature!r}")
    findings = check_table(frame, roles)
    for finding in findings.to_dict("records"):
        remedy = finding["remedy"]
        typer.echo(f"{finding['severity']}: {finding['message']} {remedy}".strip())
    if findings.empty:
        typer.echo("nothing to change")
    return set(findings["severity"])


def read_roles(path: Path) -> Roles:
    """Return the roles in a YAML file; ValueError if it holds none."""
    try:
        return Roles.model_validate(yaml.safe_load(path.read_text()))
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not valid YAML.") from error
