"""Audit a model that tells more than two classes apart."""

from typing import Annotated

import typer

from fairdash._validation import check_one_of
from fairdash.cli._options import (
    File,
    Out,
    check_filled,
    check_out,
    refusing,
    write,
)
from fairdash.datasets import read_table
from fairdash.metrics import CLASS_MEASURES, class_gaps
from fairdash.postprocessing import cross, fill_missing


def audit_classes(
    file: File,
    outcome: Annotated[str, typer.Option(help="Column of the true class.")],
    predicted: Annotated[str, typer.Option(help="Column of the class predicted.")],
    group: Annotated[
        list[str],
        typer.Option(help="Column of the groups; repeat it to cross several."),
    ],
    out: Out = None,
) -> None:
    """Audit predictions of two or more classes in a file, class by class and in all.

    Prints the gap of every class in true positive rates with an interval (intervals
    hold for all classes and pairs of groups at once), accuracy by group, and root mean
    square, mean and largest of the gaps and the deviations of accuracy, each beside
    what chance alone stays below in 95 % of cases. --out writes the gaps. The exit
    status is 2 when the file or a column cannot be used.
    """
    with refusing(file):
        check_out(out)
        frame = read_table(file)
        for column in (outcome, predicted, *group):
            check_one_of("column", column, list(map(str, frame)))
        check_filled(frame, (outcome, predicted))
        found = class_gaps(
            frame[outcome],
            frame[predicted],
            sensitive_features=cross(*(fill_missing(frame[one]) for one in group)),
        )
    write(found.by_class, out)
    typer.echo(found.verdict())
    named = found.summary.assign(measure=found.summary["measure"].map(CLASS_MEASURES))
    for table in (found.by_class, found.by_group, named):
        shown = table.to_string(index=False, float_format="%.3f", na_rep="")
        typer.echo(f"\n{shown}")
