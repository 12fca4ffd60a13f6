"""Certificates of models for true groups that are known only through noisy ones."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._wording import Kpi, alike_words, change, in_points, number, percent
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.noisy_groups.noise import Known, Noise, Places, Radius
from fairdash.datasets import Dataset, split
from fairdash.methods.noisy_groups import (
    RATE_NAMES,
    soft_certificate,
    tv_curve,
    violations,
)
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
    "not told from chance": "is not told from chance",
}
_NONE_WRONG = 0.0005  # would be shown as 0.0%
_KNOWING = "Knowing how often each group is behind each recorded one, P(G | Ĝ)"
_HOW_CERTAIN = """
Each row is a **model**. Circle: the largest violation when the noisy groups are treated
as true. Right of the dashed line the constraint is broken.

**Exact, TV ball**: the largest violation if at most the share on the slider (γ) of any
group is wrong, no group more than it can be on the rows certified.
**Exact, soft**: the largest for whom the recorded groups may stand, knowing how often
each true group is behind each recorded one, P(G | Ĝ). Models that decide alike for
everyone, or as chance might, are grey and not counted.
"""
STEP = 0.001  # between two radii of a curve
START, FARTHEST = 0.1, 0.6  # radii where nothing is known of the noise


class Question(NamedTuple):
    """What is asked of every model: see `fairdash.methods.noisy_groups.violations`."""

    constraints: str
    slack: float


@dataclass(frozen=True, eq=False)
class Decisions:
    """Rows that a model decides: where they stand, outcomes, 0/1 decisions, scores."""

    where: Places
    y: NDArray[np.int64]
    decided: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None

    @classmethod
    def of_trial(
        cls, store: Store, dataset: Dataset, key: str, seed: int, part: str = "test"
    ) -> "Decisions":
        """Return the test, or other, rows of a trial's split, decided at one half."""
        where = getattr(split(dataset, seed), part)
        scores = store.artifact(key).scores()
        return cls.of_rows(where, dataset.y, scores > 0.5, scores)

    @classmethod
    def of_split(
        cls,
        dataset: Dataset,
        seed: int,
        positive: ArrayLike,
        scores: ArrayLike | None = None,
    ) -> "Decisions":
        """Return the test rows of a split, decided as all rows of the table are."""
        return cls.of_rows(split(dataset, seed).test, dataset.y, positive, scores)

    @classmethod
    def of_all(
        cls, y: ArrayLike | None, positive: ArrayLike, scores: ArrayLike | None = None
    ) -> "Decisions":
        """Return all rows of a file."""
        return cls.of_rows(np.arange(len(np.asarray(positive))), y, positive, scores)

    @classmethod
    def of_rows(
        cls,
        where: Places,
        y: ArrayLike | None,
        positive: ArrayLike,
        scores: ArrayLike | None = None,
    ) -> "Decisions":
        """Return some rows of a table; without outcomes all are 0."""
        known = None if scores is None else np.asarray(scores, np.float64)[where]
        decided = np.asarray(positive)[where].astype(np.int64)
        outcome = np.zeros_like(decided) if y is None else np.asarray(y)[where]
        return cls(where, outcome.astype(np.int64), decided, known)

    @property
    def status(self) -> str:
        """What `decision_status` says: "" for a model that decides."""
        return str(decision_status(self.y, self.decided)["status"].iloc[0])


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
        over seeds; NaN where that is not known.
    confidence : float or None
        With which that and ``soft`` hold; None where nothing is known.
    status : str
        Of `Decisions`, the first that any seed has.
    """

    label: str
    groups: pd.DataFrame
    largest: pd.DataFrame
    reach: float
    confidence: float | None
    status: str

    @property
    def means(self) -> dict[str, float]:
        """Largest violation of each kind, averaged over seeds."""
        return {kind: float(self.largest[kind].mean()) for kind in KINDS}

    @property
    def row(self) -> dict[str, str | float]:
        """Label, mean violations over seeds, whether each seed's ball keeps, status."""
        kept = self.kept("ball") == len(self.largest)
        return {"label": self.label, **self.means, "kept": kept, "status": self.status}

    def kept(self, kind: str) -> int:
        """Return on how many seeds' rows the largest violation is at most 0."""
        return int((self.largest[kind] <= 0).sum())

    def verdict(self, kind: str) -> str:
        """Say whether the constraint is kept, on all splits, on some or on none."""
        kept, n = self.kept(kind), len(self.largest)
        if 0 < kept < n:
            return f"keeps the constraint on {kept} of {n} splits"
        return "keeps the constraint" if kept else "breaks the constraint"

    def covered(self, radius: float) -> float:
        """Return how far the ball reaches: ``radius``, or as far as true groups can."""
        return float(np.fmin(radius, self.reach))

    def words(
        self,
        question: Question,
        radius: float,
        rows: str,
        tolerated: float | None = None,
        label: Callable[[str], str] = str,
    ) -> str:
        """Say how many groups could be recorded wrongly, and what that can do.

        Parameters
        ----------
        question : Question
        radius : float
            Of total variation.
        rows : str
            What the rows are called, such as "test rows".
        tolerated : float, optional
            `RadiusCurve.tolerated` of the model.
        label : callable, default=str
            What a group is called.
        """
        if self.status:
            return f"{alike_words(self.label)} It {STATUS_WORDS[self.status]}."
        rate, n = RATES[question.constraints], len(self.largest)
        share = self.covered(radius)
        far = (
            f"With up to {percent(share)} of a group recorded wrongly "
            f"(γ = {number(share)}"
        )
        far += f", as far as can be{self._sure})" if radius >= self.reach else ")"
        allowed = f"{in_points(question.slack)} points"
        kept = self.kept("ball")
        if kept == n:
            more = ""
            if tolerated is not None and tolerated > share:
                more = f" It would hold with up to {percent(tolerated)}."
            return (
                f"{self.label}: guaranteed. {far}, no group's {rate} is more than "
                f"{allowed} worse than that of all {rows}.{more}"
            )
        worst = in_points(self.means["ball"] + question.slack)
        mean = f", averaged over {n} splits" if n > 1 else ""
        some = f" It holds on {kept} of {n} splits." if kept else ""
        beyond = ""
        if tolerated is not None:
            beyond = f" beyond {percent(tolerated)} of a group recorded wrongly"
            if np.isnan(tolerated):
                beyond = ", even with every group recorded right"
            elif tolerated < _NONE_WRONG:
                beyond = ", unless nearly every row's group is recorded right"
        return (
            f"{self.label}: not guaranteed{beyond}. {far}, the {self._worst_of(label)} "
            f"can be {worst} points worse than that of all {rows}{mean}; {allowed} are "
            f"allowed.{some}"
        )

    def brief(self, radius: float, tolerated: float | None = None) -> str:
        """Say how many groups may be recorded wrongly, in at most 20 words."""
        if self.status:
            return f"{self.label} decides alike for nearly everyone."
        if tolerated is None:
            kept = self.kept("ball") == len(self.largest)
            share = percent(self.covered(radius))
            verb = "holds" if kept else "breaks"
            return f"The promise {verb} with up to {share} of a group recorded wrongly."
        if np.isnan(tolerated):
            return "The promise is broken even if every group is recorded correctly."
        if tolerated < _NONE_WRONG:
            return "The promise holds only if nearly every group is recorded correctly."
        share = percent(tolerated)
        return f"The promise holds if at most {share} of a group are recorded wrongly."

    def _worst_of(self, label: Callable[[str], str]) -> str:
        """Name the rate and the group that can be furthest off, and on which splits."""
        ball, n = self.groups[self.groups["kind"] == "ball"], len(self.largest)
        most = ball.loc[ball.groupby("seed")["worst_violation"].idxmax()]
        found = Counter(zip(most["rate"], most["group"], strict=True))
        ((rate, group), times), *others = found.most_common()
        more = "others"
        if len(others) == 1:
            ((other, name), _), *_ = others
            more = label(str(name))
            more += "" if other == rate else f", {RATE_NAMES[other]},"
        more = f" (on {times} of {n} splits; of {more} on the rest)" if others else ""
        return f"{RATE_NAMES[rate]} of {label(str(group))}{more}"

    @property
    def _sure(self) -> str:
        return "" if self.confidence is None else f", {self.confidence:.0%} confidence"

    def kpis(self, radius: float) -> list[Kpi]:
        """Return the violation on noisy groups, and how bad it can be."""
        means = self.means
        return [
            Kpi(
                "On noisy groups",
                change(means["noisy"]),
                self.verdict("noisy"),
                help="Largest violation when the noisy groups are treated as true, "
                "averaged over seeds; 0 or less keeps the constraint.",
            ),
            Kpi(
                "Exact certificate",
                change(means["ball"]),
                f"worst case, γ ≤ {number(self.covered(radius))}",
                help="The largest violation that groups within this total variation of "
                "the noisy ones can show, none further than it can be on these rows. "
                "Some such groups attain it.",
            ),
        ]

    def details(self, radius: float) -> str:
        """Say how far true groups may be, and what knowing P(G | Ĝ) would add."""
        n, parts = len(self.largest), []
        if np.isnan(self.reach):
            parts.append("How far true groups are from noisy ones is not known.")
        elif radius < self.reach:
            parts.append(f"True groups may be {number(self.reach)} away{self._sure}.")
        if self.kept("soft") == n:
            parts.append(f"{_KNOWING}, the constraint is kept{self._sure}.")
        elif self.largest["soft"].notna().any():
            mean = f", averaged over {n} splits" if n > 1 else ""
            soft = f"{number(self.means['soft'])}{mean}{self._sure}"
            parts.append(f"{_KNOWING}, it is broken by at most {soft}.")
        return " ".join(parts)


def certify_decisions(
    label: str,
    seeds: Sequence[Decisions],
    noise: Noise,
    question: Question,
    radius: Radius | None = None,
) -> Certificate:
    """Certify a model on the rows that it decided, one entry of ``seeds`` a seed.

    ``radius`` is of total variation, for all groups or by name; no group is taken to be
    further than it can be on the rows certified, which None stands for. Raises
    ValueError when a noisy group has no rows with an outcome of the constraint, or
    nothing is known of it.
    """
    terms = question._asdict()
    parts, largest, known = [], [], []
    for seed, rows in enumerate(seeds):
        on = noise.on(rows.where)
        known.append(on)
        noisy = noise.noisy[rows.where].astype(str)
        given = (rows.y, rows.decided, noisy)
        found = {"noisy": violations(*given, **terms)}
        balls = on.within(radius)
        if balls is not None:
            found["ball"] = tv_curve(*given, [balls], **terms).drop(columns="step")
        if on.matrix is not None:
            found["soft"] = soft_certificate(
                *given,
                on.matrix,
                least=on.least,
                most=on.most,
                true_groups=list(on.matrix.columns),
                **terms,
            )
        parts += [one.assign(kind=kind, seed=seed) for kind, one in found.items()]
        largest.append(_largest(found))
    return Certificate(
        label=label,
        groups=pd.concat(parts, ignore_index=True),
        largest=pd.DataFrame(largest, columns=KINDS),
        reach=_reach(known),
        confidence=known[0].confidence,
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
    start : float
        The largest of them, 0.1 where nothing is known.
    reach : float
        How far any true group can be exactly, which the last step rounds up; 0.6.
    largest, kept : list
        Largest violation of any group at each radius, and whether it is at most 0 for
        every seed.
    groups : list of dict
        By group: ``name``, ``rate`` of the noisy group, ``limit`` at which the
        constraint is broken, and at each radius ``worst`` and ``violation``.
    """

    radii: list[float]
    start: float
    reach: float
    largest: list[float]
    kept: list[bool]
    groups: list[dict[str, object]]

    @property
    def tolerated(self) -> float:
        """Largest radius at which the constraint is kept for every seed, else NaN."""
        return self.radii[sum(self.kept) - 1] if any(self.kept) else float("nan")


def radius_curve(
    seeds: Sequence[Decisions],
    noise: Noise,
    question: Question,
    label: Callable[[str], str] = str,
) -> RadiusCurve:
    """Return the worst case within every radius; see `certify_decisions`.

    ``label`` says what a group is called.
    """
    known = [noise.on(rows.where) for rows in seeds]
    reach = _reach(known)
    farthest = FARTHEST if np.isnan(reach) else reach
    most = np.ceil(farthest / STEP) * STEP
    radii = np.round(np.arange(0, most + STEP / 2, STEP), 6)
    found: list[pd.DataFrame] = []
    for rows, on in zip(seeds, known, strict=True):
        noisy = noise.noisy[rows.where].astype(str)
        within = [on.within(radius) for radius in radii.tolist()]
        table = tv_curve(rows.y, rows.decided, noisy, within, **question._asdict())
        found.append(table.assign(seed=len(found)))
    table = pd.concat(found, ignore_index=True)
    sign = np.where(table["rate"] == "fpr", 1, -1)
    table["limit"] = table["overall"] + sign * question.slack
    largest = table.groupby(["seed", "step"])["worst_violation"].max()
    groups = []
    several = len(table["rate"].unique()) > 1
    for (rate, group), part in table.groupby(["rate", "group"], sort=False):
        by_step = part.groupby("step")[["worst", "worst_violation"]].mean()
        name = label(str(group))
        groups.append(
            {
                "name": f"{name}, {str(rate).upper()}" if several else name,
                "rate": float(part["value"].mean()),
                "limit": float(part["limit"].mean()),
                "worst": by_step["worst"].round(6).tolist(),
                "violation": by_step["worst_violation"].round(6).tolist(),
            }
        )
    by_radius = largest.groupby("step").mean().round(6).tolist()
    kept = (largest.groupby("step").max() <= 0).tolist()
    start = START if np.isnan(reach) else float(radii[-1])
    return RadiusCurve(radii.tolist(), start, farthest, by_radius, kept, groups)


def certificate_table(certificates: Sequence[Certificate]) -> pd.DataFrame:
    """Return one row for each model: label, mean largest violations, status."""
    rows = [certificate.row for certificate in certificates]
    return pd.DataFrame(rows, columns=["label", *KINDS, "kept", "status"])


def certificates_answer(
    certificate: Certificate,
    radius: float,
    words: str,
    beside: Iterable[Certificate],
    rows: str,
    tolerated: float | None = None,
) -> Answer:
    """Return what is certain of a model, with the figure of models beside it.

    ``words`` are of `Certificate.words`, ``rows`` those that certificates are of, and
    ``tolerated`` is the model's `RadiusCurve.tolerated`.
    """
    return Answer(
        certificate.brief(radius, tolerated),
        certificate.kpis(radius),
        Drawing("plot_certificates", certificate_table(list(beside))),
        caption=f"{rows}.",
        details=f"{words} {certificate.details(radius)}".rstrip(),
        how=_HOW_CERTAIN,
    )


def _largest(found: dict[str, pd.DataFrame]) -> list[float]:
    """Return the largest violation of each kind, in the order of `KINDS`."""
    columns = {
        "noisy": ("noisy", "violation"),
        "soft": ("soft", "worst_violation"),
        "ball": ("ball", "worst_violation"),
    }
    return [
        float(found[kind][column].max())
        if kind in found and column in found[kind]
        else float("nan")
        for kind, column in columns.values()
    ]


def _reach(known: Sequence[Known]) -> float:
    return max((one for on in known for one in on.reach.values()), default=float("nan"))
