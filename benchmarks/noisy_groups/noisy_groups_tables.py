"""Adult and Credit under noisy groups, beside the published tables.

    export FAIRDASH_DATA=FOLDER; cd benchmarks/noisy_groups
    python noisy_groups_tables.py run --data adult --splits 10 --out adult.jsonl
    python noisy_groups_tables.py table adult.jsonl credit.jsonl
    python noisy_groups_tables.py reach

A split that stands in the file already is not run again, so a run may be cut off. Two
processes, one for each data set, keep two cores busy.
"""

import argparse
import json
import time
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from noisy_groups_data import (
    Case,
    adult,
    credit,
    noisy_groups,
    simulate_noise,
    split_rows,
)
from numpy.typing import NDArray
from scipy import stats

from fairdash.audits import Noise
from fairdash.methods import NoisyGroupsDRO, NoisyGroupsNaive, NoisyGroupsSoft
from fairdash.methods.noisy_groups import (
    best_candidate,
    estimate_noise,
    soft_certificate,
    tv_certificate,
)
from fairdash.methods.noisy_groups.estimators import NoisyGroupsUnconstrained

LEVELS = (0.1, 0.2, 0.3, 0.4, 0.5)
REACH_LEVELS = (0.05, 0.1, 0.2, 0.3)
REACH_DRAWS = 10
LEARNING_RATES = (0.001, 0.01, 0.1)
MULTIPLIER_RATES = (0.25, 0.5, 1.0, 2.0)
ADVERSARY_RATES = (0.001, 0.01, 0.1)
# error and largest mean violation; noise None: without noise
PUBLISHED: dict[tuple[str, str, float | None], tuple[float, float]] = {
    ("Adult", "unconstrained", None): (0.1447, 0.0234),
    ("Adult", "true groups", None): (0.1459, -0.0469),
    ("Credit", "unconstrained", None): (0.1797, 0.0264),
    ("Credit", "true groups", None): (0.1796, -0.0105),
}
for data, method, errors, worst in (
    ("Adult", "DRO", (0.152, 0.200, 0.216, 0.209, 0.219), (2, -45, -44, -19, -30)),
    ("Adult", "soft", (0.148, 0.157, 0.158, 0.188, 0.218), (-48, -48, 2, -16, 4)),
    ("Credit", "DRO", (0.206, 0.209, 0.212, 0.210, 0.211), (-6, -8, -6, -17, -15)),
    ("Credit", "soft", (0.182, 0.182, 0.198, 0.213, 0.211), (0, 4, -25, -28, -14)),
):
    for level, error, violation in zip(LEVELS, errors, worst, strict=True):
        PUBLISHED[data, method, level] = (error, violation / 1000)


def grid(**axes: Iterable[float]) -> list[dict[str, float]]:
    """Return the points of a grid."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def run(case: Case, seed: int, levels: Iterable[float]) -> list[dict[str, Any]]:
    """Train, choose and measure all methods on one split."""
    common: dict[str, Any] = {
        "constraints": case.constraints,
        "slack": case.slack,
        "random_state": seed,
    }
    plain = grid(learning_rate=LEARNING_RATES)
    naive = grid(learning_rate=LEARNING_RATES, multiplier_rate=MULTIPLIER_RATES)
    robust = grid(
        learning_rate=LEARNING_RATES,
        multiplier_rate=MULTIPLIER_RATES,
        adversary_rate=ADVERSARY_RATES,
    )
    unconstrained = NoisyGroupsUnconstrained(random_state=seed)
    rows = [
        one(case, seed, None, "unconstrained", unconstrained, plain),
        one(case, seed, None, "true groups", NoisyGroupsNaive(**common), naive),
    ]
    train = split_rows(len(case.y), seed)[0]
    for level in levels:
        noisy = noisy_groups(case, level, seed)
        # a split's training rows serve as the auxiliary sample, as in the paper
        matrix = estimate_noise(case.groups[train], noisy[train]).group_given_noisy
        dro = NoisyGroupsDRO(tv_radius=level, **common)
        soft = NoisyGroupsSoft(group_given_noisy=matrix.to_numpy(), **common)
        rows += [
            one(case, seed, level, "naive", NoisyGroupsNaive(**common), naive),
            one(case, seed, level, "DRO", dro, robust),
            one(case, seed, level, "soft", soft, robust),
        ]
    return rows


def one(
    case: Case,
    seed: int,
    level: float | None,
    name: str,
    estimator: Any,
    points: list[dict[str, float]],
) -> dict[str, Any]:
    """Train a grid, choose on validation rows by noisy groups, measure on test rows."""
    noisy = case.groups if level is None else noisy_groups(case, level, seed)
    X = case.with_groups(noisy)
    train, validation, test = split_rows(len(case.y), seed)
    began = time.perf_counter()
    models = estimator.fit_many(
        points, X[train], case.y[train], sensitive_features=noisy[train]
    )
    seconds = time.perf_counter() - began
    model = by_noisy_groups(case, models, X, noisy, validation)
    decided = model.predict(X[test])
    arguments: dict[str, Any] = {"constraints": case.constraints, "slack": case.slack}
    true = tv_certificate(case.y[test], decided, case.groups[test], 0, **arguments)
    peeked = by_true_groups(case, models, X, validation)
    beyond = tv_certificate(
        case.y[test], peeked.predict(X[test]), case.groups[test], 0, **arguments
    )
    row = {
        "data": case.name,
        "seed": seed,
        "noise": level,
        "method": name,
        "params": {name: getattr(model, name) for name in points[0]},
        "seconds": seconds,
        "error": float(np.mean(decided != case.y[test])),
        "constant": model.constant_,
        "violations": true["violation"].tolist(),
        "peeked_error": float(np.mean(peeked.predict(X[test]) != case.y[test])),
        "peeked_violations": beyond["violation"].tolist(),
    }
    return row | certificates(case, level or 0.0, test, decided, noisy, arguments)


def by_noisy_groups(
    case: Case,
    models: list[Any],
    X: NDArray[np.float32],
    noisy: NDArray[Any],
    rows: NDArray[np.int64],
) -> Any:
    """Return the model that is best on validation rows by its own constraint."""
    y = case.y[rows]
    groups = noisy[rows]
    arguments: dict[str, Any] = {"constraints": case.constraints, "slack": case.slack}
    errors = []
    worst = []
    for model in models:
        decided = model.predict(X[rows])
        errors.append(float(np.mean(decided != y)))
        if isinstance(model, NoisyGroupsDRO):
            violated = drawn_violation(y, decided, groups, model.tv_radius, **arguments)
        elif isinstance(model, NoisyGroupsSoft):
            table = soft_certificate(y, decided, groups, model.noise_, **arguments)
            violated = float(table["worst_violation"].max())
        elif isinstance(model, NoisyGroupsUnconstrained):
            violated = 0.0
        else:
            table = tv_certificate(y, decided, groups, 0, **arguments)
            violated = float(table["violation"].max())
        worst.append(violated)
    return models[best_candidate(errors, worst)]


def drawn_violation(
    y: NDArray[np.int64],
    decided: NDArray[np.int64],
    groups: NDArray[Any],
    radius: float,
    *,
    constraints: str,
    slack: float,
    n_draws: int = 20,
) -> float:
    """Return the worst violation of random perturbations, the paper's own check."""
    random = np.random.default_rng(0)
    sides = {
        "true_positive_rate_parity": [(1, -1)],
        "equalized_odds": [(1, -1), (0, 1)],
    }
    worst = -np.inf
    for outcome, sign in sides[constraints]:
        chosen = y == outcome
        overall = decided[chosen].mean()
        for group in np.unique(groups):
            base = (groups == group) / (groups == group).sum()
            for _ in range(n_draws):
                moves = random.exponential(size=len(y))
                moves *= random.choice((-1.0, 1.0), size=len(y)) / moves.sum()
                p = np.maximum(base + radius * moves, 0.0) * chosen
                rate = p[decided == 1].sum() / p.sum()
                worst = max(worst, sign * (rate - overall) - slack)
    return float(worst)


def by_true_groups(
    case: Case, models: list[Any], X: NDArray[np.float32], rows: NDArray[np.int64]
) -> Any:
    """Return the model that true groups of validation rows would choose.

    The paper excludes it: a column of its own shows how much the choice alone decides.
    """
    y = case.y[rows]
    groups = case.groups[rows]
    errors = []
    worst = []
    for model in models:
        decided = model.predict(X[rows])
        errors.append(float(np.mean(decided != y)))
        table = tv_certificate(
            y, decided, groups, 0, constraints=case.constraints, slack=case.slack
        )
        worst.append(float(table["violation"].max()))
    return models[best_candidate(errors, worst)]


def certificates(
    case: Case,
    level: float,
    test: NDArray[np.int64],
    decided: NDArray[np.int64],
    noisy: NDArray[Any],
    asked: dict[str, Any],
) -> dict[str, float]:
    """Return the exact worst cases of test rows, and the worst of 20 draws."""
    ball = tv_certificate(case.y[test], decided, noisy[test], level, **asked)
    matrix = estimate_noise(case.groups[test], noisy[test]).group_given_noisy
    soft = soft_certificate(case.y[test], decided, noisy[test], matrix, **asked)
    return {
        "tv_worst": float(ball["worst_violation"].max()),
        "tv_drawn": drawn_violation(case.y[test], decided, noisy[test], level, **asked),
        "soft_worst": float(soft["worst_violation"].max()),
    }


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means with standard errors, the published figures beside them."""
    lines = []
    for (data, method, noise), part in rows.fillna({"noise": 0.0}).groupby(
        ["data", "method", "noise"], sort=False
    ):
        worst, peeked = (
            of_worst_group(part[name]) for name in ("violations", "peeked_violations")
        )
        published = PUBLISHED.get((data, method, round(noise, 6) or None))
        lines.append(
            {
                "data": data,
                "method": method,
                "noise": round(noise, 6),
                "splits": len(part),
                "error": with_error(part["error"]),
                "published error": f"{published[0]:.4g}" if published else "",
                "max violation": with_error(worst, sign=True),
                "published violation": f"{published[1]:+.4g}" if published else "",
                "chosen by true groups": f"{part['peeked_error'].mean():.4f}, "
                f"{peeked.mean():+.4f}",
                "TV exact": f"{part['tv_worst'].mean():+.3f}",
                "TV 20 draws": f"{part['tv_drawn'].mean():+.3f}",
                "soft exact": f"{part['soft_worst'].mean():+.3f}",
                "seconds": f"{part['seconds'].mean():.1f}",
            }
        )
    return pd.DataFrame(lines).sort_values(["data", "noise"], kind="stable")


def of_worst_group(values: pd.Series) -> NDArray[np.float64]:
    """Return, by split, the violation of the group with the largest mean."""
    by_group = np.array(values.tolist())
    return by_group[:, by_group.mean(axis=0).argmax()]


def markdown(frame: pd.DataFrame) -> str:
    """Return a table for a document."""
    rows = [list(map(str, frame)), ["---"] * frame.shape[1]]
    rows += [[f"{cell}" for cell in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_error(values: Any, *, sign: bool = False) -> str:
    """Return mean ± standard error; one split has none."""
    numbers = np.asarray(values, dtype=float)
    mean = f"{numbers.mean():+.4f}" if sign else f"{numbers.mean():.4f}"
    if len(numbers) == 1:
        return mean
    return f"{mean} ± {numbers.std(ddof=1) / len(numbers) ** 0.5:.4f}"


def soft_against_dro(rows: pd.DataFrame) -> None:
    """Print the error of soft assignments less that of DRO, paired over the splits."""
    errors = rows.pivot_table("error", ["data", "noise", "seed"], "method")
    change = (errors["soft"] - errors["DRO"]).dropna()
    for (data, noise), paired in change.groupby(["data", "noise"]):
        ends = stats.t.interval(0.95, len(paired) - 1, paired.mean(), paired.sem())
        print(
            f"{data}, noise {noise:g}: error of soft less that of DRO "
            f"{paired.mean():+.3f} ({ends[0]:+.3f} to {ends[1]:+.3f})"
        )


def reach() -> None:
    """Print how often a group is beyond what was known, by how much, and the room.

    Race of Adult, ten draws of the noise and of a fifth of the rows: the distance on
    these rows beside that on all rows and what certificates take now.
    """
    groups = np.asarray(adult().groups, dtype=str)
    rows = []
    for level in REACH_LEVELS:
        for draw in range(REACH_DRAWS):
            noisy = simulate_noise(groups, level, random_state=draw).astype(str)
            order = np.random.default_rng(100 + draw).permutation(len(groups))
            test = np.sort(order[: len(groups) // 5])
            limits = Noise.from_level(noisy, level).on(test).reach
            everyone = estimate_noise(groups, noisy).bounds
            noise_bounds = estimate_noise(groups[test], noisy[test]).bounds
            for name, distance in noise_bounds["general"].items():
                taken = {
                    "all rows": everyone.loc[name, "general"],
                    "assumed level, limits on these rows": limits[name],
                }
                rows += [(what, distance - far) for what, far in taken.items()]
    table = pd.DataFrame(rows, columns=["reach", "beyond"])
    for what, beyond in table.groupby("reach", sort=False)["beyond"]:
        print(
            f"{what:36} exceeded in {(beyond > 1e-12).mean():.0%} of {len(beyond)}, by "
            f"up to {max(beyond.max(), 0):.3f}; median room {-beyond.median():.3f}"
        )


def main() -> None:
    """Run splits, or print the table of what was run."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run")
    runner.add_argument("--data", choices=["adult", "credit"], required=True)
    runner.add_argument("--splits", type=int, default=10)
    runner.add_argument("--noise", type=float, nargs="*", default=list(LEVELS))
    runner.add_argument("--out", type=Path, required=True)
    printer = commands.add_parser("table")
    printer.add_argument("files", type=Path, nargs="+")
    commands.add_parser("reach")
    options = parser.parse_args()
    if options.command == "reach":
        reach()
        return
    if options.command == "table":
        rows = pd.concat([pd.read_json(file, lines=True) for file in options.files])
        print(markdown(table(rows)))
        soft_against_dro(rows)
        return
    done = set()
    if options.out.exists():
        done = {json.loads(row)["seed"] for row in options.out.read_text().splitlines()}
    case = adult() if options.data == "adult" else credit()
    for seed in range(options.splits):
        if seed in done:
            continue
        rows = run(case, seed, options.noise)
        with options.out.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
