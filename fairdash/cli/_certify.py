"""Print what is certain of true groups that are known only through noisy ones."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import typer

from fairdash._validation import check_one_of
from fairdash.cli._options import Home, refuse
from fairdash.datasets import read_table, split
from fairdash.methods.noisy_groups import soft_certificate, tv_certificate
from fairdash.postprocessing import cross, read_margins
from fairdash.store import TrialRecord, home_folder, open_store

SHOWN = ["model", "seeds", "found", "drawn", "ball", "soft"]


class Case(NamedTuple):
    """Rows that a model decided: outcomes, 0/1 decisions, noisy groups."""

    model: str
    seed: int
    y: Any
    decided: Any
    groups: Any


def certify(
    what: Annotated[
        str, typer.Argument(help="Id of a run, or a CSV or Parquet file of scores.")
    ],
    radius: Annotated[
        list[str] | None,
        typer.Option(
            help="TV radius for all groups, or NAME=RADIUS, repeated, for each."
        ),
    ] = None,
    noise: Annotated[
        Path | None,
        typer.Option(
            help="CSV of P(true group | noisy group): a row for each noisy group, its "
            "name first.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    constraint: Annotated[
        str, typer.Option(help="As of the methods for noisy groups.")
    ] = "true_positive_rate_parity",
    slack: Annotated[float, typer.Option(help="By how much a rate may be worse.")] = 0,
    score: Annotated[str, typer.Option(help="Of a file: column of the scores.")] = "",
    group: Annotated[
        list[str] | None,
        typer.Option(help="Of a file: column of the noisy groups; repeat it to cross."),
    ] = None,
    outcome: Annotated[str, typer.Option(help="Of a file: column of outcomes.")] = "",
    positive: Annotated[
        str, typer.Option(help="Of a file: the outcome that counts as 1.")
    ] = "1",
    out: Annotated[
        Path | None, typer.Option(help="CSV file to write the rows of all groups to.")
    ] = None,
    home: Home = None,
) -> None:
    """Certify models for true groups near the noisy ones, or any scores in a file.

    Prints the largest violation found on the noisy groups, over 20 random draws, and
    the exact worst case within the radius (ball) or under the noise (soft); 0 or less
    keeps the constraint. Models of a run are certified on the test rows of each seed.
    The exit status is 2 when something cannot be used.
    """
    try:
        if not radius and noise is None:
            raise ValueError("Give --radius, --noise or both.")
        if out is not None:
            check_one_of("--out", out.suffix, (".csv",))
        if Path(what).suffix:
            cases = [_of_file(Path(what), score, group or [], outcome, positive)]
        else:
            cases = list(_of_run(home or home_folder(), what))
        asked = {"constraints": constraint, "slack": slack}
        matrix = None if noise is None else _matrix(noise)
        radii = _radii(radius or [])
        table = pd.concat([_certified(case, radii, matrix, asked) for case in cases])
    except ValueError as error:
        raise refuse(error) from error
    if out is not None:
        table.to_csv(out, index=False)
    typer.echo(_largest(table).to_string(index=False, float_format="%+.3f", na_rep=""))


def _of_run(home: Path, run_id: str) -> Iterator[Case]:
    store = open_store(home)
    try:
        snapshot = store.snapshot(run_id, curves=False)
        dataset = store.dataset(snapshot.run.dataset_id)
        finished = [t for t in snapshot.trials if t.status == "finished"]
        if not finished:
            raise ValueError(f"Run {run_id} has no finished model to certify.")
        for trial in finished:
            where = split(dataset, trial.seed).test
            decided = (store.artifact(trial.key).scores()[where] > 0.5).astype(int)
            name = _name(trial, finished)
            groups = dataset.sensitive_features[where]
            yield Case(name, trial.seed, dataset.y[where], decided, groups)
    finally:
        store.close()


def _name(trial: TrialRecord, trials: Sequence[TrialRecord]) -> str:
    """Return the method and the parameters in which its models in the run differ."""
    others = [other.params for other in trials if other.method == trial.method]
    differing = [
        f"{name}={value}"
        for name, value in trial.params.items()
        if any(other.get(name) != value for other in others)
    ]
    return " ".join([trial.method, *differing])


def _of_file(
    file: Path, score: str, groups: Sequence[str], outcome: str, positive: str
) -> Case:
    if not file.is_file():
        raise ValueError(f"There is no file {file}.")
    if not (score and groups and outcome):
        raise ValueError("A file needs --score, --group and --outcome.")
    frame = read_table(file)
    missing = [name for name in (score, outcome, *groups) if name not in frame]
    if missing:
        raise ValueError(f"{file} has no columns {missing}; it has {list(frame)[:20]}.")
    for name in (outcome, *groups):
        if (empty := np.flatnonzero(frame[name].isna())).size:
            message = f"Column {name!r} has no value in {len(empty)} rows, first row"
            raise ValueError(f"{message} {empty[0] + 1}; fill or leave out these.")
    values = frame[outcome].astype(str)
    if positive not in set(values):
        message = f"Column {outcome!r} never is {positive!r} (--positive); it is"
        raise ValueError(f"{message} {sorted(set(values))[:5]}.")
    decided = (read_margins(frame[score]) > 0).astype(int)
    labels = cross(*(frame[name] for name in groups))
    return Case(score, 0, (values == positive).astype(int), decided, labels)


def _radii(given: Sequence[str]) -> Any:
    """Return a number, a mapping from group to number, or None."""
    pairs = [text.rpartition("=")[::2] for text in given]
    try:
        known = {name: float(number) for name, number in pairs}
    except ValueError as error:
        message = "`--radius` must be a number or NAME=NUMBER"
        raise ValueError(f"{message}, got {', '.join(given)}.") from error
    return known.get("", known) if len(known) == 1 else known or None


def _matrix(file: Path) -> pd.DataFrame:
    matrix = pd.read_csv(file, index_col=0)
    return matrix.set_axis(matrix.index.astype(str)).sort_index()


def _certified(
    case: Case, radii: Any, matrix: pd.DataFrame | None, asked: dict[str, Any]
) -> pd.DataFrame:
    """Return one row for each kind of certificate, rate and group."""
    rows = case.y, case.decided, np.asarray(case.groups, dtype=str)
    parts = []
    if radii is not None:
        parts.append(tv_certificate(*rows, radii, **asked).assign(kind="ball"))
    if matrix is not None:
        names = np.unique(rows[2])
        absent = [name for name in names if name not in matrix.index]
        if absent:
            message = f"The noise has no row for the noisy group {str(absent[0])!r}"
            raise ValueError(f"{message}; it has {list(matrix.index)}.")
        found = soft_certificate(
            *rows, matrix.loc[names], true_groups=list(matrix.columns), **asked
        )
        noisy = tv_certificate(*rows, 0.0, n_draws=0, **asked)["violation"].max()
        parts.append(found.assign(kind="soft", violation=noisy))
    table = pd.concat(parts, ignore_index=True)
    table.insert(0, "model", case.model)
    table.insert(1, "seed", case.seed)
    return table


def _largest(table: pd.DataFrame) -> pd.DataFrame:
    """Return the largest violations by model, averaged over seeds."""
    table = table.assign(
        **{kind: table["worst_violation"].where(table["kind"] == kind)
           for kind in ("ball", "soft")},
        found=table["violation"],
        drawn=table.get("drawn_violation"),
    )  # fmt: skip
    kinds = ["found", "drawn", "ball", "soft"]
    worst = table.groupby(["model", "seed"], sort=False)[kinds].max()
    by_model = worst.groupby("model", sort=False)
    result = by_model.mean().join(by_model.size().rename("seeds")).reset_index()
    return result[SHOWN].dropna(axis=1, how="all")
