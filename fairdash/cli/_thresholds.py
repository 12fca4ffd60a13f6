"""Learn thresholds by group from the scores of a file."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from fairdash._validation import CROSS, check_one_of, value_labels
from fairdash.audits import correction_verdict, tables
from fairdash.cli._options import Groups, echo, echo_table, refusing
from fairdash.postprocessing import GAMMA, ScoreType, SplitScores, corrections

RAMP = "ramp"


def learn_thresholds(
    file: Annotated[
        str,
        typer.Argument(
            help="File, or an address, as of `fairdash audit`: it is counted by score, "
            "group and outcome where it lies."
        ),
    ],
    score: Annotated[str, typer.Option(help="Column of scores.")],
    group: Groups,
    out: Annotated[Path, typer.Option(help="JSON file of thresholds.")],
    outcome: Annotated[
        str | None,
        typer.Option(help="Column and value of the positive outcome: repaid=yes."),
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"One of {', '.join(corrections())}.")
    ] = RAMP,
    gamma: Annotated[
        float | None, typer.Option(help=f"Width of the ramp. Default: {GAMMA.default}.")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            help="Target rate of the ramp: accuracy, balanced or a number. Default: "
            "accuracy, or without an outcome balanced."
        ),
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="Largest gap allowed. Default: 0.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Parameter of the method: constraints=equalized_odds."
        ),
    ] = None,
    score_type: Annotated[
        ScoreType | None, typer.Option(help="Default: by the values of the column.")
    ] = None,
) -> None:
    """Learn thresholds by group from scores of a file, for `fairdash model apply`.

    Every fifth row of each group is held out and reports what the thresholds do. The
    exit status is 2 when the file or a column cannot be used.
    """
    with refusing(file):
        check_one_of("--out", out.suffix, (".json",))
        columns = [score, *group, *_outcome_column(outcome)]
        frame, words = tables.read_people(file, columns)
        for column in (score, *group):
            check_one_of("column", column, list(map(str, frame)))
        target, positive = _outcome(frame, outcome)
        split = SplitScores.of_table(
            frame,
            score,
            group,
            outcome=target,
            positive=positive,
            score_type=score_type,
        )
        rows = split.calibration
        check_one_of("--method", method, corrections())
        params = corrections()[method].read(_settings(setting, gamma, tolerance))
        if method == RAMP:
            # Without an outcome there is no accuracy to keep.
            if rate is not None:
                params["target_rate"] = _number_or_name(rate)
            else:
                params["target_rate"] = "balanced" if rows.y is None else "accuracy"
        elif rate is not None:
            raise ValueError(f"`--rate` is of the ramp; do not give it to {method}.")
        fitted = corrections()[method].make(rows.score_type, **params).fit_rows(rows)
        report = fitted.report(split.test)
    out.write_text(fitted.thresholds().to_json())
    verdict = correction_verdict(report, feature=CROSS.join(group))
    echo(f"{verdict} {report.details()}")
    echo_table(report.changed)
    if words:
        echo(words)
    echo(f"{out}: {fitted}")


def _settings(
    named: list[str] | None, gamma: float | None, tolerance: float | None
) -> dict[str, str]:
    """Return the parameters that the options give, as texts."""
    of_options = {"gamma": gamma, "tolerance": tolerance}
    texts = {
        name: repr(value) for name, value in of_options.items() if value is not None
    }
    for text in named or ():
        name, mark, value = text.partition("=")
        if not mark:
            raise ValueError(f"`--set` must be NAME=VALUE, got {text!r}.")
        texts[name] = value
    return texts


def _outcome_column(named: str | None) -> list[str]:
    """Return the column of "COLUMN=VALUE", none without one."""
    return [] if named is None else [named.partition("=")[0]]


def _outcome(frame: pd.DataFrame, named: str | None) -> tuple[str | None, str | None]:
    """Return the column and the positive value that "COLUMN=VALUE" names."""
    if named is None:
        return None, None
    target, _, positive = named.partition("=")
    check_one_of("--outcome", target, list(map(str, frame)))
    labels = value_labels(frame[target])
    if labels.isna().any() or not (labels == positive).any():
        values = ", ".join(map(str, labels.dropna().unique()[:5]))
        raise ValueError(
            f"`--outcome` must name a value of {target!r}, none of which may be "
            f"missing: --outcome {target}=VALUE, one of {values}."
        )
    return target, positive


def _number_or_name(rate: str) -> str | float:
    try:
        return float(rate)
    except ValueError:
        return rate
