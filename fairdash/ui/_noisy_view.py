"""What Noisy groups says of one model in numbers and in plain words."""

import math
from collections.abc import Sequence

import pandas as pd

from fairdash.datasets import Dataset
from fairdash.ui._blocks import Kpi
from fairdash.ui._format import change, count, number, plural
from fairdash.ui._live_ball import live_ball
from fairdash.ui._noisy import Noise, Question
from fairdash.ui._noisy_certificate import Decided, ball_rows

_RATES = {
    "true_positive_rate_parity": "true positive rate",
    "false_positive_rate_parity": "false positive rate",
    "equalized_odds": "true or false positive rate",
    "demographic_parity": "rate of positive predictions",
}
_NOT_KNOWN = "not known"


def noisy_facts(
    dataset: Dataset, models: dict[str, list[Decided]]
) -> tuple[str, str, str]:
    """Return the context line: data set, rows, models."""
    rows, n = plural(dataset.n_rows, "row"), len(models)
    return dataset.name, rows, plural(n, "model") if n else "no model yet"


def pick_radius(
    trials: Sequence[Decided], dataset_id: str, noise: Noise, question: Question
) -> float:
    """Draw the radius, which the worst case of one model follows; return it on release.

    It starts at the bound that is known to hold, or at 0.1.
    """
    seeds = [ball_rows(one, dataset_id, noise, question) for one in trials]
    limit = noise.largest_bound
    start = 0.1 if math.isnan(limit) else min(0.6, math.ceil(100 * limit) / 100)
    key = f"{dataset_id} {noise.key} {question} {trials[0].key} radius"
    return live_ball(seeds, slack=question.slack, start=start, most=0.6, key=key)


def confusion_caption(noise: Noise) -> str:
    """Return what the shares are of."""
    total = float(noise.shares.to_numpy().sum())
    if total <= 1 + 1e-9:
        return "Shares implied by the noise assumed."
    return f"{count(round(total))} rows with both groups."


def certificate_caption(shown: int, n: int) -> str:
    """Return what the marks are, and how many models are left out."""
    left_out = f" The first {shown} of {n} models." if shown < n else ""
    return f"Largest violation over groups on test rows, mean over seeds.{left_out}"


def study_caption(table: pd.DataFrame) -> str:
    """Return what the points of the study are."""
    seeds = plural(int(table["n_seeds"].max()), "seed")
    return f"Largest violation and error on test rows, mean ± sd of {seeds}."


def noisy_kpis(row: "pd.Series[float]", radius: float) -> list[Kpi]:
    """Return what was found of a model, and how bad it can be."""
    known = not math.isnan(row["true"])
    return [
        Kpi(
            "On noisy groups",
            change(row["noisy"]),
            _verdict(row["noisy"]),
            help="Largest violation when the noisy groups are taken at their word, on "
            "test rows, averaged over seeds; 0 or less keeps the constraint.",
        ),
        Kpi(
            "On true groups",
            change(row["true"]) if known else _NOT_KNOWN,
            _verdict(row["true"]) if known else "no true groups in this table",
            help="The same by true groups, where they are known.",
        ),
        Kpi(
            "Exact certificate",
            change(row["ball"]),
            f"any groups within γ = {number(radius, 2)}",
            help="The largest violation that groups within this total variation of the "
            "noisy ones can show. Some such groups attain it.",
        ),
        Kpi(
            "20 random draws",
            change(row["drawn"]),
            "the published check",
            help="The largest violation over 20 random distributions near the noisy "
            "groups, as the paper's public code checks. Draws average over rows, so "
            "they come nowhere near the worst case.",
        ),
    ]


def guarantee(
    row: "pd.Series[float]", radius: float, noise: Noise, constraints: str
) -> str:
    """Say in plain words what is guaranteed and what is not."""
    rate = _RATES[constraints]
    if row["ball"] <= 0:
        sure = (
            f"**Guaranteed on these test rows:** if each true group is within "
            f"γ = {number(radius, 2)} of its noisy one, the {rate} of every group "
            "keeps the constraint."
        )
    else:
        sure = (
            f"**Not guaranteed:** groups within γ = {number(radius, 2)} of the noisy "
            f"ones can break the constraint on the {rate} by {number(row['ball'])}, on "
            "these test rows; no better bound holds for all of them."
        )
    limit = noise.largest_bound
    if math.isnan(limit):
        premise = "How far true groups are from these noisy ones is not known."
    elif radius < limit - 1e-9:
        premise = (
            f"The premise itself is not sure: groups may be {number(limit, 2)} away, "
            "by the bound below that needs no equal shares."
        )
    else:
        premise = (
            f"Over all rows of the table no group is more than {number(limit, 2)} away."
        )
    soft = (
        f"Knowing P(G | Ĝ) instead, the violation is at most {number(row['soft'])}."
        if row["soft"] > 0
        else "Knowing P(G | Ĝ) instead, the constraint is kept."
    )
    passed = (
        " The random draws pass all the same; they prove nothing."
        if row["drawn"] <= 0 < row["ball"]
        else ""
    )
    return f"{sure} {premise} {soft}{passed}"


def bounds_warning(noise: Noise) -> str:
    """Say for which groups Lemma 1 does not hold as printed; "" for none."""
    if noise.bounds is None:
        return ""
    unequal = noise.bounds[~noise.bounds["equal_priors"].astype(bool)]
    too_small = unequal[unequal["paper"] < unequal["general"] - 1e-9]
    if too_small.empty:
        return ""
    names = ", ".join(map(str, too_small.index))
    return (
        "Lemma 1 needs equal shares of true and noisy groups, which do not hold here: "
        f"for {names} it is too small. The valid bound needs no such thing."
    )


def _verdict(violation: float) -> str:
    return "keeps the constraint" if violation <= 0 else "breaks the constraint"
