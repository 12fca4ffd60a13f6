"""How many groups may be recorded wrongly before a promise of fairness breaks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import Kpi, in_points, number, percent
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.noisy_groups.noise import CONFIDENCE, Known, Noise, Places
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Rows, tested
from fairdash.datasets import Subgroups
from fairdash.methods.noisy_groups import soft_certificate, tv_curve, violations
from fairdash.metrics import decision_status
from fairdash.store import Store

KINDS = ["noisy", "soft", "ball"]
RATES = {
    "true_positive_rate_parity": "true positive rate",
    "false_positive_rate_parity": "false positive rate",
    "equalized_odds": "true or false positive rate",
    "demographic_parity": "rate of positive predictions",
}
STATUS_WORDS = {
    "accepts all": "accepts everyone",
    "accepts none": "accepts no one",
    "not told from chance": "decides no better than chance",
}
STEP = 0.001  # between two radii of a curve
FARTHEST = 0.6  # radius where nothing is known of the noise
_NONE_WRONG = 0.0005  # would be shown as 0.0%
_LEAST_SHOWN, _BEYOND = 0.1, 4  # end of the figure: a share, in shares tolerated
_KNOWING = "Knowing how often each group is behind each recorded one, P(G | Ĝ)"
_HOW = """
For each share of a group that may be recorded wrongly: how much worse off than all
rows the worst group **can** be. Nothing is assumed of who is recorded wrongly; some
wrong records attain the line. The promise breaks where the line crosses the dashed one.
The share is the paper's TV radius (γ): the part of a group that would have to be
exchanged to make the recorded group the true one.
"""


class Question(NamedTuple):
    """What is asked of every model: see `fairdash.methods.noisy_groups.violations`."""

    constraints: str
    slack: float


class Decisions(NamedTuple):
    """Rows that a model decides: where they stand, outcomes and 0/1 decisions."""

    where: Places
    y: NDArray[np.integer]
    decided: NDArray[np.integer]

    @classmethod
    def of_rows(cls, rows: Rows, key: str) -> "Decisions":
        """Return the decisions of a trial, by the rule of its key."""
        return cls(rows.where, rows.y, rows.predictions(key))

    @property
    def status(self) -> str:
        """What `decision_status` says: "" for a model that decides."""
        return str(decision_status(self.y, self.decided)["status"].iloc[0])


def decisions_of(store: Store, model: Setting, dataset_id: str) -> list[Decisions]:
    """Return what a model decides of the test rows of each of its seeds."""
    trials = tested(store, model, dataset_id, Subgroups())
    return [Decisions.of_rows(trial.rows, trial.key) for trial in trials]


@dataclass(frozen=True, eq=False)
class Certificate:
    """What is certain of one model.

    Attributes
    ----------
    groups : DataFrame
        One row for each seed, kind ("ball", "soft", "noisy"), rate and group, as of
        `tv_curve`, `soft_certificate` and `violations`.
    largest : DataFrame
        By seed the largest violation on the ``noisy`` groups, over all ``soft``
        memberships that agree with the noise and over the ``ball``; NaN where unknown.
    reach : float
        How far any true group can be from its noisy one on these rows, the largest
        over seeds; NaN where that is not known. It holds with 95 % confidence, as does
        ``soft``.
    status : str
        Of `Decisions`, the first that any seed has.
    """

    label: str
    groups: pd.DataFrame
    largest: pd.DataFrame
    reach: float
    status: str

    @property
    def means(self) -> dict[str, float]:
        """Largest violation of each kind, averaged over seeds."""
        return {kind: float(self.largest[kind].mean()) for kind in KINDS}

    def kept(self, kind: str) -> int:
        """Return on how many seeds' rows the largest violation is at most 0."""
        return int((self.largest[kind] <= 0).sum())

    def covered(self, radius: float) -> float:
        """Return how far the ball reaches: ``radius``, or as far as true groups can."""
        return float(np.fmin(radius, self.reach))

    @property
    def details(self) -> str:
        """Say what knowing P(G | Ĝ) adds; nothing where it is not known."""
        if self.largest["soft"].isna().all():
            return ""
        sure = f"{CONFIDENCE:.0%} confidence"
        if self.kept("soft") == len(self.largest):
            return f"{_KNOWING}, the constraint is kept, {sure}."
        mean = number(self.means["soft"])
        return f"{_KNOWING}, it is broken by at most {mean} on average, {sure}."


def certify_decisions(
    label: str,
    seeds: Sequence[Decisions],
    noise: Noise,
    question: Question,
    radius: float | None = None,
) -> Certificate:
    """Certify a model on the rows that it decided, one entry of ``seeds`` a seed.

    ``radius`` is of total variation; no group is taken to be further than it can be on
    the rows certified, which None stands for. Raises
    ValueError when a noisy group has no rows with an outcome of the constraint, or
    nothing is known of it.
    """
    terms = question._asdict()
    parts, largest, known_rows = [], [], []
    for seed, rows in enumerate(seeds):
        known = noise.on(rows.where)
        known_rows.append(known)
        columns = rows.y, rows.decided, noise.noisy[rows.where].astype(str)
        tables = {"noisy": violations(*columns, **terms)}
        worst = {"noisy": tables["noisy"]["violation"].max()}
        if (balls := known.within(radius)) is not None:
            tables["ball"] = tv_curve(*columns, [balls], **terms).drop(columns="step")
        if known.matrix is not None:
            tables["soft"] = soft_certificate(
                *columns,
                known.matrix,
                least=known.least,
                most=known.most,
                true_groups=list(known.matrix.columns),
                **terms,
            )
        for kind in tables.keys() - worst.keys():
            worst[kind] = tables[kind]["worst_violation"].max()
        parts += [table.assign(kind=kind, seed=seed) for kind, table in tables.items()]
        largest.append(worst)
    return Certificate(
        label=label,
        groups=pd.concat(parts, ignore_index=True),
        largest=pd.DataFrame(largest, columns=KINDS, dtype=float),
        reach=_reach(known_rows),
        status=next(filter(None, (rows.status for rows in seeds)), ""),
    )


@dataclass(frozen=True, eq=False)
class RadiusCurve:
    """The exact worst case of one model at every radius, averaged over seeds.

    Attributes
    ----------
    radii : list of float
        In steps of .001 from 0 to how far any true group can be from its noisy one on
        these rows, to 0.6 where that is not known.
    reach : float
        How far any true group can be exactly, which the last step rounds up; 0.6.
    largest, kept : list
        Largest violation of any group at each radius, and whether it is at most 0 for
        every seed.
    n_seeds : int
        How many splits it is over.
    """

    radii: list[float]
    reach: float
    largest: list[float]
    kept: list[bool]
    n_seeds: int

    @property
    def tolerated(self) -> float:
        """Largest radius at which the constraint is kept for every seed, else NaN."""
        return self.radii[sum(self.kept) - 1] if any(self.kept) else float("nan")

    @property
    def shown(self) -> float:
        """Where figure and slider end: well beyond the share tolerated."""
        wide = max(_LEAST_SHOWN, _BEYOND * float(np.nan_to_num(self.tolerated)))
        return min(self.radii[-1], math.ceil(20 * wide) / 20)


def radius_curve(
    seeds: Sequence[Decisions], noise: Noise, question: Question
) -> RadiusCurve:
    """Return the worst case within every radius; see `certify_decisions`."""
    known_rows = [noise.on(rows.where) for rows in seeds]
    reach = _reach(known_rows)
    farthest = FARTHEST if np.isnan(reach) else reach
    most = np.ceil(farthest / STEP) * STEP
    radii = np.round(np.arange(0, most + STEP / 2, STEP), 6)
    largest = []
    for rows, known in zip(seeds, known_rows, strict=True):
        noisy = noise.noisy[rows.where].astype(str)
        within = [known.within(radius) for radius in radii.tolist()]
        table = tv_curve(rows.y, rows.decided, noisy, within, **question._asdict())
        largest.append(table.groupby("step")["worst_violation"].max().to_numpy())
    return RadiusCurve(
        radii.tolist(),
        farthest,
        np.mean(largest, axis=0).round(6).tolist(),
        (np.max(largest, axis=0) <= 0).tolist(),
        len(seeds),
    )


def certificate_table(certificates: Sequence[Certificate]) -> pd.DataFrame:
    """Return one row for each model: label, mean largest violations, status."""
    rows = [{"label": c.label, **c.means, "status": c.status} for c in certificates]
    return pd.DataFrame(rows, columns=["label", *KINDS, "status"])


def points_table(
    certificates: Sequence[Certificate], question: Question, share: float
) -> pd.DataFrame:
    """Return how many points worse off a group can be, a row for each model."""
    table = certificate_table(certificates).dropna(axis="columns", how="all")
    titles = {
        "noisy": "None wrong",
        "ball": f"{percent(share)} wrong",
        "soft": "P(G | Ĝ)",
    }
    for kind in set(titles) & set(table):
        table[kind] = (100 * (table[kind] + question.slack)).round(1)
    return table.rename(columns={"label": "Model", "status": "Note", **titles})


def promise_verdict(certificate: Certificate, curve: RadiusCurve) -> str:
    """Return up to which share of wrong records the promise holds, in 20 words."""
    share = curve.tolerated
    if certificate.status:
        why = STATUS_WORDS[certificate.status]
        return f"There is no promise to keep: the model {why}."
    if math.isnan(share):
        return "The promise is broken already, with every group recorded right."
    if all(curve.kept):
        far = percent(min(curve.reach, curve.radii[-1]))
        return f"The promise holds with {far} of any group recorded wrongly."
    if share < _NONE_WRONG:
        return "The promise holds only if nearly every group is recorded right."
    most = percent(share)
    return f"The promise holds if at most {most} of any group is recorded wrongly."


def promise_answer(
    certificate: Certificate,
    curve: RadiusCurve,
    question: Question,
    share: float,
    rows: str,
) -> Answer:
    """Return up to which share the promise of a model holds, and its worst case.

    Parameters
    ----------
    certificate : Certificate
        Of the model, at ``share``.
    curve : RadiusCurve
    question : Question
    share : float
        Share of a group that may be recorded wrongly.
    rows : str
        What the rows are called, such as "test rows".
    """
    table = pd.DataFrame({"share": curve.radii, "worst": curve.largest})
    table = table[table["share"] <= max(share, curve.shown) + 1e-9]
    table = table.assign(worst=table["worst"] + question.slack)
    drawn = {"slack": question.slack, "share": share, "tolerated": curve.tolerated}
    several = f", on each of {curve.n_seeds} splits" if curve.n_seeds > 1 else ""
    return Answer(
        promise_verdict(certificate, curve),
        _cards(certificate, curve, question.slack, share),
        Drawing("plot_worst_case", table, drawn),
        caption=f"The promise: no group's {RATES[question.constraints]} is more than "
        f"{in_points(question.slack)} points worse than that of all rows. Exact for "
        f"the {rows}{several}: other people bring an error of their own.",
        details=f"{certificate.label}. {certificate.details}".rstrip(),
        how=_HOW,
    )


def _cards(
    certificate: Certificate, curve: RadiusCurve, slack: float, share: float
) -> list[Kpi]:
    """Return the share tolerated, the worst case and what the records show."""
    share = certificate.covered(share)
    means, allowed = certificate.means, f"{in_points(slack)} points are allowed"
    tolerated = "none" if math.isnan(curve.tolerated) else percent(curve.tolerated)
    cards = [
        Kpi(
            "May be wrong",
            tolerated,
            "of any group, at most",
            help="The largest share of a group that may be recorded wrongly with the "
            "promise still kept on every split.",
        ),
        Kpi(
            f"Worst, {percent(share)} wrong",
            f"{in_points(means['ball'] + slack)} points",
            allowed,
            help="How much worse off than all rows a group can be, if at most this "
            "share of it is recorded wrongly.",
        ),
        Kpi(
            "Worst, none wrong",
            f"{in_points(means['noisy'] + slack)} points",
            allowed,
            help="How much worse off the worst group is if every group is recorded "
            "right.",
        ),
    ]
    if not math.isnan(certificate.reach):
        cards.append(
            Kpi(
                "Can be wrong",
                percent(certificate.reach),
                f"at most, {CONFIDENCE:.0%} sure",
                help="How much of a group can be recorded wrongly on these rows, from "
                "what is known of the records.",
            )
        )
    return cards


def _reach(known_rows: Sequence[Known]) -> float:
    far = [distance for known in known_rows for distance in known.reach.values()]
    return max(far, default=float("nan"))
