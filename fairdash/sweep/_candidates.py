"""What a certified choice is made among: models, each with its thresholds.

Thresholds are tried, and candidates put in order, on validation rows alone; the test
rows, on which `fairdash.sweep.choose_certified` tests them, are only counted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fairdash._validation import check_one_of
from fairdash.metrics import RATES, Measured, decision_status, divide
from fairdash.sweep._certified import COLUMNS, OVERALL, limit_of, measures_of
from fairdash.sweep._front import pareto_front

Thresholds = Literal["fixed", "shared", "by_group"]
THRESHOLDS: tuple[Thresholds, ...] = ("fixed", "shared", "by_group")
_MIDDLE = 0.5
_SHARED = tuple(round(0.05 * step, 2) for step in range(2, 19) if step != 10)
_CLOSED = (0.25, 0.5, 0.75, 1.0)  # shares of the gap between groups


@dataclass(frozen=True, order=True)
class Candidate:
    """A model, by its place, and the score above which each group is accepted."""

    place: int
    thresholds: tuple[float, ...]

    @property
    def plain(self) -> bool:
        """Whether it decides as the model was trained to, at 0.5."""
        return set(self.thresholds) == {_MIDDLE}

    def decide(
        self, scores: NDArray[Any], groups: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return who is accepted, (n_rows,)."""
        return _decisions(scores, groups, [self.thresholds])[0]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that candidates decide.

    Attributes
    ----------
    y : array of 0/1, (n_rows,)
    groups : int array of shape (n_rows,)
        From 0 on, the same numbers in both parts.
    inside : mapping of str to bool array, (n_rows,)
        The rows of every subgroup in which a limit is to hold.
    sample_weight : array of shape (n_rows,), optional
    unit : array of shape (n_rows,), optional
        Such as a person with several rows.
    """

    y: NDArray[Any]
    groups: NDArray[np.int64]
    inside: Mapping[str, NDArray[np.bool_]]
    sample_weight: NDArray[np.float64] | None = None
    unit: NDArray[Any] | None = None

    def counts(
        self, decided: NDArray[np.bool_], measure: str = "selection_rate"
    ) -> pd.DataFrame:
        """Return rows and positive decisions by subgroup and group.

        ``decided`` is of shape (n_candidates, n_rows); so many columns of positives
        from 0 on, beside subgroup, group and n. Of another rate of decisions the rows
        are those it is about.
        """
        cells, rows = [], []
        everyone = RATES[measure].about(self.y, np.ones(len(self.y)))
        for name, within in {OVERALL: everyone, **self.inside}.items():
            for group in np.unique(self.groups):
                mine = np.flatnonzero(everyone & within & (self.groups == group))
                cells.append({"subgroup": name, "group": group, "n": len(mine)})
                rows.append(mine)
        ends = np.cumsum([0, *map(len, rows)])
        where = np.concatenate(rows)
        member = csr_array(
            (np.ones(len(where), np.int64), where, ends),
            shape=(len(cells), len(self.y)),
        )
        positives = pd.DataFrame(member @ decided.T.astype(np.int64))
        return pd.DataFrame(cells).join(positives)

    def tested(self, decided: NDArray[np.bool_], measure: str) -> pd.DataFrame:
        """Return what `choose_certified` takes of the decisions of one model.

        That is counts, and with weights or units rates with their variances.
        """
        counts = self.counts(decided[None], measure).rename(columns={0: "positives"})
        counts = counts.assign(measure=measure)
        if self.sample_weight is None and self.unit is None:
            return counts
        measured = Measured.of(
            measure, self.y, decided, self.sample_weight, cluster=self.unit
        )
        shape, parts = (int(self.groups.max()) + 1,), []
        for name in counts["subgroup"].unique():
            within = self.inside.get(name, np.ones(len(self.y), bool))
            estimate = measured.estimate(np.where(within, self.groups, -1), shape)
            units = estimate.n if estimate.units is None else estimate.units
            every = {
                "rate": estimate.value,
                "variance": estimate.error**2,
                "units": units,
            }
            own = counts.loc[counts["subgroup"] == name, "group"]
            parts.append(pd.DataFrame(every).loc[own])
        numbers = pd.concat(parts, ignore_index=True)
        return pd.concat([counts, numbers], axis=1)

    def gaps(
        self, decided: NDArray[np.bool_], measure: str = "selection_rate"
    ) -> dict[str, NDArray[np.float64]]:
        """Return the gap between groups over all rows and in every subgroup."""
        tried = list(range(len(decided)))
        gaps = {}
        every = self.counts(decided, measure)
        for name, cells in every.groupby("subgroup", sort=False):
            rates = divide(cells[tried].to_numpy(), cells["n"].to_numpy()[:, None])
            gaps[str(name)] = np.ptp(rates, axis=0)
        return gaps


def candidate_table(
    models: Sequence[int],
    scores: Callable[[int], tuple[NDArray[Any], NDArray[Any]]],
    parts: tuple[Part, Part],
    *,
    limits: Mapping[str, float],
    thresholds: Thresholds = "fixed",
) -> pd.DataFrame:
    """Return what `choose_certified` tests: candidates on the front, counted.

    The front is of accuracy against the largest gap, in units of its limit, over the
    candidates that decide, all on validation rows.

    Parameters
    ----------
    models : sequence of int
        By which a `Candidate` knows its model.
    scores : callable
        From a model to its scores of validation and of test rows.
    parts : pair of `Part`
        Validation rows and test rows.
    thresholds : {"fixed", "shared", "by_group"}, default="fixed"
        0.5 alone; one threshold for all groups, from 0.1 to 0.9; or one for each group,
        at which a quarter, a half, three quarters or all of the gap between their
        selection rates on validation rows is closed towards the rate of all rows.
    """
    check_one_of("thresholds", thresholds, THRESHOLDS)
    validation, test = parts
    ranked = []
    for place in models:
        seen, _ = scores(place)
        tried = thresholds_tried(seen, validation.groups, thresholds)
        decided = _decisions(seen, validation.groups, tried)
        status = decision_status(
            validation.y, decided, sample_weight=validation.sample_weight
        )
        ranked.append(
            pd.DataFrame(
                {
                    "model": [Candidate(place, cuts) for cuts in tried],
                    "validation_worst_1_di": _shares(validation, decided, limits),
                    "validation_accuracy": np.average(
                        decided == validation.y,
                        axis=1,
                        weights=validation.sample_weight,
                    ),
                }
            )[(status["status"] == "").to_numpy()]
        )
    axes = ("validation_worst_1_di", "validation_accuracy")
    empty = pd.DataFrame(columns=["model", *axes]).astype(dict.fromkeys(axes, float))
    front = pareto_front(pd.concat([*ranked, empty], ignore_index=True), axes=axes)
    tables = [pd.DataFrame(columns=COLUMNS)] if front.empty else []
    for model, gap, accuracy in front[["model", *axes]].itertuples(index=False):
        _, unseen = scores(model.place)
        chosen = model.decide(unseen, test.groups)
        tables += [
            test.tested(chosen, measure).assign(model=model, accuracy=accuracy, gap=gap)
            for measure in measures_of(limits)
        ]
    table = pd.concat(tables, ignore_index=True)
    more = [name for name in table if name not in COLUMNS]
    return table[[*COLUMNS, *more]]


def thresholds_tried(
    scores: NDArray[Any], groups: NDArray[np.int64], kind: Thresholds
) -> list[tuple[float, ...]]:
    """Return the thresholds of every group that are tried with a model, 0.5 first.

    Each once: of a narrow gap a quarter and a half may be the same row.
    """
    n_groups = int(groups.max()) + 1
    tried = [(_MIDDLE,) * n_groups]
    if kind == "shared":
        tried += [(value,) * n_groups for value in _SHARED]
    if kind == "by_group":
        of_all = float((scores > _MIDDLE).mean())
        by = [np.sort(scores[groups == group])[::-1] for group in range(n_groups)]
        for closed in _CLOSED:
            cuts = []
            for own in by:
                rate = float((own > _MIDDLE).mean())
                n = round((rate + closed * (of_all - rate)) * len(own))
                cuts.append(float(own[n]) if n < len(own) else 0.0)
            tried.append(tuple(cuts))
    return list(dict.fromkeys(tried))


def _decisions(
    scores: NDArray[Any],
    groups: NDArray[np.int64],
    tried: Sequence[tuple[float, ...]],
) -> NDArray[np.bool_]:
    """Return decisions, (n_tried, n_rows)."""
    decided: NDArray[np.bool_] = scores > np.asarray(tried, scores.dtype)[:, groups]
    return decided


def _shares(
    part: Part, decided: NDArray[np.bool_], limits: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return the largest gap as a share of its limit; NaN if one is undefined."""
    shares = [
        gaps / most
        for measure in measures_of(limits)
        for name, gaps in part.gaps(decided, measure).items()
        if (most := limit_of(name, limits, measure)) is not None
    ]
    largest: NDArray[np.float64] = np.max(shares, axis=0)
    return largest
