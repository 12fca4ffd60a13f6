"""Print what is certain of true groups that are known only through noisy ones."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from fairdash._escaping import as_cell
from fairdash._validation import check_one_of
from fairdash.audits import (
    Certificate,
    Decisions,
    Noise,
    Question,
    certificate_table,
    certify_decisions,
    from_estimate,
    from_levels,
)
from fairdash.cli._options import (
    Auxiliary,
    Constraint,
    File,
    Home,
    check_filled,
    refusing,
    write,
)
from fairdash.datasets import read_table
from fairdash.methods.noisy_groups import (
    estimate_from_counts,
    estimate_noise,
    read_counts,
    write_counts,
)
from fairdash.postprocessing import cross, read_margins
from fairdash.store import TrialRecord, open_store
from fairdash.sweep import FOLD

Labels = NDArray[Any]
Models = dict[str, list[Decisions]]
SHOWN = {"noisy": "found", "ball": "ball", "soft": "soft"}


def certify(
    what: Annotated[
        str,
        typer.Argument(help="Id of a run, or a CSV or Parquet file of scores."),
    ],
    radius: Annotated[
        float | None, typer.Option(help="TV radius of every group.")
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="Share of wrong groups set by hand, the same for all."),
    ] = None,
    auxiliary: Auxiliary = None,
    constraint: Constraint = "true_positive_rate_parity",
    slack: Annotated[float, typer.Option(help="By how much a rate may be worse.")] = 0,
    score: Annotated[
        str,
        typer.Option(help="Of a file: column of the scores."),
    ] = "",
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
    """Certify a run's models, or a file's scores, for true groups near noisy ones.

    Prints the largest violation found on the noisy groups, and the exact worst case
    within the radius (ball) or under the noise (soft); 0 or less keeps the constraint.
    Under noise the shares of true groups in the rows certified are known up to limits
    that hold with 95 % confidence, and no ball is wider than they allow. Models of a
    run are certified on the test rows of each seed, and the means over seeds are
    printed; a model that decides alike for everyone is marked. The exit status is 2
    when something cannot be used.
    """
    with refusing():
        if radius is None and level is None and auxiliary is None:
            raise ValueError(
                "Give --radius, or what is known of the noise: --level or --auxiliary."
            )
        if level is not None and auxiliary is not None:
            raise ValueError("Give one of --level and --auxiliary.")
        if out is not None:
            check_one_of("--out", out.suffix, (".csv",))
        if Path(what).suffix:
            models, groups = _of_file(Path(what), score, group or [], outcome, positive)
        else:
            models, groups = _of_store(home, what)
        noise = _noise(groups, level, auxiliary)
        question = Question(constraint, slack)
        certificates = [
            certify_decisions(label, seeds, noise, question, radius)
            for label, seeds in models.items()
        ]
    rows = [each.groups.assign(model=each.label) for each in certificates]
    write(pd.concat(rows, ignore_index=True), out)
    typer.echo(
        _largest(certificates).to_string(index=False, float_format="%+.3f", na_rep="")
    )


def estimate(
    file: File,
    true: Annotated[str, typer.Option(help="Column with the true groups.")],
    recorded: Annotated[str, typer.Option(help="Column with the recorded groups.")],
    out: Annotated[
        Path | None, typer.Option(help="File to write the counts to.")
    ] = None,
) -> None:
    """Estimate the noise of groups from a sample that has true and recorded ones.

    Prints the rows by true (down) and recorded group (across), P(true | recorded), and
    how far each true group can be from the recorded one with an interval; all intervals
    hold together with 95 % confidence (Clopper and Pearson, Bonferroni). The counts are
    what methods train with as `auxiliary`, and `fairdash certify --auxiliary` takes.
    The exit status is 2 when something cannot be used.
    """
    with refusing(file):
        frame = read_table(file)
        missing = [name for name in (true, recorded) if name not in frame]
        if missing:
            raise ValueError(f"There are no columns {missing}; it has {list(frame)}.")
        check_filled(frame, (true, recorded))
        noise = estimate_noise(frame[true], frame[recorded])
    if out is not None:
        marked = noise.counts.rename(index=as_cell, columns=as_cell)
        out.write_text(write_counts(marked))
    typer.echo(f"{noise.counts}\n\nP(true | recorded)")
    typer.echo(noise.group_given_noisy.to_string(float_format="%.3f"))
    radii = noise.bounds[["general", "general_low", "general_high"]]
    named = radii.set_axis(["radius", "low", "high"], axis=1)
    typer.echo(f"\n{named.to_string(float_format='%.3f')}")


def _of_store(home: Path | None, run: str) -> tuple[Models, Labels]:
    with closing(open_store(home)) as store:
        snapshot = store.snapshot(run, curves=False)
        dataset = store.dataset(snapshot.run.dataset_id)
        finished = [
            t
            for t in snapshot.trials
            if t.status == "finished" and FOLD not in t.params
        ]
        if not finished:
            raise ValueError(f"Run {run} has no finished model to certify.")
        models: Models = {}
        for trial in finished:
            rows = Decisions.of_trial(store, dataset, trial.key, trial.seed)
            models.setdefault(_name(trial, finished), []).append(rows)
    return models, np.asarray(dataset.sensitive_features, dtype=str)


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
) -> tuple[Models, Labels]:
    if not file.is_file():
        raise ValueError(f"There is no file {file}.")
    if not (score and groups and outcome):
        raise ValueError("A file needs --score, --group and --outcome.")
    frame = read_table(file)
    missing = [name for name in (score, outcome, *groups) if name not in frame]
    if missing:
        raise ValueError(f"{file} has no columns {missing}; it has {list(frame)[:20]}.")
    check_filled(frame, (outcome, *groups))
    values = frame[outcome].astype(str)
    if positive not in set(values):
        message = f"Column {outcome!r} never is {positive!r} (--positive); it is"
        raise ValueError(f"{message} {sorted(set(values))[:5]}.")
    labels = np.asarray(cross(*(frame[name] for name in groups)), dtype=str)
    y, rows = (values == positive).to_numpy(), np.arange(len(frame))
    decided = Decisions.of_rows(rows, y, read_margins(frame[score]) > 0)
    return {score: [decided]}, labels


def _noise(groups: Labels, level: float | None, auxiliary: Path | None) -> Noise:
    if level is not None:
        return from_levels(groups, level)
    if auxiliary is not None:
        counts = read_counts(auxiliary.read_text())
        noise = estimate_from_counts(counts, expected=sorted(set(groups)))
        return from_estimate(groups, noise, "auxiliary")
    return Noise("unknown", groups)


def _largest(certificates: Sequence[Certificate]) -> pd.DataFrame:
    """Return the largest violations by model, averaged over seeds."""
    table = certificate_table(certificates).rename(columns=SHOWN)
    table.insert(1, "seeds", [len(each.largest) for each in certificates])
    shown = table.rename(columns={"label": "model", "status": "decides"})
    shown["decides"] = shown["decides"].replace("", np.nan)
    return shown[["model", "seeds", *SHOWN.values(), "decides"]].dropna(
        axis=1, how="all"
    )
