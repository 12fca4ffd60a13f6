"""Certificates of models for true groups that are known only through noisy ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._wording import number
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.noisy_groups.noise import Known, Noise, Places, Radius
from fairdash.datasets import Dataset, split
from fairdash.methods.noisy_groups import (
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
    "not told from chance": "decides no better than chance",
}
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
FARTHEST = 0.6  # radius where nothing is known of the noise


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

    def covered(self, radius: float) -> float:
        """Return how far the ball reaches: ``radius``, or as far as true groups can."""
        return float(np.fmin(radius, self.reach))

    @property
    def _sure(self) -> str:
        return "" if self.confidence is None else f", {self.confidence:.0%} confidence"

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


def radius_curve(
    seeds: Sequence[Decisions], noise: Noise, question: Question
) -> RadiusCurve:
    """Return the worst case within every radius; see `certify_decisions`."""
    known = [noise.on(rows.where) for rows in seeds]
    reach = _reach(known)
    farthest = FARTHEST if np.isnan(reach) else reach
    most = np.ceil(farthest / STEP) * STEP
    radii = np.round(np.arange(0, most + STEP / 2, STEP), 6)
    largest = []
    for rows, on in zip(seeds, known, strict=True):
        noisy = noise.noisy[rows.where].astype(str)
        within = [on.within(radius) for radius in radii.tolist()]
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
    rows = [certificate.row for certificate in certificates]
    return pd.DataFrame(rows, columns=["label", *KINDS, "kept", "status"])


def models_answer(certificates: Iterable[Certificate], rows: str) -> Answer:
    """Return the largest violations of several models; ``rows`` they are of."""
    table = certificate_table(list(certificates))
    drawing = Drawing("plot_certificates", table)
    return Answer("", figure=drawing, caption=f"{rows}.", how=_HOW_CERTAIN)


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
