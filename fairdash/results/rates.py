"""A table before any model: base rates by group, and rows needed to see a gap."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fairdash import metrics
from fairdash._wording import Kpi, count, interval, number, percent, plural
from fairdash.datasets import Dataset, Roles, Subgroups, split
from fairdash.metrics import (
    MEASURE_NAMES,
    BaseRates,
    LocalMeasure,
    in_text,
    local_measure,
    local_ratios,
    mean_local_di,
)
from fairdash.results.local import not_estimable


def base_rates(dataset: Dataset, subgroups: Subgroups) -> BaseRates:
    """Return the base rates of a data set under ``subgroups``.

    With sampling weights rates are weighted, with intervals at Kish's effective number
    of rows; numbers of rows stay those of rows.
    """
    y, groups = dataset.y, dataset.groups
    inside: dict[str, Any] = {
        "sensitive_features": groups,
        "subgroups": subgroups.label(dataset.frame),
        "min_size": subgroups.min_size,
    }
    rates = metrics.base_rates(y, **inside)
    weight = dataset.sample_weight
    if weight is None:
        return rates

    found = LocalMeasure.of("selection_rate", None, y, sample_weight=weight, **inside)
    nobody, n_groups = np.zeros(len(y), dtype=np.int64), len(rates.groups)
    whole = found.measured.estimate(nobody, 1).interval(0.95)
    by_group = found.measured.estimate(found.group, n_groups).interval(0.95)
    by_cell = (np.ravel(part) for part in found.values.interval(0.95))  # noqa: PD011
    gap, local = found.overall(), found.table()
    ends = ["rate", "ci_low", "ci_high"]
    table = rates.local.assign(**local[["ci_low", "ci_high"]], local_di=local["gap"])
    for name in dataset.group_names:
        table[f"rate_{name}"] = local[f"value_{name}"]
    return replace(
        rates,
        rate=float(whole.value[0]),
        low=float(whole.low[0]),
        high=float(whole.high[0]),
        gap=float(gap.value),
        gap_low=float(gap.low),
        gap_high=float(gap.high),
        groups=rates.groups.assign(**dict(zip(ends, by_group, strict=True))),
        cells=rates.cells.assign(**dict(zip(ends, by_cell, strict=True))),
        local=table,
    )


def base_rate_ratios(dataset: Dataset, subgroups: Subgroups) -> pd.DataFrame:
    """Return `fairdash.metrics.local_ratios` of base rates, weighted where rows are."""
    return local_ratios(
        "selection_rate",
        None,
        dataset.y,
        sensitive_features=dataset.groups,
        subgroups=subgroups.label(dataset.frame),
        min_size=subgroups.min_size,
        sample_weight=dataset.sample_weight,
    )


def promised_subgroups(
    dataset: Dataset,
    subgroups: Subgroups,
    *,
    measure: str = "selection_rate",
    seeds: Collection[int] = (),
) -> pd.DataFrame:
    """Return in which subgroups an audit can estimate a measure, and why not elsewhere.

    It looks at the test rows of ``seeds``, without any at all rows. The outcomes stand
    for predictions: who has rows does not depend on these, precision excepted.
    """
    everywhere = np.arange(dataset.n_rows)
    labels, y = subgroups.label(dataset.frame), dataset.y
    named = "selection_rate" if measure == "precision" else measure
    tables = [
        local_measure(
            named,
            y[rows],
            y[rows],
            sensitive_features=dataset.groups[rows],
            subgroups=labels.iloc[rows],
            min_size=subgroups.min_size,
        )
        for rows in [split(dataset, s).test for s in seeds] or [everywhere]
    ]
    return mean_local_di(tables)


def first_measure(roles: Roles, asked: str) -> str:
    """Return the measure that an audit of own scores opens at.

    That is the false positive rate where a positive outcome is bad news, else the one
    ``asked`` for.
    """
    unfavourable = roles.positive_is == "unfavourable"
    return "false_positive_rate" if unfavourable else asked


def promised_of_scores(
    roles: Roles, found: pd.DataFrame, *, measure: str = "selection_rate"
) -> str:
    """Say in how many subgroups an audit of the table's first scores finds a gap.

    ``found`` is of `promised_subgroups`, on all rows, at its `first_measure`, which is
    named where it is another than ``measure``.
    """
    first, known = first_measure(roles, measure), found["estimable"]
    what = "" if first == measure else f" by {in_text(MEASURE_NAMES[first])}"
    return f"{roles.scores[0].column}: {known.sum()} of {len(known)} on all rows{what}"


def base_rate_kpis(
    rates: BaseRates,
    used: int,
    read: int,
    *,
    guessed: bool,
    promised: pd.DataFrame | None = None,
    where: str = "",
    own: str = "",
) -> list[Kpi]:
    """Return rows used of those read, base rate, its gap, subgroups estimable.

    The gap is a finding: of roles that are only ``guessed`` it is not shown. Subgroups
    are those that an audit estimates: of ``promised``, see `promised_subgroups`, on the
    rows that ``where`` names; by default of the rates, on all rows. ``own`` says what
    an audit of scores estimates, see `promised_of_scores`.
    """
    local = rates.local if promised is None else promised
    estimable = local["estimable"]
    share = f"{percent(used / read)} of the file"
    if share.startswith(percent(1.0)):
        but = f" but {plural(read - used, 'row')}" if used < read else ""
        share = f"all of the file{but}"
    kpis = [
        Kpi("Rows used", count(used), share),
        Kpi(
            "Base rate P(y = 1)",
            percent(rates.rate),
            f"95% {interval(rates.low, rates.high, percent)}",
        ),
        Kpi(
            "Gap in base rate",
            number(rates.gap),
            f"95% {interval(rates.gap_low, rates.gap_high)}",
            help="Largest minus smallest base rate of the groups.",
        ),
        Kpi(
            "Subgroups estimable",
            f"{estimable.sum()} of {len(estimable)}",
            " · ".join(filter(None, [where, not_estimable(local), own])),
            help="In which an audit of a model finds a gap between groups, on the rows "
            f"it looks at. Of all rows: {rates.local['estimable'].sum()}, which a "
            "cross-validated audit looks at (Local fairness, Rows).",
        ),
    ]
    return [kpi for kpi in kpis if not (guessed and kpi.label == "Gap in base rate")]


def plan_verdict(plan: pd.DataFrame, gap: float) -> str:
    """Say in how many subgroups of `plan_rows` a gap can be seen, and what is missing.

    Of a gap of at most .5, which every rate has room for.
    """
    seen = int((plan["visible"] <= gap).sum())
    said = (
        f"A gap of {number(gap, 2)} can be seen in {seen} of "
        f"{plural(len(plan), 'subgroup')}."
    )
    never = int(plan["needed"].isna().sum())
    if seen < len(plan) - never:
        times = float((plan["needed"] / plan["rows"]).max())
        said += f" The others take up to {number(times, 1)} times their rows."
    if never:
        said += f" In {never} a group is missing."
    return said


def readable_plan(plan: pd.DataFrame) -> pd.DataFrame:
    """Return `plan_rows` for a reader."""
    names = {
        "subgroup": "Subgroup",
        "rows": "Rows",
        "n": "Test rows",
        "smallest": "In the smallest group",
        "visible": "Smallest gap seen",
        "needed": "Rows needed",
    }
    whole = plan.astype({"needed": "Int64"})
    return whole[list(names)].rename(columns=names)
