"""Statements of the public functions, and whether each holds: one function a part."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from coverage_tables import MEASURES, SCORED, Rows

import fairdash
from fairdash.audits import find_subgroups
from fairdash.metrics import (
    Finding,
    LocalMeasure,
    accuracy_change,
    both_ways,
    decision_status,
    gap_change,
    measure_by_group,
    measure_gaps,
    noise_floor,
    turned_gaps,
)
from fairdash.metrics.group.intervals import for_all_pairs
from fairdash.postprocessing import ScoredRows
from fairdash.postprocessing.outcome import expected_outcome
from fairdash.sweep import Part, choose_certified

LIMIT = 0.1

Statements = Iterator[tuple[str, bool]]


def _holds(low: Any, high: Any, truth: float) -> bool:
    return bool(low <= truth <= high)


def _pair(table: pd.DataFrame, column: str = "difference") -> Any:
    return table.set_index("group")[column]


def intervals(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether the interval of each measure of the first group holds it."""
    for measure in MEASURES:
        if measure not in memo:
            memo[measure] = measure_by_group(
                measure,
                truth.y,
                truth.given(measure),
                sensitive_features=truth.group,
                sample_weight=truth.weight,
            )
        measured = measure_by_group(measure, rows.y, rows.given(measure), **rows.asked)
        first = measured.iloc[0]
        if np.isfinite(first["ci_low"]):
            true = memo[measure]["value"].iloc[0]
            yield measure, _holds(first["ci_low"], first["ci_high"], true)


def gaps(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say so of differences, ratios, the largest gap, changes of gaps."""
    first = str(rows.group.min())
    for measure in ("selection_rate", "true_positive_rate", "calibration", "auc"):
        arguments = {"reference": first}
        if measure not in memo:
            memo[measure] = measure_gaps(
                measure,
                truth.y,
                truth.given(measure),
                sensitive_features=truth.group,
                sample_weight=truth.weight,
                **arguments,
            ).iloc[0]
        measured = measure_gaps(
            measure, rows.y, rows.given(measure), **arguments, **rows.asked
        )
        estimate = measured.iloc[0]
        true = memo[measure]
        if np.isfinite(estimate["ci_low"]) and not estimate["too_few"]:
            holds = _holds(estimate["ci_low"], estimate["ci_high"], true["difference"])
            yield f"difference, {measure}", holds
        if measure == "selection_rate" and np.isfinite(estimate["ratio_low"]):
            yield (
                "ratio",
                _holds(estimate["ratio_low"], estimate["ratio_high"], true["ratio"]),
            )
    if "largest" not in memo:
        memo["largest"] = _largest(truth._replace(unit=None))
    worst = _largest(rows)
    true = memo["largest"]
    for name in ("largest gap", "Worst-1-DI"):
        if np.isfinite(worst[name][1]):
            yield name, _holds(*worst[name][1:], true[name][0])
    if "change" not in memo:
        arguments = {"sensitive_features": truth.group, "sample_weight": truth.weight}
        memo["change"] = float(
            gap_change(truth.decided, truth.after, **arguments).value
        )
    change = gap_change(rows.decided, rows.after, **rows.asked)
    if np.isfinite(change.low):
        yield "change of a gap", _holds(change.low, change.high, memo["change"])
    if "accuracy" not in memo:
        gained = (truth.after == truth.y) * 1.0 - (truth.decided == truth.y)
        memo["accuracy"] = float(np.average(gained, weights=truth.weight))
    sampling = {"sample_weight": rows.weight, "cluster": rows.unit}
    moved = accuracy_change(rows.y, rows.decided, rows.after, **sampling)
    yield "change of accuracy", _holds(moved.low, moved.high, memo["accuracy"])


def _largest(rows: Rows) -> dict[str, tuple[float, float, float]]:
    local = LocalMeasure.of(
        "selection_rate",
        None,
        rows.decided,
        subgroups=rows.part,
        min_size=20,
        **rows.asked,
    )
    local_gaps = {"largest gap": local.overall(), "Worst-1-DI": local.worst()}
    return {name: tuple(map(float, ends)) for name, ends in local_gaps.items()}


def verdicts(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether a fair table is called unfair; others are fair by calibration."""
    fair = memo.get("fair", True)
    for measure in (
        ("selection_rate", "calibration", "brier") if fair else ("calibration",)
    ):
        outcomes = {"scores": rows.scores} if measure in SCORED else {}
        result = fairdash.audit(
            rows.y,
            rows.decided,
            measures=[measure],
            subgroups=rows.part,
            min_size=20,
            **outcomes,
            **rows.asked,
        )
        overall = [finding for finding in result.findings if finding.subgroup is None]
        yield (
            f"clear over all rows, {measure}",
            any(finding.sure for finding in overall),
        )
        inside = [
            finding for finding in result.findings if finding.subgroup is not None
        ]
        if inside:
            yield f"beyond chance inside, {measure}", inside[0].sure
    if not fair:
        return
    local = _largest(rows)["Worst-1-DI"][0]
    inside = {"subgroups": rows.part, "min_size": 20, "n_permutations": 400}
    floor = noise_floor(rows.decided, **inside, **rows.asked)
    if np.isfinite(local):
        yield "Worst-1-DI above its floor", local > floor.quantile
    rng = np.random.default_rng(int(rows.scores.sum() * 1e3))
    unit = np.arange(len(rows.y)) if rows.unit is None else rows.unit
    guess = (rng.random(unit.max() + 1) < 0.3)[unit].astype(int)
    status = decision_status(
        rows.y, guess, sample_weight=rows.weight, cluster=rows.unit
    )
    yield "decides", status["status"].item() == ""


def searches(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether a search of a fair table finds a subgroup."""
    rng = np.random.default_rng(int(rows.scores.sum() * 1e3))
    unit = np.arange(len(rows.y)) if rows.unit is None else rows.unit
    k = unit.max() + 1
    frame = pd.DataFrame(
        {"age": rng.integers(20, 60, k), "site": rng.integers(0, 4, k)}
    )
    frame = frame.iloc[unit].assign(part=rows.part).reset_index(drop=True)
    subgroups = find_subgroups(
        rows.decided,
        frame=frame,
        depth=2,
        min_size=30,
        n_permutations=59,
        random_state=0,
        **rows.asked,
    )
    yield "a subgroup is found", bool((subgroups["p_adjusted"] <= 0.05).any())


def certificates(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether a model whose gap is its limit is certified to be below it."""
    two_groups = rows.group < 2
    rows = Rows(*(None if part is None else part[two_groups] for part in rows))
    rng = np.random.default_rng(int(rows.scores.sum() * 1e3))
    unit = np.arange(len(rows.y)) if rows.unit is None else rows.unit
    drawn = rng.random(unit.max() + 1)[unit]
    decided = drawn < np.where(rows.group == 0, 0.4, 0.4 + LIMIT)
    test = Part(rows.y, rows.group, {}, rows.weight, rows.unit)
    table = test.tested(decided, "selection_rate")
    table = table.assign(model="m", accuracy=0.8, gap=0.1)
    limits = {"demographic_parity_difference": LIMIT}
    choice = choose_certified(table, limits=limits)
    yield "certified at its limit", choice.model is not None


def ramps(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say so of what Post-process shows of decisions that are drawn."""

    def shown(own: Rows) -> Any:
        cut = min(0.5, float(np.mean(truth.scores)))
        middle = cut * np.where(own.group == 0, 0.9, 1.05)
        h = np.clip((own.scores - middle) / 0.2 + 0.5, 0, 1)
        names = tuple(map(str, range(int(truth.group.max()) + 1)))
        scored = ScoredRows(
            2 * own.scores - 1,
            own.group,
            names,
            names,
            own.y,
            own.weight,
            decided=own.decided,
            unit=own.unit,
        )
        return expected_outcome(scored, h).to_dict("records")

    if not memo:
        memo["true"] = shown(truth._replace(unit=None))
    names = "accuracy", "gap"
    for name, estimate, true in zip(names, shown(rows), memo["true"], strict=True):
        yield (
            f"{name} by a ramp",
            _holds(estimate["low"], estimate["high"], true["value"]),
        )
        if np.isfinite(estimate["change_low"]):
            holds = _holds(
                estimate["change_low"], estimate["change_high"], true["change"]
            )
            yield f"change of {name} by a ramp", holds


def named(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether the gap that a verdict names is that of these groups, there."""
    if not memo:
        memo["local"] = LocalMeasure.of(
            "selection_rate",
            None,
            truth.decided,
            subgroups=truth.part,
            sensitive_features=truth.group,
            sample_weight=truth.weight,
        )
    result = fairdash.audit(
        rows.y,
        rows.decided,
        measures=["selection_rate"],
        subgroups=rows.part,
        min_size=20,
        **rows.asked,
    )
    for finding in result.findings:
        position = finding.subgroup
        true = memo["local"].between(
            finding.group, finding.reference, subgroup=position, confidence=0.95
        )
        name = "named gap" if position is None else "named gap inside"
        if np.isfinite(finding.low):
            yield name, _holds(finding.low, finding.high, float(true.value))


def directions(rows: Rows, truth: Rows, memo: dict[str, Any]) -> Statements:
    """Say whether gaps are said to point both ways, or to have turned, wrongly.

    All gaps of a fair table are 0. Then the first group is decided positive less often
    in the first subgroup: still no gap points the other way, before or after.
    """
    rng = np.random.default_rng(int(rows.scores.sum() * 1e3))
    unit = np.arange(len(rows.y)) if rows.unit is None else rows.unit
    spared = rng.random(unit.max() + 1)[unit] < 0.3
    harmed = (rows.part == 0) & (rows.group == 0)
    lowered = np.where(harmed & ~spared, 0, rows.decided)
    everywhere = np.where((rows.group == 0) & ~spared, 0, rows.decided)
    fair, harmed_group, all_lower = (
        LocalMeasure.of(
            "selection_rate",
            None,
            decided,
            subgroups=rows.part,
            min_size=20,
            **rows.asked,
        )
        for decided in (rows.decided, lowered, everywhere)
    )
    yield "both ways, no gap", both_ways([fair]) is not None
    yield "both ways, one gap", both_ways([harmed_group]) is not None
    yield "turned inside", bool(turned_gaps(_sure_gaps(all_lower), _sure_gaps(fair)))


def _sure_gaps(local: LocalMeasure) -> list[Finding]:
    groups = local.cells.groups
    places = int(local.estimable.sum())
    level = for_all_pairs(0.975, len(groups), times=places)
    gaps = []
    for place in np.array(local.cells.subgroups)[local.estimable]:
        for high, low in itertools.permutations(groups, 2):
            value, least, most = local.between(
                high, low, subgroup=place, confidence=level
            )
            few = local.too_few(high, low, subgroup=place)
            ends = float(value), float(least), float(most)
            sure = bool(least > 0) and not few
            gaps.append(Finding("selection_rate", place, high, low, *ends, 0, sure))
    return [gap for gap in gaps if gap.value > 0]


PARTS: dict[str, Callable[..., Statements]] = {
    "intervals": intervals,
    "gaps": gaps,
    "verdicts": verdicts,
    "searches": searches,
    "certificates": certificates,
    "ramps": ramps,
    "named": named,
    "directions": directions,
}

ON_FAIR = ("verdicts", "searches", "directions")

FEWER = {"certificates": 2}

WRONG = (*ON_FAIR, "certificates")
