"""Audit the decisions or scores of a table, by every measure."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from fairdash._validation import check_one_of
from fairdash.audits import load, tables
from fairdash.cli._options import (
    CountColumn,
    JoinBy,
    JoinFile,
    SampleRows,
    Table,
    Unit,
    Weight,
    echo,
    read_rows,
    refusing,
)
from fairdash.cli._recipe import (
    Missing,
    Negative,
    OneOf,
    RecipeFile,
    Rows,
    SingleChoice,
    join_of,
)
from fairdash.cli._recipe import recipe as prepared_by

_DECISIONS = "decisions"


def audit(
    file: Table,
    group: Annotated[
        list[str],
        typer.Option(
            help="Column of the groups, all its values or some: race=White,Black. "
            "Repeat it: each, and all crossed."
        ),
    ],
    decision: Annotated[
        str | None,
        typer.Option(
            help="Column and value of a positive decision, or values: hired=yes, "
            "status=1,2."
        ),
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of scores instead, or of 0 and 1.")
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            dir_okay=False,
            help="ONNX file, or file of `fairdash model export`, that scores the rows.",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Scores from here on are positive; else above 1/2."),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(help="Column and value of the positive outcome: repaid=yes."),
    ] = None,
    rows: Rows = None,
    negative: Negative = None,
    missing: Missing = None,
    one_of: OneOf = None,
    single_choice: SingleChoice = None,
    recipe: RecipeFile = None,
    join: JoinFile = None,
    by: JoinBy = None,
    subgroup: Annotated[
        list[str] | None,
        typer.Option(help="Column that describes subgroups; repeat it to cross."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="One of the measures; all by default.")
    ] = None,
    kind: Annotated[
        str,
        typer.Option(
            help="decisions, or classes, numbers or ranking. For these three --score "
            "names the column of predictions, --outcome that of outcomes."
        ),
    ] = _DECISIONS,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="The groups are not recorded: each column of --group holds the "
            "probabilities of one. They add to 1.",
        ),
    ] = False,
    unit: Unit = None,
    weight: Weight = None,
    count: CountColumn = None,
    sample_rows: SampleRows = None,
    reference: Annotated[
        str | None, typer.Option(help="Group that others are compared with.")
    ] = None,
    unfavourable: Annotated[
        bool, typer.Option("--unfavourable", help="A positive decision is bad news.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="JSON file to write all numbers to.")
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option("--report", help="HTML file to write: verdict, figures, tables."),
    ] = None,
) -> None:
    """Audit decisions or scores of a table, by group and inside subgroups.

    Give --decision, --score or a --model that scores the rows; error rates need
    --outcome too. Prints the verdict, how many rows were excluded and why, and each gap
    in words. The exit status is 2 when a file or a column cannot be used.
    """
    with refusing(file):
        if out is not None:
            check_one_of("--out", out.suffix, (".json",))
        if page is not None:
            check_one_of("--report", page.suffix, (".html",))
        check_one_of("--kind", kind, (_DECISIONS, *tables.OUTCOME_KINDS))
        joined = join_of(recipe, join, by)
        frame = None
        # A database can count by itself, unless something needs the rows.
        of_rows = (model, *joined, single_choice, sample_rows)
        needs_rows = any(option is not None for option in of_rows)
        if needs_rows or probabilities or kind != _DECISIONS:
            frame, source = read_rows(file, *joined, sample_rows=sample_rows)
        question = tables.TableQuestion(
            groups=tuple(group),
            decision=decision,
            score=score,
            threshold=threshold,
            outcome=outcome if kind == _DECISIONS else None,
            unit=unit,
            weight=weight,
            count=count,
            subgroups=tuple(subgroup or ()),
            measures=tuple(measure or ()),
            reference=reference,
            favourable=not unfavourable,
            **prepared_by(
                rows, negative, missing, recipe, one_of, single_choice, frame
            ),
        )
        if frame is None:
            frame, question, source = tables.read_asked(file, question)
        scorer = None if model is None else load(model)
        audited: tables.OutcomesAudit | tables.MembershipAudit | tables.TableAudit
        if kind != _DECISIONS:
            counted, audited = _audit_outcomes(frame, kind, question, outcome)
        elif probabilities:
            counted = tables.count_rows(frame, question)
            audited = tables.memberships_of_table(counted, question, model=scorer)
        else:
            audited = tables.audit_table(frame, question, source, model=scorer)
            counted = audited.rows
    if out is not None:
        excluded = [part._asdict() for part in counted.excluded]
        numbers = {**audited.to_dict(), "source": asdict(source), "excluded": excluded}
        numbers["remarks"] = list(counted.remarks)
        out.write_text(json.dumps(numbers, ensure_ascii=False, indent=1))
    if page is not None:
        # Only a page needs Plotly.
        from fairdash.reports import show

        page.write_text(show(audited, facts=[counted.words, *counted.remarks]).page)
    typer.echo(str(audited))
    if source.words:
        echo(source.words)
    for line in (*counted.remarks, counted.words):
        echo(line)


def _audit_outcomes(
    frame: pd.DataFrame, kind: str, question: tables.TableQuestion, outcome: str | None
) -> tuple[tables.CountedRows, tables.OutcomesAudit]:
    """Audit predictions that are not 0 or 1; return the counted rows as well."""
    if question.score is None:
        raise ValueError("Name the column of predictions: --score COLUMN.")
    needed = [*question.subgroups]
    if outcome:
        needed.insert(0, outcome)
    rows = tables.count_rows(frame, question, needed)
    return rows, tables.audit_outcomes(
        outcome,
        question.score,
        kind=kind,
        sensitive_features=list(rows.features),
        frame=rows.frame,
        subgroups=question.inside,
        sample_weight=question.weight,
        counts=question.count,
        cluster=question.unit,
        reference=question.reference,
        favourable=question.favourable,
        checks=False,  # rows.remarks hold them
    )
