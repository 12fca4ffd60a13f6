"""Print what is certain of true groups that are known only through noisy ones."""

from collections.abc import Mapping, Sequence
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
    own_scores,
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
from fairdash.store import Store, TrialRecord, open_store
from fairdash.sweep import FOLD

Labels = NDArray[Any]
Models = dict[str, list[Decisions]]
SHOWN = {"noisy": "found", "ball": "ball", "soft": "soft"}


def certify(
    what: Annotated[
        str,
        typer.Argument(
            help="Id of a run, of a data set with own scores, or a CSV or Parquet file "
            "of scores."
        ),
    ],
    radius: Annotated[
        list[str] | None,
        typer.Option(
            help="TV radius for all groups, or NAME=RADIUS, repeated, for each."
        ),
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
        typer.Option(
            help="Of a file: column of the scores. Of a data set: their name."
        ),
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
    """Certify models for true groups near the noisy ones, own scores, or a file's.

    Prints the largest violation found on the noisy groups, and the exact worst case
    within the radius (ball) or under the noise (soft); 0 or less keeps the constraint.
    Under noise the shares of true groups in the rows certified are known up to limits
    that hold with 95 % confidence, and no ball is wider than they allow. Models of a
    run are certified on the test rows of each seed, and the means over seeds are
    printed; a model that decides alike for everyone is marked. Own scores of a data
    set, its columns and those added later, are certified on all rows. The exit status
    is 2 when something cannot be used.
    """
    with refusing():
        if not radius and level is None and auxiliary is None:
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
            models, groups = _of_store(home, what, score)
        known = _noise(groups, level, auxiliary)
        question, radii = Question(constraint, slack), _radii(radius or [])
        found = [
            certify_decisions(label, seeds, known, question, radii)
            for label, seeds in models.items()
        ]
    rows = [one.groups.assign(model=one.label) for one in found]
    write(pd.concat(rows, ignore_index=True), out)
    typer.echo(_largest(found).to_string(index=False, float_format="%+.3f", na_rep=""))


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
        known = estimate_noise(frame[true], frame[recorded])
    if out is not None:
        marked = known.counts.rename(index=as_cell, columns=as_cell)
        out.write_text(write_counts(marked))
    typer.echo(f"{known.counts}\n\nP(true | recorded)")
    typer.echo(known.group_given_noisy.to_string(float_format="%.3f"))
    radii = known.bounds[["general", "general_low", "general_high"]]
    named = radii.set_axis(["radius", "low", "high"], axis=1)
    typer.echo(f"\n{named.to_string(float_format='%.3f')}")


def _of_store(home: Path | None, what: str, score: str) -> tuple[Models, Labels]:
    with closing(open_store(home)) as store:
        if what in {record.id for record in store.datasets()}:
            return _of_dataset(store, what, score)
        snapshot = store.snapshot(what, curves=False)
        dataset = store.dataset(snapshot.run.dataset_id)
        finished = [
            t
            for t in snapshot.trials
            if t.status == "finished" and FOLD not in t.params
        ]
        if not finished:
            raise ValueError(f"Run {what} has no finished model to certify.")
        models: Models = {}
        for trial in finished:
            rows = Decisions.of_trial(store, dataset, trial.key, trial.seed)
            models.setdefault(_name(trial, finished), []).append(rows)
    return models, np.asarray(dataset.sensitive_features, dtype=str)


def _of_dataset(store: Store, dataset_id: str, name: str) -> tuple[Models, Labels]:
    """Return the decisions of a data set's own scores on all rows."""
    dataset, known = store.dataset(dataset_id), own_scores(store, dataset_id)
    if not known:
        raise ValueError(
            f"Data set {dataset_id} has no own scores to certify; add some by "
            "`fairdash data scores add`, or give the id of a run."
        )
    if name:
        check_one_of("--score", name, [one.column for one in known])
    models = {
        one.column: [
            Decisions.of_all(dataset.y, one.decisions(store.score_values(dataset, one)))
        ]
        for one in known
        if name in ("", one.column)
    }
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


def _radii(given: Sequence[str]) -> float | Mapping[str, float] | None:
    """Return a number, a mapping from group to number, or None."""
    pairs = [text.rpartition("=")[::2] for text in given]
    try:
        known = {name: float(number) for name, number in pairs}
    except ValueError as error:
        message = "`--radius` must be a number or NAME=NUMBER"
        raise ValueError(f"{message}, got {', '.join(given)}.") from error
    return known.get("", known) if len(known) == 1 else known or None


def _noise(groups: Labels, level: float | None, auxiliary: Path | None) -> Noise:
    if level is not None:
        return from_levels(groups, level)
    if auxiliary is not None:
        counts = read_counts(auxiliary.read_text())
        known = estimate_from_counts(counts, expected=sorted(set(groups)))
        return from_estimate(groups, known, "auxiliary")
    return Noise("unknown", groups)


def _largest(found: Sequence[Certificate]) -> pd.DataFrame:
    """Return the largest violations by model, averaged over seeds."""
    table = certificate_table(found).rename(columns=SHOWN)
    table.insert(1, "seeds", [len(one.largest) for one in found])
    shown = table.rename(columns={"label": "model", "status": "decides"})
    shown["decides"] = shown["decides"].replace("", np.nan)
    return shown[["model", "seeds", *SHOWN.values(), "decides"]].dropna(
        axis=1, how="all"
    )
