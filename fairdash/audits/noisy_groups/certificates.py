"""How many groups may be recorded wrongly before a promise of fairness breaks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import Deciding
from fairdash._wording import Kpi, in_points, number, percent
from fairdash.analysis import NOISE_CONFIDENCE, Noise, Places
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.tables.memberships import audit_memberships
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import TrialRows, tested
from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.methods.noisy_groups import soft_certificate, tv_curve
from fairdash.metrics import catalog, decision_status, views
from fairdash.scored import ScoredModel
from fairdash.store import Store

RATES = {
    "true_positive_rate_parity": "true positive rate",
    "false_positive_rate_parity": "false positive rate",
    "equalized_odds": "true or false positive rate",
    "demographic_parity": "rate of positive predictions",
}
_TPR_PARITY = "true_positive_rate_parity"
_TPR = "true_positive_rate"
_FPR = "false_positive_rate"
_MEASURES = {
    "true_positive_rate_parity": [_TPR],
    "false_positive_rate_parity": [_FPR],
    "equalized_odds": [_TPR, _FPR],
    "demographic_parity": ["selection_rate"],
}
_HOW_UNSURE = """
A row is a group: how much worse off it is than all rows. The dot weighs every row by
its probability of membership. It is right only if decisions do not depend on the group
beyond the proxy. Crosses are the least and the largest value that some true
groups with these probabilities give. The bar adds sampling error. The promise is kept
or broken if the whole bar says so.
"""
STEP = 0.001  # between two radii of a curve
FARTHEST = 0.6  # radius where nothing is known of the noise
_NONE_WRONG = 0.0005  # would be shown as 0.0%
_LEAST_SHOWN, _BEYOND = 0.1, 4  # end of the figure: a share, in shares tolerated
_KNOWING = "Knowing how often each group is behind each recorded one, P(G | Ĝ)"
_HOW = """
The line says how much worse off than all rows a group **can** be with this share
recorded wrongly. It assumes nothing about who is. Some wrong records
attain the line. The promise breaks where the line crosses the dashed one.
The share is the paper's TV radius (γ): the part of a recorded group to exchange for
the true one.
"""


class Question(NamedTuple):
    """The constraint and the slack, as `tv_certificate` takes them."""

    constraints: str
    slack: float


class Decisions(NamedTuple):
    """Rows that a model decides: where they stand, outcomes and 0/1 decisions.

    ``deciding`` says whether the decisions say anything, as every page judges it: by
    the weights and units of the rows.
    """

    where: Places
    y: NDArray[np.integer]
    decided: NDArray[np.integer]
    deciding: Deciding = Deciding()

    @classmethod
    def of(cls, rows: TrialRows, model: ScoredModel) -> Self:
        """Return what a model decides of the rows of a seed."""
        decided = rows.predictions(model)
        status = decision_status(rows.y, decided, **rows.sampling)
        return cls(rows.where, rows.y, decided, Deciding.of_status(**status.iloc[0]))


def trained_for(store: Store, model: Setting, run_id: str | None) -> str:
    """Return the constraint that a model, or else its run, was trained for.

    A plain model beside remedies is asked about the constraint of these. Equal
    opportunity, with which the paper begins, where neither names one.
    """
    settings = [(trial.method, trial.params) for trial in model.trials]
    if run_id is not None:
        trials = store.snapshot(run_id, curves=False).trials
        settings += [(trial.method, trial.params) for trial in trials]
    named = (_constraint_of(*method) for method in settings)
    return next(filter(None, named), _TPR_PARITY)


def _constraint_of(method: str, params: Mapping[str, Any]) -> str:
    """Return the constraint in the parameters of a method; "" where it has none."""
    if method not in CATALOG:
        return ""
    defaults = {param.name: param.default for param in CATALOG[method].params}
    constraint = {**defaults, **params}.get("constraints")
    return str(constraint) if constraint in RATES else ""


def decisions_of(store: Store, model: Setting, dataset_id: str) -> list[Decisions]:
    """Return what a model decides of the test rows of each of its seeds."""
    trials = tested(store, model, dataset_id, Subgroups())
    return [Decisions.of(trial.rows, trial.model) for trial in trials]


@dataclass(frozen=True, eq=False)
class RadiusCurve:
    """The exact worst case of one model at every radius, the largest of all seeds.

    Attributes
    ----------
    radii : list of float
        In steps of .001 from 0 to how far any true group can be from its noisy one on
        these rows, to 0.6 where that is not known.
    largest : list of float
        Largest violation of any group and seed at each radius.
    reach : float
        How far any true group can be exactly, with 95 % confidence, which the last step
        rounds up; NaN where that is not known.
    soft : list of float
        By seed the largest violation over all memberships that agree with the noise,
        with 95 % confidence; empty where P(G | Ĝ) is not known.
    deciding : Deciding
        Of the decisions of all seeds.
    """

    label: str
    radii: list[float]
    largest: list[float]
    reach: float
    soft: list[float]
    n_seeds: int
    deciding: Deciding

    @property
    def tolerated(self) -> float:
        """Largest radius at which the constraint is kept for every seed, else NaN."""
        n_tolerated = sum(violation <= 0 for violation in self.largest)
        return self.radii[n_tolerated - 1] if n_tolerated else float("nan")

    @property
    def shown(self) -> float:
        """Where figure and slider end: well beyond the share tolerated."""
        wide = max(_LEAST_SHOWN, _BEYOND * float(np.nan_to_num(self.tolerated)))
        return min(self.radii[-1], math.ceil(20 * wide) / 20)

    def worst(self, share: float) -> float:
        """Return the largest violation at a share, which the next step rounds up."""
        step = math.ceil(round(share / STEP, 6))
        return self.largest[min(step, len(self.largest) - 1)]

    @property
    def details(self) -> str:
        """Say what knowing P(G | Ĝ) adds; nothing where it is not known."""
        if not self.soft:
            return ""
        sure = f"{NOISE_CONFIDENCE:.0%} confidence"
        if max(self.soft) <= 0:
            return f"{_KNOWING}, the constraint is kept, {sure}."
        mean = number(float(np.mean(self.soft)))
        return f"{_KNOWING}, it is broken by at most {mean} on average, {sure}."


def radius_curve(
    label: str, seeds: Sequence[Decisions], noise: Noise, question: Question
) -> RadiusCurve:
    """Return the worst case within every radius, one entry of ``seeds`` a seed.

    No group is taken to be further than it can be on the rows certified. Raises
    ValueError when a noisy group has no rows with an outcome of the constraint.
    """
    by_seed = [noise.on(rows.where) for rows in seeds]
    far = [distance for limits in by_seed for distance in limits.reach.values()]
    most = np.ceil(max(far, default=FARTHEST) / STEP) * STEP
    radii = np.round(np.arange(0, most + STEP / 2, STEP), 6)
    largest = []
    soft = []
    for rows, limits in zip(seeds, by_seed, strict=True):
        columns = rows.y, rows.decided, noise.noisy[rows.where].astype(str)
        within = [limits.within(radius) for radius in radii.tolist()]
        table = tv_curve(*columns, within, **question._asdict())
        largest.append(table.groupby("step")["worst_violation"].max().to_numpy())
        if limits.matrix is not None:
            table = soft_certificate(
                *columns,
                limits.matrix,
                least=limits.least,
                most=limits.most,
                **question._asdict(),
            )
            soft.append(float(table["worst_violation"].max()))
    return RadiusCurve(
        label,
        radii.tolist(),
        np.max(largest, axis=0).tolist(),
        max(far, default=float("nan")),
        soft,
        len(seeds),
        Deciding.of_seeds([rows.deciding for rows in seeds]),
    )


def points_table(
    curves: Sequence[RadiusCurve], question: Question, share: float
) -> pd.DataFrame:
    """Return how many points worse off a group can be, a row for each model."""
    violation = pd.DataFrame(
        {
            "None wrong": [curve.worst(0) for curve in curves],
            f"{percent(share)} wrong": [curve.worst(share) for curve in curves],
            "P(G | Ĝ)": [np.mean(curve.soft or np.nan) for curve in curves],
        }
    )
    points = (100 * (violation + question.slack)).round(1).dropna(axis="columns")
    points.insert(0, "Model", [curve.label for curve in curves])
    return points.assign(Note=[curve.deciding.mark() for curve in curves])


def promise_verdict(curve: RadiusCurve) -> str:
    """Return up to which share of wrong records the promise holds.

    Of a model that decides alike for everyone, or no better than chance, the promise
    holds or breaks all the same, and says little.
    """
    promise = _promise_words(curve)
    if not curve.deciding.idle:
        return promise
    return f"The model {curve.deciding.predicate()}. {promise}"


def _promise_words(curve: RadiusCurve) -> str:
    share = curve.tolerated
    if math.isnan(share):
        return "The promise is broken already, with every group recorded right."
    if curve.largest[-1] <= 0:
        far = percent(float(np.fmin(curve.reach, curve.radii[-1])))
        return f"The promise holds with {far} of any group recorded wrongly."
    if share < _NONE_WRONG:
        return "The promise holds only if nearly every group is recorded right."
    most = percent(share)
    return f"The promise holds if at most {most} of any group is recorded wrongly."


def promise_answer(
    curve: RadiusCurve, question: Question, share: float, rows: str
) -> Answer:
    """Return up to which share the promise of a model holds, and its worst case.

    Parameters
    ----------
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
        promise_verdict(curve),
        _cards(curve, question.slack, share),
        Drawing("plot_worst_case", table, drawn),
        caption=f"The promise: no group's {RATES[question.constraints]} is more than "
        f"{in_points(question.slack)} points worse than that of all rows. Exact for "
        f"the {rows}{several}: other people bring an error of their own.",
        details=f"{curve.label}. {curve.details}".rstrip(),
        how=_HOW,
    )


def membership_answer(
    store: Store,
    model: Setting,
    dataset_id: str,
    memberships: pd.DataFrame,
    question: Question,
) -> Answer:
    """Return whether a promise holds for groups that are known by probability only.

    It is kept or broken if that is so for all possible true groups, with sampling
    error. ``memberships`` are probabilities in all rows; the first seed's are used.
    Raises ValueError as `fairdash.audits.tables.audit_memberships`.
    """
    first = tested(store, model, dataset_id, Subgroups())[0]
    audited = audit_memberships(
        first.rows.y,
        first.rows.predictions(first.model),
        group_probabilities=memberships.iloc[first.rows.where],
        measures=_MEASURES[question.constraints],
        **first.rows.sampling,
    )
    table = _worse_than_all(audited.gaps(to_all=True), question.slack)
    worst = table.iloc[int(table["low"].argmax())]
    most = in_points(float(table["high"].max()))
    if worst["status"] == "fail":
        least = f"at least {in_points(worst['low'])} points worse off than all rows"
        verdict = f"The promise is broken: {worst['group']} is {least}."
    elif (table["status"] == "pass").all():
        verdict = f"The promise holds: no group is more than {most} points worse off."
    else:
        verdict = f"The promise is undecided: a group may be {most} points worse off."
    words = {"headline": verdict[:-1], "axis": "worse off than all rows"}
    drawn = Drawing("plot_limits", table, words)
    return replace(audited.answer(), verdict=verdict, figure=drawn, how=_HOW_UNSURE)


def _worse_than_all(gaps: pd.DataFrame, slack: float) -> pd.DataFrame:
    better_low = gaps["measure"] == views.gap_of(_FPR)
    names = {
        views.gap_of(measure): name.lower()
        for measure, name in catalog.MEASURE_NAMES.items()
    }
    label = gaps["group"]
    if len(set(gaps["measure"])) > 1:
        label = label + ": " + gaps["measure"].map(names)
    table = gaps.assign(label=label, limit=slack, status="undecided")
    turned = {"value": "value", "low": "high", "bound_low": "bound_high"}
    for name, compared in [*turned.items(), *map(reversed, turned.items())]:
        table[name] = gaps[name].where(better_low, -gaps[compared])
    table.loc[table["low"] > slack, "status"] = "fail"
    table.loc[table["high"] <= slack, "status"] = "pass"
    return table


def _cards(curve: RadiusCurve, slack: float, share: float) -> list[Kpi]:
    share = min(share, curve.radii[-1])
    allowed = f"{in_points(slack)} points are allowed"
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
            f"{in_points(curve.worst(share) + slack)} points",
            allowed,
            help="How much worse off than all rows a group can be with at most this "
            "share recorded wrongly.",
        ),
    ]
    if not math.isnan(curve.reach):
        cards.append(
            Kpi(
                "Can be wrong",
                percent(curve.reach),
                f"at most, {NOISE_CONFIDENCE:.0%} sure",
                help="How much of a group can be recorded wrongly on these rows, from "
                "what is known of the records.",
            )
        )
    return cards
