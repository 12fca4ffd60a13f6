"""What Noisy groups says of one model in numbers and in plain words."""

import math
from collections.abc import Sequence

import pandas as pd

from fairdash._wording import Kpi, change, count, number, plain, plural
from fairdash.ui.noisy_groups.certificate import ball_rows
from fairdash.ui.noisy_groups.live_ball import live_ball
from fairdash.ui.noisy_groups.noise import Noise, Question
from fairdash.ui.noisy_groups.rows import Doubted
from fairdash.ui.widgets.score_source import Source

_RATES = {
    "true_positive_rate_parity": "true positive rate",
    "false_positive_rate_parity": "false positive rate",
    "equalized_odds": "true or false positive rate",
    "demographic_parity": "rate of positive predictions",
}
_NOT_KNOWN = "not known"
_START, _MOST = 0.1, 0.6  # of the radius, where no bound is known


def noisy_facts(rows: Doubted, n_models: int) -> tuple[str, str, str]:
    """Return the context line: table, rows, models."""
    n = plural(n_models, "model") if n_models else "no model yet"
    return rows.name, plural(len(rows.groups), "row"), n


def pick_radius(
    sources: Sequence[Source], dataset_id: str | None, noise: Noise, question: Question
) -> float:
    """Draw the radius, which the worst case of one model follows; return it on release.

    It goes up to, and starts at, the largest distance that any group can have; where
    none is known, it goes up to 0.6 and starts at 0.1.
    """
    seeds = [ball_rows(one, dataset_id, noise, question) for one in sources]
    most = math.ceil(1000 * max(noise.reach.values(), default=_MOST)) / 1000
    key = f"{dataset_id} {noise.key} {question} {sources[0]} radius"
    start = most if noise.reach else _START
    return live_ball(seeds, slack=question.slack, start=start, most=most, key=key)


def confusion_caption(noise: Noise) -> str:
    """Return what the shares are of."""
    total = float(noise.shares.to_numpy().sum())
    if total <= 1 + 1e-9:
        return "Shares implied by the noise assumed."
    return f"{count(round(total))} rows with both groups."


def certificate_caption(shown: int, n: int, *, is_file: bool) -> str:
    """Return what the marks are, and how many models are left out."""
    left_out = f" {shown} of {n} models." if shown < n else ""
    rows = "all rows of the file" if is_file else "test rows, mean over seeds"
    return f"Largest violation over groups, {rows}.{left_out}"


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
            help="Largest violation when the noisy groups are taken at their word, "
            "averaged over seeds; 0 or less keeps the constraint.",
        ),
        Kpi(
            "On true groups",
            change(row["true"]) if known else _NOT_KNOWN,
            _verdict(row["true"]) if known else "no true groups in this table",
            help="The same by true groups, where they are known.",
        ),
        Kpi(
            "20 random draws",
            change(row["drawn"]),
            "the published check",
            help="The largest violation over 20 random distributions near the noisy "
            "groups, as the paper's public code checks. Draws average over rows, so "
            "they come nowhere near the worst case.",
        ),
        Kpi(
            "Exact certificate",
            change(row["ball"]),
            f"worst case, γ ≤ {number(radius)}",
            help="The largest violation that groups within this total variation of the "
            "noisy ones can show, none further than it can be. Some such groups attain "
            "it.",
        ),
    ]


def guarantee(
    row: "pd.Series[float]", radius: float, noise: Noise, constraints: str
) -> str:
    """Say in plain words what is guaranteed and what is not."""
    rate = _RATES[constraints]
    limit = max(noise.reach.values(), default=math.nan)
    at_most = radius >= limit
    if at_most:
        where = f"as far from the noisy ones as they can be (γ ≤ {number(radius)})"
    else:
        where = f"within γ = {number(radius)} of the noisy ones"
    if row["ball"] <= 0:
        sure = f"guaranteed.** With true groups {where}, the {rate} of every group "
        sure += "keeps the constraint on these rows."
    else:
        sure = f"not guaranteed.** True groups {where} can break the constraint on the "
        sure += f"{rate} by {number(row['ball'])} on these rows."
    parts = [f"**{plain(str(row['label']))}: {sure}"]
    if math.isnan(limit):
        parts.append("How far they are is not known.")
    elif not at_most:
        parts.append(f"But groups may be {number(limit)} away: see the valid bounds.")
    if row["soft"] > 0:
        parts.append(f"Knowing P(G | Ĝ) instead: at most {number(row['soft'])}.")
    else:
        parts.append("Knowing P(G | Ĝ) instead, it is kept.")
    if row["drawn"] <= 0 < row["ball"]:
        parts.append("The random draws pass all the same; they prove nothing.")
    return " ".join(parts)


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
