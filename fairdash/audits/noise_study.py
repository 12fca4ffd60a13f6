"""The study of noise: what trains at growing noise, and which of many to keep."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairdash._wording import change, number, percent, plural
from fairdash.audits.certificates import (
    KINDS,
    Certificate,
    Decisions,
    Question,
    certify_decisions,
)
from fairdash.audits.noise import Noise, Radius
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.methods.noisy_groups import (
    best_candidate,
    estimate_noise,
    simulate_noise,
    soft_certificate,
    tv_certificate,
    violations,
)
from fairdash.store import RunRecord, Store, TrialRecord
from fairdash.sweep import SEARCHED_RATES, DataSource, MethodGrid, SweepSpec

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
SEEDS = 3
UNCONSTRAINED = "hinge"
ASSUMED = {"noisy_naive": None, "noisy_dro": "tv_radius", "noisy_soft": "noise_level"}
MEASURES = ["true", "noisy", "own", "worst", "error"]
APART = ["tpr", "fpr"]
# by which violation on validation rows, in words; "own" is of the method's constraint
RULES = {
    "noisy": "recorded groups as if true",
    "own": "its own constraint",
    "ball": "the exact worst case",
    "true": "true groups",
}
OWN = {"noisy_naive": "noisy", "noisy_dro": "drawn", "noisy_soft": "soft"}


def study_spec(
    data: DataSource, dataset: Dataset, question: Question, subgroups: Subgroups
) -> SweepSpec:
    """Return the study: each method knows the noise that its groups were given."""
    terms = question._asdict()
    grids = [
        MethodGrid(method=UNCONSTRAINED),
        MethodGrid(method="noisy_naive", params={**terms, "simulated_noise": 0.0}),
    ]
    for level in study_levels(dataset):
        for method, knows in ASSUMED.items():
            params = {**terms, "simulated_noise": level}
            if knows:
                params[knows] = level
            grids.append(MethodGrid(method=method, params=params))
    return SweepSpec(
        data=data,
        methods=tuple(grids),
        seeds=tuple(range(SEEDS)),
        subgroups=subgroups,
    )


def noise_spec(
    data: DataSource,
    dataset: Dataset,
    question: Question,
    noise: Noise,
    subgroups: Subgroups,
) -> SweepSpec:
    """Return every approach, each told what is known of the noise.

    Raises ValueError where the noisy groups are not those of the data.
    """
    if not noise.taught:
        raise ValueError(
            "Methods train on the table's own groups, which are the true ones here. "
            "Make the column with the recorded groups the sensitive one on Data, and "
            "send this table as the sample."
        )
    grids = [MethodGrid(method=UNCONSTRAINED)]
    for method in ASSUMED:
        if method == "noisy_dro" and noise.bounds is None:
            continue  # it needs the same groups on both sides
        told = declared_by(method, noise.taught)
        params: dict[str, Any] = {**question._asdict(), **told}
        grids.append(MethodGrid(method=method, params=params))
    seeds = tuple(range(SEEDS))
    return SweepSpec(data=data, methods=tuple(grids), seeds=seeds, subgroups=subgroups)


def declared_by(method: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are of a parameter of the method."""
    names = {param.name for param in CATALOG[method].params}
    return {name: value for name, value in values.items() if name in names}


def told_words(noise: Noise) -> str:
    """Say what DRO and Soft are told of the noise when they train."""
    if "simulated_noise" in noise.taught:
        share = percent(float(noise.taught["tv_radius"]))
        return (
            f"Groups of {share} of the training rows are replaced at random; DRO and "
            "Soft are told how many."
        )
    if noise.bounds is None:
        return (
            "Soft is told P(G | Ĝ). DRO is excluded: it needs true groups of the "
            "recorded names."
        )
    end = "general_high" if "general_high" in noise.bounds else "general"
    far = [f"{name} {number(value)}" for name, value in noise.bounds[end].items()]
    sure = ", 95% upper ends that hold together" if end == "general_high" else ""
    return f"Soft is told P(G | Ĝ), DRO the radii {', '.join(far)}{sure}."


def study_levels(dataset: Dataset) -> list[float]:
    """Return the levels at which a noisy group still says something.

    The smallest group must stand out of the noise by three standard errors, or the
    noise would be more than the shares of the noisy groups allow.
    """
    _, n = np.unique(dataset.sensitive_features, return_counts=True)
    m = len(n)
    levels = []
    for level in LEVELS:
        kept = n.min() / n.sum() * (1 - level * m / (m - 1))
        share = level / (m - 1) + kept
        if kept > 3 * np.sqrt(share * (1 - share) / n.sum()):
            levels.append(level)
    return levels


def newest_run(store: Store, dataset_id: str, spec: SweepSpec) -> RunRecord | None:
    """Return the newest run of a data set that trains what ``spec`` does, if any."""
    methods = spec.model_dump(mode="json", exclude_none=True)["methods"]
    runs = store.runs(dataset_id)
    return next((run for run in runs if run.spec["methods"] == methods), None)


def study_table(
    store: Store, dataset: Dataset, trials: Sequence[TrialRecord], question: Question
) -> pd.DataFrame:
    """Return mean and spread over seeds by method and level.

    Returns
    -------
    DataFrame
        method, label, colour_role, level, n_seeds, and largest violations on the
        ``true`` and ``noisy`` groups of the test rows, of the robust constraint that
        DRO (over 20 draws) and Soft trained for (``own``), of any groups within the
        noise in total variation (``worst``), their ``error``, each with ``_sd`` (NaN
        of one seed), and ``decide``, how many of the seeds' models decide. Under
        equalized odds ``tpr`` and ``fpr`` have the part of each rate in ``true``. The
        unconstrained model has one row at every level.
    """
    levels = study_levels(dataset)
    rows = []
    for trial in trials:
        decisions = Decisions.of_trial(store, dataset, trial.key, trial.seed)
        at = [0.0, *levels]
        if trial.method != UNCONSTRAINED:
            at = [float(trial.params["simulated_noise"])]
        for level in at:
            found = _measured(decisions, dataset, trial, level, question)
            able = not decisions.status
            rows.append({"method": trial.method, "level": level, **found, "able": able})
    apart = APART if question.constraints == "equalized_odds" else []
    measures = [*MEASURES, *apart]
    table = pd.DataFrame(rows, columns=["method", "level", *measures, "able"])
    grouped_all = table.groupby(["method", "level"], sort=False)
    grouped = grouped_all[measures]
    spread = grouped.std().add_suffix("_sd")
    result = grouped.mean().join(spread).join(grouped.size().rename("n_seeds"))
    result = result.join(grouped_all["able"].sum().rename("decide")).reset_index()
    result.insert(1, "label", [CATALOG[key].label for key in result["method"]])
    roles = [CATALOG[key].colour_role for key in result["method"]]
    result.insert(2, "colour_role", roles)
    order = [UNCONSTRAINED, *ASSUMED]
    return result.sort_values(
        ["method", "level"],
        key=lambda column: (
            column.map(order.index) if column.name == "method" else column
        ),
        ignore_index=True,
    )


def _measured(
    rows: Decisions,
    dataset: Dataset,
    trial: TrialRecord,
    level: float,
    question: Question,
) -> dict[str, float]:
    """Return error and largest violations on the test rows of a seed."""
    groups = np.asarray(dataset.sensitive_features, dtype=object)
    noisy = simulate_noise(groups, level, random_state=trial.seed)[rows.where]
    groups = groups[rows.where]
    terms, given = question._asdict(), (rows.y, rows.decided)
    true = violations(*given, groups, **terms)
    ball = tv_certificate(*given, noisy, level, **terms)
    own = float("nan")
    if trial.method == "noisy_dro":
        own = float(ball["drawn_violation"].max())
    elif trial.method == "noisy_soft":
        known = estimate_noise(groups, noisy).group_given_noisy
        soft = soft_certificate(*given, noisy, known, **terms)
        own = float(soft["worst_violation"].max())
    apart = true.groupby("rate")["violation"].max().to_dict()
    return {
        **{str(rate): float(most) for rate, most in apart.items()},
        "true": float(true["violation"].max()),
        "noisy": float(ball["violation"].max()),
        "own": own,
        "worst": float(ball["worst_violation"].max()),
        "error": float(np.mean(rows.decided != rows.y)),
    }


def search_spec(
    data: DataSource,
    dataset: Dataset,
    question: Question,
    noise: Noise,
    subgroups: Subgroups,
) -> SweepSpec:
    """Return `noise_spec` at the step sizes that the paper searched.

    36 settings of DRO and of Soft, 12 of Naive, 3 without a constraint.
    """
    spec = noise_spec(data, dataset, question, noise, subgroups)
    grids = []
    for grid in spec.methods:
        rates = declared_by(grid.method, SEARCHED_RATES)
        params: dict[str, Any] = {**grid.params, **rates}
        grids.append(MethodGrid(method=grid.method, params=params))
    return spec.model_copy(update={"methods": tuple(grids)})


@dataclass(frozen=True, eq=False)
class Choices:
    """What each rule keeps of the settings of each method.

    Attributes
    ----------
    table : DataFrame
        One row for each method and rule: ``method``, ``rule``, ``label``, ``settings``
        (how many there were), ``chosen`` (the rates kept, by seed), ``promised`` (the
        rule's violation on validation rows), and of the test rows ``error`` and the
        largest violations of `fairdash.audits.Certificate`, averaged over seeds, with
        ``_sd`` (NaN of one); ``kept`` and ``status`` as of its ``row``.
    by_seed : DataFrame
        The same by seed: method, rule, seed, promised, error, violations.
    """

    table: pd.DataFrame
    by_seed: pd.DataFrame

    @property
    def _misled(self) -> pd.DataFrame:
        """Return by method what recorded groups promised, and what was found."""
        known = bool(self.by_seed["true"].notna().any())
        kind = "true" if known else "ball"
        shown = self.by_seed.pivot_table(
            [kind, "promised"], "method", "rule", aggfunc="mean", sort=False
        )
        return pd.DataFrame(
            {
                "where": "on true groups" if known else "at worst",
                "promised": shown["promised", "noisy"],
                "found": shown[kind, "noisy"],
                "own": shown[kind, "own"],
            }
        )

    @property
    def headline(self) -> str:
        """Say for how many methods the promise of the naive choice is broken."""
        table = self._misled
        n = int(((table["promised"] <= 0) & (table["found"] > 0)).sum())
        few = "none" if not n else "all" if n == len(table) > 1 else str(n)
        of = f"{few} of {plural(len(table), 'method')}"
        return f"Choosing as if groups were right misleads {of}"

    def verdict(self) -> str:
        """Say what the naive choice promised and what it kept, with the numbers."""
        table = self._misled
        parts = [
            f"{CATALOG[str(method)].label} promised {change(row['promised'])} on "
            f"validation rows; {change(row['found'])} was found {row['where']}, and "
            f"{change(row['own'])} when chosen by its own constraint"
            for method, row in table.iterrows()
        ]
        n = int(self.by_seed["seed"].nunique())
        rows = f"Test rows, mean of {plural(n, 'split')}."
        return f"By recorded groups as if they were true, {'; '.join(parts)}. {rows}"


def choose_settings(
    store: Store,
    dataset: Dataset,
    trials: Sequence[TrialRecord],
    noise: Noise,
    question: Question,
) -> Choices:
    """Return what each rule keeps of each method's settings, seed by seed.

    Every rule judges validation rows, by `best_candidate` of error and of a violation:
    that on the recorded groups as if true (the naive choice), that of the method's own
    constraint (the paper's rule: 20 draws for DRO, all soft memberships for Soft), the
    exact worst case, and, where they are known, that on true groups (what the paper's
    public code does, and no user can). What was kept is measured on test rows.
    """
    terms, told = question._asdict(), _told_radius(noise)
    by_setting: dict[tuple[str, int], list[TrialRecord]] = defaultdict(list)
    for trial in trials:
        if trial.method in ASSUMED and trial.status == "finished":
            by_setting[trial.method, trial.seed].append(trial)
    rows = []
    tested: dict[str, tuple[Decisions, Certificate]] = {}

    def certified(trial: TrialRecord, part: str) -> tuple[Decisions, Certificate]:
        decided = Decisions.of_trial(store, dataset, trial.key, trial.seed, part)
        label = CATALOG[trial.method].label
        return decided, certify_decisions(label, [decided], noise, question)

    def own(method: str, decided: Decisions, found: Certificate) -> float:
        if method != "noisy_dro" or told is None:
            return found.means[OWN[method]]
        noisy = noise.noisy[decided.where].astype(str)
        given = decided.y, decided.decided, noisy
        drawn = tv_certificate(*given, told, **terms)["drawn_violation"]
        return float(drawn.max())

    for (method, seed), candidates in by_setting.items():
        judged = [certified(trial, "validation") for trial in candidates]
        errors = [float(np.mean(d.decided != d.y)) for d, _ in judged]
        for rule in RULES:
            worst = [
                own(method, *one) if rule == "own" else one[1].means[rule]
                for one in judged
            ]
            if np.isnan(worst).any():
                continue
            place = best_candidate(errors, worst)
            kept = candidates[place]
            if kept.key not in tested:
                tested[kept.key] = certified(kept, "test")
            decided, found = tested[kept.key]
            rows.append(
                {
                    "method": method,
                    "rule": rule,
                    "seed": seed,
                    "settings": len(candidates),
                    "chosen": _rates(kept),
                    "promised": worst[place],
                    "error": float(np.mean(decided.decided != decided.y)),
                    **found.means,
                    "status": found.status,
                }
            )
    measured = ["promised", "error", *KINDS]
    columns = ["method", "rule", "seed", "settings", "chosen", *measured, "status"]
    by_seed = pd.DataFrame(rows, columns=columns)
    grouped = by_seed.groupby(["method", "rule"], sort=False)
    table = grouped[measured].mean()
    table = table.join(grouped[measured].std().add_suffix("_sd"))
    table["settings"] = grouped["settings"].first()
    table["chosen"] = grouped["chosen"].agg(lambda kept: "; ".join(dict.fromkeys(kept)))
    table["kept"] = grouped["ball"].max() <= 0
    table["status"] = grouped["status"].agg(lambda told: next(filter(None, told), ""))
    table["n_seeds"] = grouped.size()
    table = table.reset_index()
    labels = [
        f"{CATALOG[method].label}, by {RULES[rule]}"
        for method, rule in zip(table["method"], table["rule"], strict=True)
    ]
    table.insert(0, "label", labels)
    return Choices(table, by_seed)


def _told_radius(noise: Noise) -> Radius | None:
    """Return the radius that DRO was told, by group where a sample gave it."""
    if "tv_radius" in noise.taught:
        return float(noise.taught["tv_radius"])
    if noise.bounds is None:
        return None
    end = "general_high" if "general_high" in noise.bounds else "general"
    return {str(name): float(value) for name, value in noise.bounds[end].items()}


def _rates(trial: TrialRecord) -> str:
    """Return the step sizes of a setting, as "0.01, 0.5, 0.1"."""
    rates = [trial.params[name] for name in SEARCHED_RATES if name in trial.params]
    return ", ".join(f"{rate:g}" for rate in rates)
