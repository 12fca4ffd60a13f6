"""Measure predictions by group and inside subgroups: the tables of an audit."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fairdash._change import excludes_zero
from fairdash.metrics import (
    TOO_FEW,
    Finding,
    LocalMeasure,
    Speech,
    intervals,
    local_cells,
    sentence,
)


class Measured(NamedTuple):
    """Tables of an `Audit`, and the estimates by measure that all are views of.

    Without subgroups there is no ``local``.
    """

    by_group: pd.DataFrame
    gaps: pd.DataFrame
    local: pd.DataFrame | None
    estimates: dict[str, LocalMeasure]


def measured(
    y: Any,
    predicted: Mapping[str, Any],
    rows: Mapping[str, Any],
    inside: Mapping[str, Any] | None,
    speech: Speech,
    *,
    confidence: float,
    reference: str | None,
    favourable: bool,
    times: int = 1,
) -> Measured:
    """Measure rows by group and, with subgroups, ``inside`` these.

    ``predicted`` are the predictions by measure. Gaps hold for all pairs of groups and
    for so many tables at once, ``times``, as chance does.
    """
    inside = inside or {"subgroups": None}
    cells = local_cells(
        sensitive_features=rows["sensitive_features"],
        sample_weight=rows["sample_weight"],
        **inside,
    )
    estimates = LocalMeasure.of_each(
        predicted,
        y,
        cells,
        sample_weight=rows["sample_weight"],
        cluster=rows["cluster"],
    )
    n_groups = len(cells.groups)
    # Any pair of groups may be named afterwards, so a gap's interval holds for all of
    # them at once (Bonferroni); with a reference that was named beforehand, for the
    # pairs with it only.
    level = intervals.for_all_pairs(
        confidence, n_groups, held=reference is not None, times=times
    )

    def rates_of(measure: str) -> pd.DataFrame:
        return estimates[measure].by_group.table(confidence=confidence)

    def gaps_of(measure: str) -> pd.DataFrame:
        gaps = estimates[measure].by_group.gaps(
            reference=reference, favourable=favourable, confidence=level
        )
        return _with_sentences(gaps, measure, speech)

    def local_of(measure: str) -> pd.DataFrame:
        return _local(estimates[measure], confidence, times)

    by_group = _by_measure(predicted, rates_of)
    gaps = _by_measure(predicted, gaps_of)
    local = None
    if inside["subgroups"] is not None:
        local = _by_measure(predicted, local_of)
    return Measured(by_group, gaps, local, estimates)


def _by_measure(
    measures: Iterable[str], table: Callable[[str], pd.DataFrame]
) -> pd.DataFrame:
    """Return the tables of all measures below each other, measure first."""
    tables = [table(measure).assign(measure=measure) for measure in measures]
    whole = pd.concat(tables, ignore_index=True)
    return whole[["measure", *whole.columns.drop("measure")]]


def _with_sentences(gaps: pd.DataFrame, measure: str, speech: Speech) -> pd.DataFrame:
    """Return the gaps of a measure, whether each is clear, and its sentence."""
    # Intervals of few rows are too narrow to be believed: they are never clear.
    clear = excludes_zero(gaps["ci_low"], gaps["ci_high"]) & ~gaps["too_few"]
    table = gaps.assign(measure=measure, clear=clear)
    sentences = [sentence(finding_of(row), speech) for row in table.itertuples()]
    return table.assign(sentence=sentences)


def finding_of(row: Any) -> Finding:
    """Return a row of the gaps of an audit as a finding."""
    if row.too_few:
        reason = TOO_FEW
    elif row.clear:
        reason = ""
    else:
        reason = "the interval reaches 0"
    return Finding(
        measure=row.measure,
        subgroup=None,
        group=str(row.group),
        reference=str(row.reference),
        value=float(row.difference),
        low=float(row.ci_low),
        high=float(row.ci_high),
        n=int(row.n),
        sure=not reason,
        reason=reason,
    )


def _local(estimates: LocalMeasure, confidence: float, times: int) -> pd.DataFrame:
    """Return gaps inside subgroups, with the largest that chance alone shows.

    A model that is fair in every subgroup stays below ``chance`` in 95 % of cases, for
    all subgroups and so many tables at once, whatever ``confidence`` is.
    """
    chance = np.nan
    if estimates.estimable.any():
        samples = estimates.noise_floor().samples
        chance = float(np.quantile(samples, 1 - 0.05 / times))
    level = 1 - (1 - confidence) / times
    return estimates.table(confidence=level).assign(chance=chance)
