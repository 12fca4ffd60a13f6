"""Audit the decisions or scores of a table, by every measure."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from fairdash._validation import as_written, check_one_of, value_labels
from fairdash._wording import UNDEFINED, number, plural
from fairdash.audits import Audit, audit, load
from fairdash.brought import positive_scores
from fairdash.cli._options import File, refusing
from fairdash.datasets import guess_score, read_table, read_weights
from fairdash.reports import show

Excluded = dict[str, int]  # rows by reason


def audit_table(
    file: File,
    group: Annotated[
        list[str],
        typer.Option(
            help="Column of the groups, all its values or some: race=White,Black. "
            "Repeat it to cross several."
        ),
    ],
    decision: Annotated[
        str | None,
        typer.Option(help="Column and value of a positive decision: hired=yes."),
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
    --outcome too. Prints the verdict, how many rows were excluded and why, the measures
    by group and each gap in words. The exit status is 2 when a file or a column cannot
    be used.
    """
    with refusing(file):
        if out is not None:
            check_one_of("--out", out.suffix, (".json",))
        if sum(one is not None for one in (decision, score, model)) != 1:
            raise ValueError(
                "Give one of `--decision`, `--score` and the `--model` that scores the "
                "rows."
            )
        frame = read_table(file)
        kept = np.ones(len(frame), dtype=bool)
        excluded: Excluded = {}
        actual = _flags("--outcome", outcome, frame, kept, excluded)
        decided = _flags("--decision", decision, frame, kept, excluded)
        columns = [_group(text, frame, kept, excluded) for text in group]
        rows = frame[kept].reset_index(drop=True)
        if rows.empty:
            raise ValueError(f"All rows are excluded: {_words(excluded)}.")
        values = None
        if decided is None:
            positive = (outcome or "").partition("=")[2] or "1"
            values = _scores(rows, frame, np.flatnonzero(kept), score, model, positive)
        if weight is not None:
            check_one_of("--weight", weight, [str(name) for name in frame])
            read_weights(rows[weight], np.flatnonzero(kept))
        what = None if values is None else guess_score(values)
        if what is not None and what.kind == "score" and threshold is None:
            raise ValueError(
                f"`--score` {score!r} is no probability; say from where on a decision "
                "is positive: --threshold."
            )
        if what is not None and what.kind == "decision":
            decided, values = np.asarray(values), None
        elif decided is not None:
            decided = decided[kept]
        report = audit(
            None if actual is None else actual[kept].astype(int),
            None if decided is None else decided.astype(int),
            scores=values,
            threshold=threshold,
            sensitive_features=columns,
            frame=rows,
            subgroups=subgroup or None,
            measures=measure or None,
            sample_weight=weight,
            reference=reference,
            favourable=not unfavourable,
            decided=_decided(decision, outcome),
            outcome=outcome or "outcome 1",
        )
    report = replace(report, excluded=excluded)
    facts = f"{plural(sum(excluded.values()), 'row')} excluded"
    if excluded:
        facts += f": {_words(excluded)}"
    if out is not None:
        out.write_text(json.dumps(report.to_dict(), ensure_ascii=False, indent=1))
    if page is not None:
        page.write_text(show(report, facts=[facts]).page)
    _print(report, facts)


def _print(report: Audit, facts: str) -> None:
    typer.echo(f"{report}\n{facts}\n")
    for sentence in report.gaps["sentence"]:
        typer.echo(sentence)
    if report.local is None:
        return
    shown = ["measure", "subgroup", "n", "gap", "ci_low", "ci_high", "chance", "reason"]
    table = report.local[shown].to_string(index=False, float_format=number)
    typer.echo(f"\n{table.replace('NaN', UNDEFINED.rjust(3))}")


def _decided(decision: str | None, outcome: str | None) -> str:
    if decision:
        return f"decided {decision}"
    return f"predicted {outcome}" if outcome else "predicted positive"


def _flags(
    option: str,
    text: str | None,
    frame: pd.DataFrame,
    kept: NDArray[np.bool_],
    excluded: Excluded,
) -> NDArray[np.bool_] | None:
    """Return which rows have the value of ``column=value``; others lack one."""
    if text is None:
        return None
    name, _, value = text.partition("=")
    check_one_of(option, name, [str(column) for column in frame])
    labels = value_labels(frame[name])
    if not (labels == value).any():
        examples = ", ".join(map(str, labels.dropna().unique()[:5]))
        raise ValueError(
            f"`{option}` must name a value of {name!r}, such as {examples}: "
            f"{option} {name}=VALUE."
        )
    _exclude(f"no value in {name}", labels.notna(), kept, excluded)
    return (labels == value).to_numpy(bool)


def _group(
    text: str, frame: pd.DataFrame, kept: NDArray[np.bool_], excluded: Excluded
) -> str:
    """Return the column of ``column`` or ``column=a,b``; other rows are excluded."""
    name, _, listed = text.partition("=")
    check_one_of("--group", name, [str(column) for column in frame])
    values = value_labels(frame[name])
    _exclude(f"no value in {name}", values.notna(), kept, excluded)
    if listed:
        chosen = [value.strip() for value in listed.split(",")]
        for value in chosen:
            check_one_of(f"--group {name}", value, set(values.dropna()))
        _exclude(f"another {name}", values.isin(chosen), kept, excluded)
    return name


def _exclude(
    reason: str,
    fits: "pd.Series[bool]",
    kept: NDArray[np.bool_],
    excluded: Excluded,
) -> None:
    """Count rows that do not fit under the first reason that excludes them."""
    gone = kept & ~fits.to_numpy(bool)
    if gone.any():
        excluded[reason] = excluded.get(reason, 0) + int(gone.sum())
        kept &= ~gone


def _words(excluded: Excluded) -> str:
    return ", ".join(f"{n:,} with {reason}" for reason, n in excluded.items())


def _scores(
    rows: pd.DataFrame,
    frame: pd.DataFrame,
    numbers: NDArray[np.int64],
    score: str | None,
    model: Path | None,
    positive: str,
) -> "pd.Series[Any]":
    if model is not None:
        scored = positive_scores(load(model), rows, positive)
        return pd.Series(scored, name=model.name)
    check_one_of("--score", score, [str(name) for name in frame])
    _check_scores(rows[score], numbers)
    return rows[score]


def _check_scores(column: "pd.Series[Any]", numbers: NDArray[np.int64]) -> None:
    """Raise ValueError, with the first of ``numbers``, unless all scores are finite."""
    scores = pd.to_numeric(column, errors="coerce").to_numpy(float, na_value=np.nan)
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        raise ValueError(
            f"Column {column.name!r} must hold finite numbers; {len(wrong):,} rows do "
            f"not, first row {numbers[wrong[0]] + 1} with "
            f"{as_written(column.iloc[wrong[0]])}. Choose another column, or exclude "
            "these rows."
        )
