"""Hold a table against the limits of a policy."""

import json
from pathlib import Path
from typing import Annotated

import typer

from fairdash._validation import check_one_of
from fairdash.audits import load, tables
from fairdash.cli._options import (
    JoinBy,
    JoinFile,
    SampleRows,
    Table,
    echo,
    read_rows,
    refusing,
)


def check(
    file: Table,
    policy: Annotated[
        Path, typer.Option(exists=True, dir_okay=False, help="YAML file of the limits.")
    ],
    model: Annotated[
        Path | None,
        typer.Option(exists=True, dir_okay=False, help="File that scores the rows."),
    ] = None,
    join: JoinFile = None,
    by: JoinBy = None,
    sample_rows: SampleRows = None,
    out: Annotated[Path | None, typer.Option(help="JSON file to write.")] = None,
    junit: Annotated[Path | None, typer.Option(help="XML file to write.")] = None,
) -> None:
    """Say of each limit of a policy whether a table keeps it.

    The exit status is 0 when all limits pass, 1 when one fails, else 2 when one is
    undecided, 3 when one is not surely broken, and 4 when a file, a column or an
    option cannot be used.
    """
    with refusing(file):
        for option, path, suffix in (
            ("--out", out, ".json"),
            ("--junit", junit, ".xml"),
        ):
            if path is not None:
                check_one_of(option, path.suffix, (suffix,))
        limits = tables.Policy.parse(policy.read_bytes(), policy.name)
        question = limits.question
        if model is not None or join is not None or by or sample_rows is not None:
            frame, source = read_rows(file, join, by, sample_rows=sample_rows)
        else:
            frame, question, source = tables.read_asked(file, question)
        # A file of counts names its column of people itself.
        limits = limits.model_copy(update={"count": question.count})
        scorer = None if model is None else load(model)
        checked = tables.check_policy(frame, limits, source, model=scorer)
    if out is not None:
        out.write_text(json.dumps(checked.to_dict(), ensure_ascii=False, indent=1))
    if junit is not None:
        junit.write_bytes(checked.to_junit())
    for line in checked.lines():
        echo(line)
    if source.words:
        echo(source.words)
    for line in checked.audited.rows.remarks:
        echo(line)
    echo(f"{checked.audited.rows.words}\n{checked.status}")
    raise typer.Exit(checked.exit_status)
