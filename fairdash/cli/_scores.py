"""Print who is worse off under a model whose scores or decisions stand in a file."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash._validation import check_one_of, value_labels
from fairdash._wording import UNDEFINED, number
from fairdash.audits import Audit, audit
from fairdash.cli._options import File, Out, refuse
from fairdash.datasets import guess_score, read_table


def audit_scores(
    file: File,
    score: Annotated[
        str, typer.Option(help="Column of the scores, or of decisions 0 and 1.")
    ],
    outcome: Annotated[
        str, typer.Option(help="Column and value of the positive outcome: repaid=yes.")
    ],
    group: Annotated[
        list[str],
        typer.Option(
            help="Column of the groups, all its values or some: race=White,Black. "
            "Repeat it to cross several."
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(help="Scores from here on are positive; else above 1/2."),
    ] = None,
    subgroup: Annotated[
        list[str] | None,
        typer.Option(help="Column that describes subgroups; repeat it to cross."),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="One of the measures; all by default.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of weights.")] = None,
    reference: Annotated[
        str | None, typer.Option(help="Group that others are compared with.")
    ] = None,
    unfavourable: Annotated[
        bool, typer.Option("--unfavourable", help="A positive decision is bad news.")
    ] = False,
    out: Out = None,
) -> None:
    """Audit a model that exists, by every measure, by group and inside subgroups.

    Prints the verdict, the table of measures by group and each gap in words; --out
    writes the gaps. The exit status is 2 when the file or a column cannot be used.
    """
    try:
        found = audit_file(
            file,
            score,
            outcome,
            group,
            threshold=threshold,
            subgroups=subgroup or [],
            measures=measure,
            weight=weight,
            reference=reference,
            favourable=not unfavourable,
        )
        if out is not None:
            check_one_of("--out", out.suffix, (".csv", ".parquet"))
    except ValueError as error:
        raise refuse(error, file) from error
    if out is not None and out.suffix == ".parquet":
        found.gaps.to_parquet(out, index=False)
    elif out is not None:
        found.gaps.to_csv(out, index=False)
    typer.echo(f"{found}\n")
    for sentence in found.gaps["sentence"]:
        typer.echo(sentence)
    if found.local is None:
        return
    shown = ["measure", "subgroup", "n", "gap", "ci_low", "ci_high", "chance", "reason"]
    table = found.local[shown].to_string(index=False, float_format=number)
    typer.echo(f"\n{table.replace('NaN', UNDEFINED.rjust(3))}")


def audit_file(
    file: Path,
    score: str,
    outcome: str,
    groups: list[str],
    *,
    threshold: float | None = None,
    subgroups: list[str],
    measures: list[str] | None = None,
    weight: str | None = None,
    reference: str | None = None,
    favourable: bool = True,
) -> Audit:
    """Return the audit of a file's score column.

    Raises
    ------
    ValueError
        When the file cannot be read, a column is missing, the outcome names no value,
        or a score needs a threshold.
    """
    frame = read_table(file)
    names = [str(name) for name in frame]
    target, _, positive = outcome.partition("=")
    check_one_of("--outcome", target, names)
    labels = value_labels(frame[target])
    if not (labels == positive).any():
        known = ", ".join(map(str, labels.dropna().unique()[:5]))
        raise ValueError(
            f"`--outcome` must name a value of {target!r}, such as {known}: "
            f"--outcome {target}=VALUE."
        )
    columns = []
    kept = labels.notna()
    for text in groups:
        name, _, listed = text.partition("=")
        check_one_of("--group", name, names)
        values = value_labels(frame[name])
        chosen = [value.strip() for value in listed.split(",")] if listed else None
        kept &= values.notna() if chosen is None else values.isin(chosen)
        columns.append(name)
    check_one_of("--score", score, names)
    rows = frame[kept].reset_index(drop=True)
    what = guess_score(rows[score])
    if what is not None and what.kind == "score" and threshold is None:
        raise ValueError(
            f"`--score` {score!r} is no probability; say from where on a decision is "
            "positive: --threshold."
        )
    is_decision = what is not None and what.kind == "decision"
    return audit(
        (labels[kept] == positive).to_numpy(int),
        score if is_decision else None,
        scores=None if is_decision else score,
        threshold=threshold,
        sensitive_features=columns,
        frame=rows,
        subgroups=subgroups or None,
        measures=measures or None,
        sample_weight=weight,
        reference=reference,
        favourable=favourable,
        decided=f"predicted {outcome}",
        outcome=outcome,
    )
