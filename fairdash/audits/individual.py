"""Individual fairness of stored models: flips, certificates, and their words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import value_labels
from fairdash._wording import (
    Kpi,
    count,
    in_points,
    interval,
    listing,
    number,
    percent,
    plural,
)
from fairdash.audits.audited_model import AuditedModel, AuditRows, Flips
from fairdash.audits.counterparts import Counterparts
from fairdash.audits.fair_metrics import Yardstick
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.datasets import Dataset
from fairdash.metrics import (
    DIFCertificate,
    FairMetric,
    LossRatio,
    ctf_score,
    dif_certificate,
    evaluate,
    free_sensitivity,
    loss_ratio,
    prediction_consistency,
    recall_gaps,
    summarise_seeds,
    wilson_interval,
)
from fairdash.store import Store, TrialRecord
from fairdash.sweep import FOLD, SweepSpec

Float = NDArray[np.float64]
FLIPS = 12  # values up to which a number is set to each of them
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_FEW_GROUPS = 12
_MODEL = ["label", "method", "colour_role", "chosen", "fairness_weight"]


def flip_values(dataset: Dataset, columns: Sequence[str]) -> Flips:
    """Return the values that columns are set to: all of few, else some quantiles.

    Raises ValueError when a column is not a feature.
    """
    features = dataset.roles.features
    for name in columns:
        if name not in features:
            raise ValueError(
                f"{name!r} cannot be flipped: it is not a feature of the model, whose "
                f"features are {', '.join(features)}."
            )
    return {name: _values(dataset.frame[name].dropna()) for name in columns}


def audit_flips(model: AuditedModel, flips: Flips) -> dict[str, float]:
    """Audit a model on all test rows under every combination of some values.

    A model that is told the group is told that of the person in every variant.

    Returns
    -------
    dict
        ``consistency``, the share of people whose prediction is the same in every
        variant, with its 95 % Wilson interval ``_low``, ``_high``; ``ctf``, the mean
        standard deviation of P(1) over the variants; ``moved``, the mean largest change
        of P(1); ``balanced_accuracy``; ``gap_rms`` and ``gap_max`` of the true positive
        rates of the two outcomes between the groups; ``constant``, 1 for a model that
        decides alike for everyone, or as chance might (`AuditedModel.status`); ``n``
        people.
        For every flipped column of few values the same gaps, as ``gap_rms:sex``; people
        without a value are a group.

    Raises
    ------
    ValueError
        When a column is not a feature, a value does not occur, or there are too many.
    """
    everyone = np.arange(model.rows.n)
    as_is = model.encoded(model.rows.test.X, everyone)
    p = np.stack([as_is, *model.flipped(flips)])
    found = _numbers(model, p, everyone)
    frame, y, decided = model.rows.frame, model.rows.y, (p[0] > 0.5).astype(np.int8)
    for name in flips:
        column = value_labels(frame[name]).astype(object).fillna("(missing)")
        if 2 <= column.nunique() <= _FEW_GROUPS:
            gaps = recall_gaps(y, decided, sensitive_features=column)
            found |= {f"{gap}:{name}": value for gap, value in gaps.items()}
    return found


def audit_counterparts(model: AuditedModel, found: Counterparts) -> dict[str, float]:
    """Audit a model against the worst counterpart found of each person.

    The numbers of `audit_flips` of a person and this one counterpart, and ``found``,
    the share of people that have one; who has none keeps its prediction.
    """
    before = model.encoded(model.rows.test.X[found.places], found.places)
    after = before.copy()
    after[np.searchsorted(found.places, found.people["place"])] = found.people["after"]
    numbers = _numbers(model, np.stack([before, after]), found.places)
    return numbers | {"found": found.share_found}


@dataclass(frozen=True)
class Certified:
    r"""Certificate, loss ratio and :math:`\lVert A^T W_1 \rVert` of a network."""

    certificate: DIFCertificate
    ratio: LossRatio
    sensitivity: float


def certify(
    model: AuditedModel,
    metric: FairMetric,
    *,
    places: NDArray[np.int64],
    radius: float,
    threshold: float,
) -> Certified:
    """Certify a network on some of its test rows.

    Raises ValueError, with the reason, when the model is not a network.
    """
    if model.network is None:
        raise ValueError(model.why_no_slopes)
    X, y = model.rows.test.X[places], model.rows.y[places]
    free = model.rows.free_range(metric)
    return Certified(
        dif_certificate(model.network, X, metric, radius=radius, free=free),
        loss_ratio(
            model.network,
            X,
            y,
            metric,
            radius=radius,
            threshold=threshold,
            free=free,
        ),
        free_sensitivity(model.network, metric),
    )


def audit_run(
    store: Store, run_id: str, flips: Flips, *, by_seed: bool = False
) -> pd.DataFrame:
    """Audit every finished model of a run on all its test rows.

    Returns
    -------
    DataFrame
        ``method``, the parameters in which models of the run differ, then ``seed`` and
        the numbers of `audit_flips`, or ``n_seeds`` and their means and spreads as in
        `fairdash.metrics.summarise_seeds`.

    Raises
    ------
    ValueError
        When the run does not exist or has no finished model, an earlier version kept
        the scores of a model alone, a column is not a feature, or a value does not
        occur.
    """
    snapshot = store.snapshot(run_id, curves=False)
    trials = [
        trial
        for trial in snapshot.trials
        if trial.status == "finished" and FOLD not in trial.params
    ]
    if not trials:
        raise ValueError(f"Run {run_id} has no finished model to audit.")
    spec = SweepSpec.of_run(snapshot.run.spec)
    dataset = store.dataset(snapshot.run.dataset_id)
    names = _differing(trials)
    known: dict[int, AuditRows] = {}  # a run has one scaling and one share of rows
    lines = []
    for trial in trials:
        if trial.seed not in known:
            known[trial.seed] = audit_rows_of(dataset, trial, spec)
        found = audit_flips(read_model(store, trial, known[trial.seed]), flips)
        point = {name: trial.params.get(name) for name in names}
        lines.append({"method": trial.method, **point, "seed": trial.seed, **found})
    table = pd.DataFrame(lines)
    return table if by_seed else summarise_seeds(table, ["method", *names])


def _numbers(
    model: AuditedModel, p: Float, places: NDArray[np.int64]
) -> dict[str, float]:
    """Return the audit of P(1) by variant, the first being the people as they are."""
    y, n = model.rows.y[places], len(places)
    groups = model.rows.dataset.sensitive_features[model.rows.where[places]]
    share = prediction_consistency(p > 0.5)
    low, high = wilson_interval(round(share * n), n)
    quality = evaluate(y, p[0].clip(0, 1), sensitive_features=groups).iloc[0]
    decided = (p[0] > 0.5).astype(np.int8)
    return {
        "consistency": share,
        "consistency_low": float(low),
        "consistency_high": float(high),
        "ctf": ctf_score(p),
        "moved": float(np.abs(p - p[0]).max(0).mean()),
        "balanced_accuracy": float(quality["balanced_accuracy"]),
        **recall_gaps(y, decided, sensitive_features=groups),
        "constant": float(model.status != ""),
        "n": n,
    }


def _values(column: "pd.Series[float]") -> tuple[object, ...]:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > FLIPS:
        at = column.quantile(list(_QUANTILES), interpolation="nearest")
        return tuple(dict.fromkeys(at.tolist()))
    return tuple(sorted(column.unique().tolist(), key=str))


def _differing(trials: Sequence[TrialRecord]) -> list[str]:
    """Return the parameters of which some method has several values."""
    values: dict[tuple[str, str], set[object]] = {}
    for trial in trials:
        for name, value in trial.params.items():
            values.setdefault((name, trial.method), set()).add(value)
    several = [name for (name, _), own in values.items() if len(own) > 1]
    return list(dict.fromkeys(several))


def audits_table(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return means over seeds of audits, a row for each model in the order given.

    ``rows`` are the numbers of `audit_flips` or `audit_counterparts` of each model and
    seed, with its ``label``, ``method``, ``colour_role``, whether it is ``chosen``, and
    ``fairness_weight`` (NaN without).
    """
    return summarise_seeds(pd.DataFrame(rows), _MODEL)


def individual_kpis(audit: "pd.Series[float]") -> list[Kpi]:
    """Return consistency, change of P(1), CTF score and gap of a row of audits."""
    several = audit["n_seeds"] > 1

    def spread(name: str) -> str:
        return f"± {number(audit[f'{name}_sd'])} over seeds" if several else ""

    return [
        Kpi(
            "Consistency",
            percent(audit["consistency"]),
            f"± {percent(audit['consistency_sd'])} over seeds"
            if several
            else interval(audit["consistency_low"], audit["consistency_high"], percent),
            help="Share of people whose prediction is the same whatever does not "
            "count, with the standard deviation over seeds or, for one seed, a 95% "
            "Wilson interval.",
        ),
        Kpi(
            "Change of P(1)",
            number(audit["moved"]),
            spread("moved") or "mean of the largest",
            help="How far P(1) of a person moves at most among the variants, on "
            "average over people.",
        ),
        Kpi(
            "CTF score",
            number(audit["ctf"]),
            spread("ctf") or "0 is fair",
            help="Mean standard deviation of P(1) over the variants of a person.",
        ),
        Kpi(
            "Gap RMS",
            number(audit["gap_rms"]),
            f"largest {number(audit['gap_max'])}"
            if np.isfinite(audit["gap_max"])
            else "a group has no row of an outcome",
            help="How far groups are apart in the true positive rates of the two "
            "outcomes: root of the mean square, and the larger one.",
        ),
    ]


def individual_brief(audit: "pd.Series[Any]", columns: Sequence[str]) -> str:
    """Return `individual_verdict` in at most 20 words, without intervals."""
    if audit["constant"] > 0.5:
        return f"{audit['label']} decides alike for nearly everyone."
    share = percent(1 - audit["consistency"], 0 if audit["consistency"] < 0.9 else 1)
    if not columns:
        return f"For {share} of people, a similar person would get another decision."
    return (
        f"Changing only {listing(columns)} changes the decision for {share} of people."
    )


def individual_verdict(audit: "pd.Series[Any]", columns: Sequence[str]) -> str:
    """Say for how many people a model decides otherwise when it should not.

    Parameters
    ----------
    audit : Series
        A row of `audits_table`.
    columns : sequence of str
        What is set to its other values; without any, counterparts were searched.
    """
    if audit["constant"] > 0.5:
        return (
            f"{audit['label']} decides alike for everyone, or as chance might: that "
            "it treats equals alike says nothing of it."
        )
    seeds, rows = int(audit["n_seeds"]), plural(round(audit["n"]), "test row")
    sure = f"± {percent(audit['consistency_sd'])} over {seeds} seeds"
    if seeds == 1:
        ends = 1 - audit["consistency_high"], 1 - audit["consistency_low"]
        sure = interval(*ends, percent)
    when = "someone alike is found who gets another decision"
    if columns:
        when = f"the decision of {audit['label']} changes with {listing(columns)} alone"
    else:
        when += f" by {audit['label']}"
    return (
        f"For {percent(1 - audit['consistency'])} of people {when} ({sure}; {rows}); "
        f"P(1) moves by up to {in_points(audit['moved'])} points on average."
    )


def counterparts_headline(found: Counterparts, seed: int) -> str:
    """Say of how many people somebody alike gets another decision."""
    return (
        f"Seed {seed}: {percent(found.share_changed)} of people have someone alike who "
        "gets another decision"
    )


def counterparts_caption(found: Counterparts, n_rows: int, seed: int) -> str:
    """Say who was searched, the interval of the headline, and who has nobody."""
    low, high = found.interval
    return (
        f"{plural(found.n, 'test row')} of {n_rows:,} searched, seed {seed}; 95% "
        f"interval {interval(low, high, percent)}."
        f"{nobody_alike(found.share_found, found.radius)}"
    )


def nobody_alike(share_found: float, radius: float) -> str:
    """Say of how many people no counterpart was found; nothing where all have one."""
    if not share_found < 1:
        return ""
    none = percent(1 - share_found)
    return (
        f" For {none} of them no row of table values was found within ε = {radius:g}."
    )


def yardstick_caption(yardstick: Yardstick, radius: float) -> str:
    """Say what a fair radius amounts to among real people."""
    others, such = "other row", "row"
    if yardstick.drawn:
        others, such = f"of {count(yardstick.drawn)} rows drawn", "of these"
    return (
        f"Squared fair distance of a person to the nearest {others}: median "
        f"{number(yardstick.nearest, 2)}; of two people at random: "
        f"{number(yardstick.random, 2)}. {percent(yardstick.within)} of "
        f"{plural(yardstick.n, 'test row')} have another {such} within ε = {radius:g}."
    )


def certificate_kpis(found: Sequence[Certified]) -> list[Kpi]:
    """Return loss ratio, largest change of logits and first layer: means over seeds."""
    certificates = [one.certificate for one in found]
    values = [one.value for one in certificates]
    unfair, threshold = sum(c.ratio.unfair for c in found), found[0].ratio.threshold
    of_seeds = f" in {unfair} of {len(found)} seeds" * (len(found) > 1)
    return [
        Kpi(
            "Loss ratio, at least",
            number(float(np.mean([one.ratio.low for one in found])), 2),
            f"unfair: above {threshold:g}{of_seeds}"
            if unfair
            else f"not shown above {threshold:g}",
            help="The loss at the worst counterpart found over the loss of the person, "
            "on average: the one-sided 95% lower bound of that mean.",
        ),
        Kpi(
            "DIF, at least",
            number(float(np.mean(values)), 2),
            f"± {number(float(np.std(values, ddof=1)), 2)} over seeds"
            if len(found) > 1
            else f"up to {number(_limit(found), 2)} with sampling",
            help="Mean squared change of logits between people and their counterparts, "
            "at a squared fair distance of at most ε on average. The search may miss "
            "larger changes, so it is a bound from below.",
        ),
        Kpi(
            "First layer",
            number(float(np.mean([one.sensitivity for one in found])), 2),
            "0: free moves change nothing",
            help="‖A'W₁‖: how far the first layer of the network tells people apart "
            "who differ in sensitive directions alone. At 0 it cannot.",
        ),
    ]


def certificate_caption(found: Sequence[Certified], radius: float) -> str:
    """Say which rows were certified, and what the search leaves open."""
    return (
        f"{plural(found[0].certificate.n, 'test row')} of each of "
        f"{plural(len(found), 'seed')}, ε = {radius:g}. With people drawn "
        f"anew the search would find at most {_limit(found):.2f} (one-sided 95%). Free "
        "moves stay within the range of the training rows and need not be rows of the "
        "table."
    )


def _limit(found: Sequence[Certified]) -> float:
    return float(np.mean([one.certificate.limit for one in found]))
