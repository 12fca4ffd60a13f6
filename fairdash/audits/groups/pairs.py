"""Trials by a measure: what it is computed from, ratios, and pairs a sentence names."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fairdash.audits.trials.rows import Rows, Tested
from fairdash.metrics import (
    SCORE_MEASURES,
    LocalMeasure,
    for_all_pairs,
)


def predicted(rows: Rows, key: str, measure: str) -> Any:
    """Return what a measure of a trial is computed from on some rows."""
    if measure == "auc":
        return rows.ranks(key)
    return rows.scores(key) if measure in SCORE_MEASURES else rows.predictions(key)


def asked_of(
    rows: Rows, key: str, measure: str, *, inside: bool = False
) -> dict[str, Any]:
    """Return what the functions of `fairdash.metrics` take to measure a trial on rows.

    ``inside`` subgroups, else over all of the rows.
    """
    groups = rows.groups
    if not inside:
        groups = {"sensitive_features": groups["sensitive_features"]}
    return {
        "measure": measure,
        "y_true": rows.y,
        "y_pred": predicted(rows, key, measure),
        **rows.sampling,
        **groups,
    }


@lru_cache(maxsize=64)  # a page asks the same again at every move
def measured_locally(
    trial: Tested, measure: str, reference: str | None
) -> LocalMeasure:
    """Return a measure of a trial by subgroup and group."""
    asked = asked_of(trial.rows, trial.key, measure, inside=True)
    return LocalMeasure.of(**asked, reference=reference)


class NamedPair(NamedTuple):
    """The interval of a pair of groups that a sentence names.

    It holds for all pairs at once, in all estimable subgroups where it is inside one:
    the pair and the subgroup are named for their gap.
    """

    trials: Sequence[Tested]
    measure: str
    reference: str | None

    def too_few(self, one: str, other: str, subgroup: str | None = None) -> bool:
        """Tell whether in some seed the two expect too few rows of either value."""
        return any(
            measured_locally(trial, self.measure, self.reference).too_few(
                one, other, subgroup=subgroup
            )
            for trial in self.trials
        )

    def ends(
        self,
        one: str,
        other: str,
        subgroup: str | None = None,
        *,
        confidence: float = 0.95,
    ) -> tuple[float, float]:
        """Return the ends for the value of ``one`` less that of ``other``.

        Means over the seeds in which the pair has both values. ``confidence`` is that
        of all pairs, and of all subgroups, together.
        """
        found = []
        for trial in self.trials:
            local = measured_locally(trial, self.measure, self.reference)
            sure = for_all_pairs(
                confidence,
                len(local.cells.groups),
                held=self.reference is not None,
                times=1 if subgroup is None else int(local.estimable.sum()),
            )
            found.append(
                local.between(one, other, subgroup=subgroup, confidence=sure)[1:]
            )
        low, high = np.nanmean(found, axis=0)
        return float(low), float(high)
