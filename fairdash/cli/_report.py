"""Write the report of a run."""

from pathlib import Path
from typing import Annotated

import typer

from fairdash.cli._options import Home, refuse
from fairdash.reports import SECTIONS, SMALLEST_GROUP, report
from fairdash.store import home_folder, open_store


def write_report(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    out: Annotated[Path, typer.Option(help="HTML file to write.")],
    section: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeat it to choose and order: {', '.join(SECTIONS)}."),
    ] = None,
    comment: Annotated[
        list[str] | None,
        typer.Option(help='Under the title of a section: "summary=What we decided."'),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Id or label of the model, if not the main one.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Default: name of the run.")] = None,
    least: Annotated[
        int, typer.Option(min=1, help="Subgroups with a smaller group are suppressed.")
    ] = SMALLEST_GROUP,
    home: Home = None,
) -> None:
    """Write a run or a sweep as one HTML file that needs nothing else to be read.

    It holds findings, figures, tables with intervals, how the model was chosen and what
    reproduces it, and no row of the data. The exit status is 2 when there is no such
    run, model or section.
    """
    store = open_store(home or home_folder())
    try:
        comments = dict(_comment(text) for text in comment or ())
        made = report(
            store,
            run_id,
            sections=section or SECTIONS,
            comments=comments,
            model=model,
            title=title,
            least=least,
        )
        page = made.to_html()
    except ValueError as error:
        raise refuse(error) from error
    finally:
        store.close()
    out.write_text(page)
    typer.echo(f"{out}: {made.title}, {len(page) / 1e6:.1f} MB")


def _comment(text: str) -> tuple[str, str]:
    section, found, words = text.partition("=")
    if not found:
        raise ValueError(f"`--comment` is SECTION=TEXT, got {text!r}.")
    return section, words
