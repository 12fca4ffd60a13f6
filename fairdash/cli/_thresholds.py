"""Learn thresholds by group from the scores of a file."""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from fairdash._validation import check_one_of, value_labels
from fairdash._wording import listing
from fairdash.cli._options import File, refusing
from fairdash.datasets import read_table
from fairdash.postprocessing import (
    GAMMAS,
    RampThreshold,
    ScoreType,
    SplitScores,
    Thresholds,
    choose_ramp,
    scores_with_outcomes,
    split_scores,
)

_WIDTH = 0.1


def learn_thresholds(
    file: File,
    group: Annotated[
        list[str],
        typer.Option(help="Column of the groups; repeat it to cross several."),
    ],
    out: Annotated[
        Path,
        typer.Option(help="JSON file of thresholds."),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(help="Column of scores. Default: the only one there is."),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(help="Column and value of the positive outcome: repaid=yes."),
    ] = None,
    gamma: Annotated[
        float | None, typer.Option(help="Width of the ramp. Default: chosen by folds.")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            help="Target rate: accuracy, balanced or a number. Default: by folds."
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="Largest gap of rates allowed.")
    ] = 0.0,
    score_type: Annotated[
        ScoreType | None, typer.Option(help="Default: by the values of the column.")
    ] = None,
) -> None:
    """Learn thresholds by group from scores of a file, for `fairdash model apply`.

    Every fifth row of each group is held out and reports what the thresholds do; width
    and target rate are chosen by five folds of the others, where there is an outcome.
    The exit status is 2 when the file or a
    column cannot be used.
    """
    with refusing(file):
        frame = read_table(file)
        target, positive = _outcome(frame, outcome)
        scores = scores_with_outcomes(frame, group, target, score or ())
        if len(scores) != 1:
            raise ValueError(
                f"These are {len(scores)} columns of scores: {listing(scores)}. Name "
                "one of them by --score."
            )
        check_one_of("--out", out.suffix, (".json",))
        ((name, own_outcome),) = scores.items()
        for column in (name, *group):
            check_one_of("column", column, list(map(str, frame)))
        own = positive if own_outcome == target else None
        split = split_scores(frame, name, group, own_outcome, own, score_type)
        rules = _ramp(split, gamma, rate, tolerance)
    out.write_text(rules.to_json())
    typer.echo(f"{out}: {rules.method}")


def _outcome(frame: pd.DataFrame, told: str | None) -> tuple[str | None, str | None]:
    if told is None:
        return None, None
    target, _, positive = told.partition("=")
    check_one_of("--outcome", target, list(map(str, frame)))
    labels = value_labels(frame[target])
    if labels.isna().any() or not (labels == positive).any():
        known = ", ".join(map(str, labels.dropna().unique()[:5]))
        raise ValueError(
            f"`--outcome` must name a value of {target!r}, none of which may be "
            f"missing: --outcome {target}=VALUE, one of {known}."
        )
    return target, positive


def _ramp(
    split: SplitScores, gamma: float | None, rate: str | None, tolerance: float
) -> Thresholds:
    """Print what a ramp does on the rows held out, and return its thresholds."""
    learned, fresh = split.calibration, split.test
    target = _rate(rate)
    if learned.y is not None and (gamma is None or target is None):
        chosen = choose_ramp(
            learned,
            tolerance=tolerance,
            target_rates=None if target is None else [target],
            gammas=GAMMAS if gamma is None else [gamma],
        )
        typer.echo(chosen.cost(learned, fresh, "held-out"))
        ramp = chosen.ramp(learned)
    else:
        width = _WIDTH if gamma is None else gamma
        aim = "balanced" if target is None else target
        ramp = RampThreshold(width, aim, tolerance, score_type=learned.score_type)
        ramp.fit_rows(learned)
    report = ramp.report(fresh)
    typer.echo(report.verdict("held-out"))
    typer.echo(report.changed.to_string(index=False, float_format="%.3f"))
    return ramp.thresholds()


def _rate(told: str | None) -> str | float | None:
    try:
        return told if told is None else float(told)
    except ValueError:
        return told
