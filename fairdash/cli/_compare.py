"""Compare the methods of a benchmark."""

from typing import Annotated

import typer

from fairdash.cli._options import File, Out, check_out, refusing, write
from fairdash.datasets import read_table
from fairdash.sweep import compare_methods

_SHARED = (
    "Splits of one table share rows, so these p-values are too small; the paired "
    "intervals allow for it."
)
_SMALLER = ("difference", "_di", "log_loss", "seconds", "local_gap")


def compare(
    rows: File,
    measure: Annotated[
        str, typer.Option(help="Such as test_accuracy.")
    ] = "test_accuracy",
    better: Annotated[
        str | None, typer.Option(help="larger or smaller; by default what is usual.")
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(help="Rank on tables or on splits; by default on tables."),
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="Method to hold others against: the best.")
    ] = None,
    out: Out = None,
) -> None:
    """Rank the methods of a benchmark: Friedman, Nemenyi, paired intervals.

    ROWS is what `fairdash run --out` wrote, of a sweep or of a benchmark with several
    tables. The exit status is 2 when there are fewer than three methods or two blocks.
    """
    with refusing():
        check_out(out)
        if better not in (None, "larger", "smaller"):
            raise ValueError(f"--better must be larger or smaller, got {better!r}.")
    with refusing(rows):
        larger_is_better = not measure.endswith(_SMALLER)
        if better is not None:
            larger_is_better = better == "larger"
        comparison = compare_methods(
            read_table(rows),
            measure,
            larger_is_better=larger_is_better,
            blocks=blocks,  # type: ignore[arg-type]
            reference=reference,
        )
    name = "tables" if comparison.blocks == "tables" else "splits"
    typer.echo(
        f"{measure}: {len(comparison.ranks)} methods on {comparison.n_blocks} {name}. "
        f"Friedman's chi-square {comparison.statistic:.2f}, "
        f"p {comparison.p_value:.2g}. Mean ranks differ "
        f"clearly from {comparison.critical_difference:.2f} on (Nemenyi, 95%)."
    )
    if comparison.blocks == "splits":
        typer.echo(_SHARED)
    ranks = comparison.ranks.rename_axis("method").rename("mean rank").reset_index()
    texts = [
        ranks.to_string(index=False, float_format="%.2f"),
        f"Less {comparison.reference}, paired, 95% for all at once\n"
        + comparison.differences.to_string(index=False, float_format="%.4f"),
        "Two methods, Nemenyi\n"
        + comparison.pairs.to_string(index=False, float_format="%.3g"),
    ]
    for text in texts:
        typer.echo(f"\n{text}")
    write(comparison.differences, out)
