"""Settings that are hard for statements: few, heavy, skewed, shared rows, many lines.

Each kind yields what a public function said of one table: whether an interval held its
truth, or whether a finding was made, of a table without an effect ("false") or with one
("found"). `benchmarks/coverage.py --part designs` counts them.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from fairdash.analysis import sequential
from fairdash.analysis.dealing import Sample
from fairdash.analysis.earlier import Masses
from fairdash.analysis.shifts import column_shifts
from fairdash.audits import find_subgroups, tables
from fairdash.audits.tables.alternative import less_discriminatory
from fairdash.audits.tables.audit import Source
from fairdash.metrics import (
    as_probabilities,
    evaluate,
    gap_change,
    measure_by_group,
    weights,
)

Said = Iterator[tuple[str, bool]]
Generator = np.random.Generator
DESIGNS: dict[str, Callable[[Generator], Said]] = {}


def design(name: str) -> Callable[[Callable[[Generator], Said]], Any]:
    """Register a kind under its name."""

    def keep(kind: Callable[[Generator], Said]) -> Callable[[Generator], Said]:
        DESIGNS[name] = kind
        return kind

    return keep


def _surest(y: Any, predicted: Any, kind: str, group: Any) -> bool:
    report = tables.audit_outcomes(
        y, predicted, kind=kind, sensitive_features=group, checks=False
    )
    return report.findings[0][1].sure


def _outcomes(kind: str, n_classes: int = 3) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        group = np.arange(400) % 2
        for name, effect in (("false", 0.0), ("found", 0.4)):
            moved = effect * group
            if kind == "classes":
                p = np.r_[1 + 3 * effect, np.ones(n_classes - 1)]
                p /= p.sum()
                of_group = [np.full(n_classes, 1 / n_classes), p]
                drawn = np.stack([rng.choice(n_classes, 400, p=p) for p in of_group])
                predicted = drawn[group, np.arange(400)]
                y = rng.integers(0, n_classes, 400)
            else:
                predicted = rng.normal(size=400) + moved
                y = rng.normal(size=400) if kind == "numbers" else None
            yield f"a gap is {name}", _surest(y, predicted, kind, group)

    return said


design("numbers, three measures")(_outcomes("numbers"))
design("3 classes, four measures")(_outcomes("classes"))
design("8 classes, four measures")(_outcomes("classes", 8))
design("ranking, two measures")(_outcomes("ranking"))


def _limits(n_groups: int, n_lines: int) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        group = np.repeat(np.arange(n_groups), 200)
        lines = [{"measure": "selection_rate", "of": "value", "at_most": 0.4}]
        lines += [{"measure": "selection_rate", "of": "value", "at_least": 0.4}]
        lines += [{"measure": "accuracy", "of": "value", "at_least": 0.52}]
        lines += [{"measure": "false_positive_rate", "of": "value", "at_most": 0.4}]
        for name, effect in (("false", 0.0), ("found", 0.15)):
            rate = 0.4 + effect * (group == 0)
            frame = pd.DataFrame({"group": group, "good": rng.random(len(group)) < 0.4})
            frame["hired"] = rng.random(len(group)) < rate
            policy = tables.Policy(
                decision="hired=1",
                outcome="good=1",
                groups=("group",),
                limits=lines[:n_lines],
            )
            check = tables.check_policy(frame, policy, Source.of_frame("t", "", frame))
            yield f"a break is {name}", check.status == "fail"

    return said


design("many lines: 5 groups at a limit")(_limits(5, 1))
design("many lines: 12 groups at a limit")(_limits(12, 1))
design("many lines: 12 groups at 4 limits")(_limits(12, 4))


@design("many lines: 3 columns of groups and all crossed")
def _columns(rng: Generator) -> Said:
    frame = pd.DataFrame({name: rng.integers(0, 2, 600) for name in ("a", "b", "c")})
    for name, effect in (("false", 0.0), ("found", 0.15)):
        hired = rng.random(600) < 0.4 + effect * frame["a"]
        table = frame.assign(hired=hired.astype(int))
        question = tables.TableQuestion(groups=tuple(frame), decision="hired=1")
        audited = tables.audit_table(table, question, Source.of_frame("t", "", table))
        firsts = [part.findings for part in audited.audits.values()]
        sure = any(
            f.sure for part in firsts for f in part if f.measure == "selection_rate"
        )
        yield f"a gap is {name}", sure


@design("many lines: two deviations among 12 groups")
def _deviations(rng: Generator) -> Said:
    group = np.repeat(np.arange(12), 100)
    for name, effect in (("false", 0.0), ("found", 0.25)):
        hired = rng.random(1200) < 0.5 - effect * (group == 0)
        table = pd.DataFrame({"group": group, "hired": hired.astype(int)})
        question = tables.TableQuestion(
            groups=("group",), decision="hired=1", reference="11"
        )
        impact = tables.adverse_impact(table, question).tables["group"]
        yield f"a group is {name}", bool(impact["two_deviations"].any())


def _interval(draw: Callable[[Generator], dict[str, Any]], truth: float) -> Any:
    def said(rng: Generator) -> Said:
        first = draw(rng)
        second = draw(rng)
        if "cluster" in second:
            second["cluster"] = second["cluster"] + len(first["cluster"])
        rows = {name: np.concatenate([first[name], second[name]]) for name in first}
        decided = rows.pop("decided")
        group = np.arange(len(decided)) >= len(first["decided"])
        measured = measure_by_group(
            "selection_rate", None, decided, sensitive_features=group, **rows
        ).iloc[0]
        yield "interval", measured["ci_low"] <= truth <= measured["ci_high"]

    return said


def _heavy(rng: Generator) -> dict[str, Any]:
    picked = (rng.random(60) < 0.4).astype(int)
    return {"decided": picked, "sample_weight": rng.lognormal(0, 1.5, 60)}


def _heavy_decisions(rng: Generator) -> dict[str, Any]:
    picked = (rng.random(60) < 0.4).astype(int)
    weight = rng.lognormal(0, 1.5, 60) * np.where(picked, 3.0, 1.0)
    return {"decided": picked, "sample_weight": weight}


def _unlike_units(n_units: int) -> Callable[[Generator], dict[str, Any]]:
    def draw(rng: Generator) -> dict[str, Any]:
        size = np.exp(rng.uniform(0, np.log(200), n_units)).astype(int)
        rate = rng.beta(4, 6, n_units)
        unit = np.repeat(np.arange(n_units), size)
        picked = (rng.random(len(unit)) < rate[unit]).astype(int)
        return {"decided": picked, "cluster": unit}

    return draw


Draw = Callable[[Generator, int], Any]


def _numbers(
    draw: Draw, truth: float, sizes: tuple[int, int]
) -> Callable[[Generator], Said]:
    """Say of numbers in two groups what interval and verdict say."""
    group = np.repeat([0, 1], sizes)

    def said(rng: Generator) -> Said:
        values = draw(rng, len(group))
        table = measure_by_group(
            "mean_prediction", None, values, sensitive_features=group
        )
        first = table.iloc[0]
        is_known = bool(np.isfinite(first["ci_low"]))
        yield "an interval is found", is_known
        if is_known:
            yield "interval", first["ci_low"] <= truth <= first["ci_high"]
        yield "a gap is false", _surest(None, values, "numbers", group)
        moved = values * np.where(group == 0, 3.0, 1.0)
        yield "a gap of 3 times is found", _surest(None, moved, "numbers", group)

    return said


def _lognormal(spread: float) -> tuple[Draw, float]:
    truth = float(np.exp(spread**2 / 2))
    return lambda rng, n: rng.lognormal(0, spread, n), truth


def _claims(share: float) -> tuple[Draw, float]:
    truth = share * float(np.exp(0.5))
    return lambda rng, n: (rng.random(n) < share) * rng.lognormal(0, 1, n), truth


design("skewed numbers: log-normal 1, 20 rows")(_numbers(*_lognormal(1.0), (20, 20)))
design("skewed numbers: log-normal 1.5, 20 rows")(_numbers(*_lognormal(1.5), (20, 20)))
design("skewed numbers: log-normal 1.5, 3 % group")(
    _numbers(*_lognormal(1.5), (60, 1940))
)
for _share in (0.05, 0.1, 0.3):
    design(f"zero-inflated: claims of {100 * _share:.0f} %, 3 % group")(
        _numbers(*_claims(_share), (60, 1940))
    )
    design(f"zero-inflated: claims of {100 * _share:.0f} %, 200 rows")(
        _numbers(*_claims(_share), (200, 200))
    )
design("heavy weights: log-normal 1.5, 60 rows")(_interval(_heavy, 0.4))
design("weights with decisions: log-normal 1.5, 60 rows")(
    _interval(_heavy_decisions, 1.2 / 1.8)
)
design("unlike units: 12 of 1 to 200 rows")(_interval(_unlike_units(12), 0.4))
design("unlike units: 30 of 1 to 200 rows")(_interval(_unlike_units(30), 0.4))


def _weighed(kind: str, picked: Any, rng: Generator) -> Any:
    if kind == "decisions":
        return rng.uniform(0.8, 1.2, len(picked)) * np.where(picked, 4.0, 1.0)
    return np.where(rng.random(len(picked)) < 0.03, 50.0, 1.0)


def _year(kind: str, n: int, gap: float, rng: Generator) -> bool:
    """Say whether an alarm stands in a year of ``n`` rows a week."""
    earlier = (Masses(), Masses())
    bounds = [0.0, 0.0]
    weeks = []
    group = np.arange(n) % 2
    for _ in range(52):
        picked = rng.random(n) < 0.3 + gap * group
        mass = _weighed(kind, picked, rng)
        known_rows = [
            (of, np.flatnonzero(group == g))
            for of, g in zip(earlier, (1, 0), strict=True)
        ]
        grown = []
        for at, sign in enumerate((1.0, -1.0)):
            sides = [
                of.side(f, of_group, mass[of_group], (mass * picked)[of_group])
                for f, (of, of_group) in zip((sign, -sign), known_rows, strict=True)
            ]
            grown.append(np.zeros(len(sequential.BETS)))
            if None in sides or not (n_blocks := sequential.blocks_of(sides)):
                continue
            block = sequential.deal(sides, n, n_blocks, rng)
            terms, bound = sequential.block_terms(sides, -0.1, block, n_blocks)
            if bounds[at]:
                grown[-1] = sequential.growth(terms, bounds[at])
            bounds[at] = max(bounds[at], bound)
        for of, of_group in known_rows:
            of.add(mass[of_group], (mass * picked)[of_group])
        weeks.append(np.array(grown))
    return bool(sequential.alarms(sequential.evidence(weeks)).any())


def _monitor(kind: str, n: int, at_limit: float) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        yield "an alarm in a year is false", _year(kind, n, at_limit, rng)
        yield "an alarm in a year is found", _year(kind, n, at_limit + 0.15, rng)

    return said


# 4p / (1 + 3p) of .3 and of this much more are .1 apart
_DECISIONS = 0.1052478
for _n in (40, 100, 300):
    design(f"weights with decisions: monitor, {_n} rows a week")(
        _monitor("decisions", _n, _DECISIONS)
    )
for _n in (100, 1000):
    design(f"heavy weights: monitor, {_n} rows a week")(_monitor("heavy", _n, 0.1))


def _people(rng: Generator, n: int, size: int, effect: float) -> tuple[Any, Any]:
    """Return a table of ``size`` equal rows a person, and whose each row is."""
    age = rng.normal(40 + 10 * effect, 10, n)
    frame = {"age": age, "income": np.exp(rng.normal(0, 1, n))}
    frame |= {f"code{k}": rng.integers(0, 4, n) for k in range(4)}
    unit = np.repeat(np.arange(n), size)
    return pd.DataFrame(frame).iloc[unit].reset_index(drop=True), unit


def _drift(size: int) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        before, first = _people(rng, 100, size, 0.0)
        for name, effect in (("false", 0.0), ("found", 0.8)):
            after, second = _people(rng, 100, size, effect)
            shifts = column_shifts(
                before,
                after,
                before,
                columns=tuple(before),
                samples=(Sample(unit=first), Sample(unit=second)),
            )
            yield f"a shift is {name}", bool((shifts["p_adjusted"] <= 0.05).any())

    return said


design("recurring people: drift, 4 rows each")(_drift(4))
design("recurring people: drift, 10 rows each")(_drift(10))


@design("recurring people: traits of the heaviest, 10 rows each")
def _traits(rng: Generator) -> Said:
    frame, unit = _people(rng, 200, 10, 0.0)
    for name, effect in (("false", 0.0), ("found", 2.0)):
        ratio = rng.exponential(size=200) + effect * (frame["code0"][::10] == 0)
        top = weights.top_rows(np.asarray(ratio)[unit], 0.1)
        result = weights.traits(frame, top, cluster=unit)
        yield f"a trait is {name}", bool((result["ci_low"] > result["share_all"]).any())


def _alternative(size: int) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        n = 1000
        unit = np.repeat(np.arange(n), size)
        group = np.arange(n) % 2
        y = rng.integers(0, 2, n)
        rate = np.where(group, 0.55, 0.35)
        present = rng.random(n) < rate
        for name, effect in (("false", 0.0), ("found", 1.0)):
            fairer = np.where(group, 0.45, 0.45)
            chance = rate + effect * (fairer - rate)
            models = {f"m{k}": (rng.random(n) < chance)[unit] * 1 for k in range(5)}
            rows = np.arange(n * size)
            alternatives = less_discriminatory(
                y[unit],
                present[unit] * 1,
                models,
                sensitive_features=group[unit],
                search_rows=rows[unit < n // 2],
                confirm_rows=rows[unit >= n // 2],
                loss=1.0,
                cluster=unit,
            )
            yield f"an alternative is {name}", alternatives.name is not None

    return said


design("recurring people: alternative, 5 rows each")(_alternative(5))
design("recurring people: alternative, 20 rows each")(_alternative(20))


def _search(
    spread: float, sigma: float, *, confirm: bool = False
) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        n = 800
        group = (rng.random(n) < 0.15).astype(int)
        frame = pd.DataFrame(
            {"age": rng.integers(20, 60, n), "site": rng.integers(0, 4, n)}
        )
        for name, effect in (("false", 0.0), ("found", 1.0)):
            harmed = (group == 1) & (frame["site"] == 0).to_numpy()
            if sigma:
                heavy = rng.lognormal(0, sigma, n)
                chance = 0.4 + 0.5 * effect * harmed
                rows = {"y_pred": (rng.random(n) < chance) * 1}
                rows["sample_weight"] = np.where(group == 1, heavy, 1.0)
            else:
                width = np.where(group == 1, spread, 1.0)
                numbers = width * (rng.normal(size=n) + 1.5 * effect * harmed)
                rows = {"y_pred": numbers, "measure": "mean_prediction"}
            if confirm:
                rows["confirm"] = np.arange(n) % 2 == 0
            subgroups = find_subgroups(
                sensitive_features=group,
                frame=frame,
                depth=2,
                min_size=30,
                n_permutations=99,
                random_state=0,
                **rows,
            )
            yield f"a subgroup is {name}", bool((subgroups["p_adjusted"] <= 0.05).any())

    return said


design("unlike spread: search, 2 times")(_search(2.0, 0.0))
design("unlike spread: search, 5 times")(_search(5.0, 0.0))
design("heavy weights: search, log-normal 1")(_search(1.0, 1.0))
design("heavy weights: search, log-normal 1.5")(_search(1.0, 1.5))
design("heavy weights: search that is confirmed")(_search(1.0, 1.5, confirm=True))


def _isotonic(rng: Generator, useful: bool, n: int) -> tuple[Any, Any, float]:
    """Return outcomes, scores, and the Brier score of a regression on new rows."""
    many = 20_000
    scores = rng.normal(size=n + many)
    chance = 1 / (1 + np.exp(-2 * scores)) if useful else np.full(n + many, 0.5)
    y = (rng.random(n + many) < chance).astype(int)
    fit = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    fit.fit(scores[:n], y[:n])
    excess = (fit.predict(scores[n:]) - chance[n:]) ** 2
    return y[:n], scores[:n], float(np.mean(excess) + np.mean(chance * (1 - chance)))


@cache
def _mean_brier(useful: bool) -> float:
    """Return the mean Brier score of regressions on new rows."""
    rng = np.random.default_rng(0)
    return float(np.mean([_isotonic(rng, useful, 500)[2] for _ in range(400)]))


def _brier(useful: bool) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        y, scores, truth = _isotonic(rng, useful, 500)
        p = as_probabilities(y, scores)
        group = np.arange(500) % 2
        brier = measure_by_group("brier", y, p, sensitive_features=group).iloc[0]
        mean = _mean_brier(useful)
        yield (
            "interval of such regressions",
            brier["ci_low"] <= mean <= brier["ci_high"],
        )
        yield (
            "interval of this regression",
            brier["ci_low"] <= truth <= brier["ci_high"],
        )

    return said


design("Brier score after isotonic regression: useless score")(_brier(False))
design("Brier score after isotonic regression: useful score")(_brier(True))


def _scored(rng: Generator, n: int, size: int, sigma: float) -> dict[str, Any]:
    """Return rows of ``n`` units in two groups and four parts, one part unfair."""
    unit = np.repeat(np.arange(n), size)
    group = rng.integers(0, 2, n)[unit]
    part = rng.integers(0, 4, n)[unit]
    shared = rng.normal(size=n)[unit]
    logit = 0.8 * shared + 0.8 * rng.normal(size=n * size)
    logit -= 0.3 * group + 0.6 * group * (part == 0)
    score = 1 / (1 + np.exp(-logit))
    rows = {
        "y_true": (rng.random(n * size) < score).astype(int),
        "scores": score,
        "sensitive_features": group,
        "subgroups": part,
    }
    if size > 1:
        rows["cluster"] = unit
    if sigma:
        rows["sample_weight"] = rng.lognormal(0, sigma, n * size)
    return rows


@cache
def _metrics_of_many() -> dict[str, float]:
    rows = _scored(np.random.default_rng(0), 1_000_000, 1, 0.0)
    return dict(evaluate(**rows).iloc[0])


def _evaluated(n: int, size: int, sigma: float) -> Callable[[Generator], Said]:
    def said(rng: Generator) -> Said:
        row = evaluate(**_scored(rng, n, size, sigma), min_size=20).iloc[0]
        for name, truth in _metrics_of_many().items():
            low = row.get(f"{name}_low", np.nan)
            if np.isfinite(low):
                holds = low <= truth <= row[f"{name}_high"]
                yield f"{name}, interval", holds

    return said


design("evaluate: 400 rows")(_evaluated(400, 1, 0.0))
design("evaluate: 2,000 rows")(_evaluated(2000, 1, 0.0))
design("evaluate: 400 rows, log-normal weights of 1")(_evaluated(400, 1, 1.0))
design("evaluate: 200 units of 4 rows")(_evaluated(200, 4, 0.0))


def _changed(
    n_groups: int, size: int, gaps: tuple[float, float], tiny: int = 0, sigma: float = 0
) -> Callable[[Generator], Said]:
    """Say of the first of some groups that its gap is another, and a tiny one beside.

    Two per cent of decisions are drawn anew, so that most stay as they were.
    """
    group = np.repeat(np.arange(n_groups), size)
    group = np.r_[group, np.full(tiny, n_groups)]
    truth = gaps[1] - gaps[0]

    def said(rng: Generator) -> Said:
        first = rng.random(len(group))
        again = rng.random(len(group)) < 0.02
        second = np.where(again, rng.random(len(group)), first)
        decided = [
            (drawn < 0.5 - gap * (group == 0)).astype(int)
            for drawn, gap in zip((first, second), gaps, strict=True)
        ]
        weight = rng.lognormal(0, sigma, len(group)) if sigma else None
        change = gap_change(*decided, sensitive_features=group, sample_weight=weight)
        said_so = bool(np.isfinite(change.low))
        if said_so:
            yield "interval", change.low <= truth <= change.high
        if truth:
            yield "a change is found", said_so and change.high < 0

    return said


_GAPS = {"no gap": (0.0, 0.0), "a gap stays": (0.2, 0.2), "one is removed": (0.3, 0.0)}
for _name, _both in _GAPS.items():
    design(f"change of a gap: 2 groups of 250, {_name}")(_changed(2, 250, _both))
    design(f"change of a gap: 5 groups of 200, {_name}")(_changed(5, 200, _both))
    design(f"change of a gap: 12 groups of 200, {_name}")(_changed(12, 200, _both))
    design(f"change of a gap: 12 groups, one of 4 rows, {_name}")(
        _changed(11, 200, _both, tiny=4)
    )
    design(f"change of a gap: 5 groups, log-normal weights of 1, {_name}")(
        _changed(5, 200, _both, sigma=1.0)
    )
