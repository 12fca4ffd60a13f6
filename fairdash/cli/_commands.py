"""The commands, their options and their exit statuses."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairdash import __version__
from fairdash.cli._apply import apply_file
from fairdash.cli._audit import audit
from fairdash.cli._certify import certify
from fairdash.cli._options import File, Home, refuse
from fairdash.cli._run import train
from fairdash.cli.data import data
from fairdash.store import home_folder

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(data, name="data")
app.command()(certify)

Out = Annotated[
    Path | None, typer.Option(help="CSV or Parquet file to write all rows to.")
]
Name = Annotated[str | None, typer.Option(help="Title of the run.")]
TrainRows = Annotated[
    int | None,
    typer.Option(min=1, help="Train on a stratified subsample; measure all rows."),
]
Inline = Annotated[bool, typer.Option("--inline", help="Train in this process.")]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"fairdash {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, help="Print the version."),
    ] = False,
) -> None:
    """Explore the fairness trade-offs of classifiers, with honest uncertainty."""


@app.command("app")
def serve(
    home: Home = None,
    port: Annotated[int, typer.Option(help="Port of the web page.")] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen at.")] = "localhost",
) -> None:
    """Serve the app; Ctrl-C stops it. Open runs go on until they are finished."""
    from fairdash.cli._serve import serve_app  # only this command loads Streamlit

    try:
        serve_app(home or home_folder(), port=port, address=address)
    except ValueError as error:
        raise refuse(error) from error


@app.command()
def run(
    config: File,
    out: Out = None,
    name: Name = None,
    train_rows: TrainRows = None,
    inline: Inline = False,
    home: Home = None,
) -> None:
    """Train a YAML configuration and print the results: a sweep, or a single model.

    The run appears in the app as well; Ctrl-C cancels it. The exit status is 0 when
    all trials have finished, 1 when one failed or the run was cancelled, 2 when the
    configuration cannot be used.
    """
    _train(config, home, inline=inline, out=out, name=name, train_rows=train_rows)


@app.command("apply")
def apply_thresholds(
    thresholds: File,
    file: File,
    score: Annotated[str, typer.Option(help="Column of the scores.")],
    group: Annotated[
        list[str],
        typer.Option(help="Column of the groups; repeat it to cross several."),
    ],
    out: Annotated[Path, typer.Option(help="CSV or Parquet file to write.")],
    seed: Annotated[int, typer.Option(help="Seed of the drawn decisions.")] = 0,
    score_type: Annotated[
        Literal["margin", "probability"] | None,
        typer.Option(help="What the scores are, if not what the thresholds record."),
    ] = None,
) -> None:
    """Apply thresholds of the Post-process page to the rows of a file.

    Adds the columns h, the probability of a positive decision, and decision, drawn
    with it, and prints the rates of every group beside those the thresholds were
    learned with. Files may be larger than memory. The exit status is 2 when a file
    cannot be used, or when its scores may not be what the thresholds are for.
    """
    try:
        rates = apply_file(
            thresholds,
            file,
            score=score,
            groups=group,
            out=out,
            seed=seed,
            score_type=score_type,
        )
    except ValueError as error:
        raise refuse(error, file) from error
    typer.echo(f"{out}: {rates['n'].sum()} rows decided")
    named = rates.rename(
        columns={"expected": "expected rate", "obtained": "obtained rate"}
    )
    typer.echo(named.to_string(index=False, float_format="{:.3f}".format))


@app.command("audit")
def audit_flips(
    run_id: Annotated[str, typer.Argument(help="Id of a run; see the Runs page.")],
    flip: Annotated[
        list[str],
        typer.Option(
            help="Column to flip, to all its values or to some: race=White,Black. "
            "Repeat it to flip several at once."
        ),
    ],
    out: Out = None,
    by_seed: Annotated[
        bool, typer.Option("--by-seed", help="One row per model and seed.")
    ] = False,
    home: Home = None,
) -> None:
    """Flip columns of the test rows and print how often predictions stay.

    Audits every model of a run: consistency, CTF score, largest change of P(1), and
    gaps of the true positive rates between groups. The exit status is 2 when the run
    or a column cannot be used.
    """
    try:
        audit(home or home_folder(), run_id, flip, out=out, by_seed=by_seed)
    except ValueError as error:
        raise refuse(error) from error


@app.command()
def sweep(
    config: Annotated[
        Path | None,
        typer.Argument(exists=True, dir_okay=False, readable=True),
    ] = None,
    resume: Annotated[
        str | None, typer.Option(help="Id of a run to go on with, instead of a file.")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler; see `fairdash worker`."),
    ] = None,
    out: Out = None,
    name: Name = None,
    train_rows: TrainRows = None,
    inline: Inline = False,
    home: Home = None,
) -> None:
    """As `run`, on a cluster as well, or going on with what an earlier run left.

    Finished models are kept: `--resume` trains nothing twice.
    """
    if (config is None) == (resume is None):
        raise refuse(ValueError("Give either a configuration or --resume ID."))
    if inline and scheduler:
        raise refuse(ValueError("Give either --inline or --scheduler."))
    _train(
        config,
        home,
        resume=resume,
        scheduler=scheduler,
        inline=inline,
        out=out,
        name=name,
        train_rows=train_rows,
    )


@app.command()
def worker(
    address: Annotated[str, typer.Argument(help="Such as tcp://10.0.0.5:8786.")],
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes. Default: one a core.")
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address of this machine to listen on, and on no other. A scheduler "
            "on another machine must reach it."
        ),
    ] = "127.0.0.1",
) -> None:
    """Work for a Dask scheduler until Ctrl-C; wait for it when it is away.

    The processes must see the same home folder as the app, under the same path. The
    scheduler is not authenticated: keep it on a trusted network, or use TLS.
    """
    from fairdash.jobs import serve_worker  # only this command loads Dask

    try:
        serve_worker(address, n_workers=workers or os.cpu_count() or 1, host=host)
    except ValueError as error:
        raise refuse(error) from error


def _train(config: Path | None, home: Path | None, **options: Any) -> None:
    try:
        status = train(home or home_folder(), config=config, **options)
    except ValueError as error:
        raise refuse(error, config) from error
    raise typer.Exit(0 if status == "finished" else 1)
