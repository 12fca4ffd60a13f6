"""Print what is certain of true groups that are known only through noisy ones."""

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from fairdash.audits import Noise, certificates, trials
from fairdash.cli._options import Constraint, Home, Run, echo_table, refusing
from fairdash.datasets import read_table
from fairdash.store import open_store

Labels = NDArray[Any]
Models = dict[str, list[certificates.Decisions]]


def certify(
    run: Run,
    radius: Annotated[
        float | None, typer.Option(help="TV radius of every group.")
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="Share of wrong groups set by hand, the same for all."),
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(help="File of people with both groups, instead of a level."),
    ] = None,
    true: Annotated[
        str, typer.Option(help="Column of the true groups in the sample.")
    ] = "",
    recorded: Annotated[
        str, typer.Option(help="Column of the recorded groups in the sample.")
    ] = "",
    constraint: Constraint = "true_positive_rate_parity",
    slack: Annotated[float, typer.Option(help="By how much a rate may be worse.")] = 0,
    home: Home = None,
) -> None:
    """Certify a run's models for true groups near noisy ones.

    Prints how many points worse than all rows a group can be: with no wrong record,
    within the radius (rounded up to .001), and under the noise, P(G | Ĝ). Under noise
    the shares of true groups are known up to limits that hold with 95 % confidence, and
    no radius is wider than they allow. These are means over the test rows of each seed;
    a model that decides alike for everyone is marked. The exit status is 2 when
    something cannot be used.
    """
    with refusing():
        if radius is None and level is None and sample is None:
            raise ValueError(
                "Give --radius, or what is known of the noise: --level or --sample."
            )
        if radius is not None and not 0 <= radius <= certificates.FARTHEST:
            raise ValueError(
                f"--radius must be in [0, {certificates.FARTHEST}], got {radius:g}."
            )
        if level is not None and sample is not None:
            raise ValueError("Give one of --level and --sample.")
        models, groups = _of_store(home, run)
        noise = _noise(groups, level, sample, true, recorded)
        question = certificates.Question(constraint, slack)
        curves = [
            certificates.radius_curve(label, seeds, noise, question)
            for label, seeds in models.items()
        ]
    # By default as far as any of the curves says something.
    if radius is None:
        radius = max(curve.reach for curve in curves)
    echo_table(certificates.points_table(curves, question, radius))


def _of_store(home: Path | None, run: str) -> tuple[Models, Labels]:
    """Return the decisions of each model of a run, and the groups of the rows."""
    with closing(open_store(home)) as store:
        dataset_id = store.run(run).dataset_id
        models = {
            model.label: certificates.decisions_of(store, model, dataset_id)
            for model in trials.known_models_of(store, [run])
        }
        if not models:
            raise ValueError(f"Run {run} has no finished model to certify.")
        groups = store.dataset(dataset_id).sensitive_features
        return models, np.asarray(groups, dtype=str)


def _noise(
    groups: Labels, level: float | None, sample: Path | None, true: str, recorded: str
) -> Noise:
    """Return the noise that the options describe; unknown if they describe none."""
    if level is not None:
        return Noise.from_level(groups, level)
    if sample is None:
        return Noise("unknown", groups)
    frame = read_table(sample)
    missing = [name for name in (true, recorded) if name not in frame]
    if missing:
        raise ValueError(
            f"{sample} has no columns {missing} (--true, --recorded); it has "
            f"{list(frame)[:20]}."
        )
    return Noise.from_sample(groups, frame, true, recorded)
