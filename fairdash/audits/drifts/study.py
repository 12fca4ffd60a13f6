"""Stored models of one table on another: quality, gaps, shifts of columns."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._metric_names import ODDS, OPPORTUNITY
from fairdash._validation import check_one_of
from fairdash._wording import NO_SUBGROUPS
from fairdash.analysis import column_shifts
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.tables import DriftTable, drift_tables
from fairdash.audits.portable import as_portable
from fairdash.audits.portable_model import PortableModel
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import rows_of
from fairdash.datasets import Subgroups, split
from fairdash.metrics import (
    MEASURES,
    Drawn,
    LocalMeasure,
    catalog,
    decision_status,
    evaluate,
    intervals,
)
from fairdash.store import Store
from fairdash.sweep import SweepSpec

_CONFIDENCE = 0.95
_ONE_GROUP = "{} has rows of one group only, so there is no gap on it."
_NUMBERS = (
    "gap_before", "before_low", "before_high", "gap_after", "after_low", "after_high",
    "change", "ci_low", "ci_high",
)  # fmt: skip
_OF_OUTCOME = (
    "accuracy", "accuracy_low", "accuracy_high", "balanced_accuracy", "auc", "log_loss",
    ODDS, OPPORTUNITY,
)  # fmt: skip


def drift(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    *,
    main: Setting,
    subgroups: Subgroups,
    other: tuple[str, pd.DataFrame],
    measure: str = "selection_rate",
    seed: int | None = None,
) -> DriftResult:
    """Hold stored models to a table that they were not trained on.

    Every model keeps the encoding fitted on its training rows, and the threshold of its
    decision rule, learned on the validation rows of the training table.

    Parameters
    ----------
    models : sequence of Setting
        Compared over all rows, beside ``main``, whose gaps are compared by subgroup.
    other : pair of str and DataFrame
        Name and rows of the table, columns as in its file; it may lack the outcome.
    measure : str
        Any of `fairdash.metrics.measure_by_group`: its gaps are compared.
    seed : int, optional
        By default the first of ``main``.

    Raises
    ------
    ValueError
        As `drift_tables`; when ``main`` cannot be read; when a measure that needs the
        outcome is asked of a table without one.
    """
    if catalog.error_costs(measure) is None:
        check_one_of("measure", measure, (*MEASURES, catalog.COST))
    dataset = store.dataset(dataset_id)
    seed = min(main.seeds) if seed is None else seed
    first = _scored(store, dataset_id, main, seed)
    scored = {main.label: first}
    excluded = []
    tables = drift_tables(dataset, seed, first, subgroups, other, store.table)
    if catalog.measure_of(measure).needs_outcome and tables[1].y is None:
        raise ValueError(
            f"{catalog.MEASURE_NAMES[measure]} needs the outcome, column "
            f"{dataset.roles.target!r}, in every table; add it, or choose the "
            "selection rate."
        )
    for setting in models:
        if setting.id == main.id:
            continue
        try:
            scored[setting.label] = _scored(store, dataset_id, setting, seed)
        except ValueError as error:
            excluded.append(f"{setting.label}: {error}")
    points = []
    measured = []
    for table in tables:
        answers = [_Scores.of(model, table) for model in scored.values()]
        of_models = [
            measured_on(table, row.predicted(measure), measure, subgroups.min_size)
            for row in answers
        ]
        gaps = np.array([local.overall() for local in of_models], dtype=np.float64)
        points.append(_points(table, [*scored], answers, gaps))
        measured.append(of_models[0])
    pair = farthest_groups(tables[0].name, measured[0])
    training = dataset.frame.iloc[split(dataset, seed).train]
    frames = tables[0].frame, tables[1].frame
    columns = dataset.roles.features
    return DriftResult(
        label=main.label,
        measure=measure,
        feature=dataset.roles.group_prefix(),
        low=pair[0],
        high=pair[1],
        seed=seed,
        rule=main.rule,
        tables=tables,
        points=pd.concat(points, ignore_index=True),
        changes=gap_changes(tables, measured, pair),
        shifts=column_shifts(
            *frames,
            training,
            columns=columns,
            samples=(tables[0].sample, tables[1].sample),
        ),
        excluded=tuple(excluded),
    )


def _scored(
    store: Store, dataset_id: str, setting: Setting, seed: int
) -> PortableModel:
    trial = next((trial for trial in setting.trials if trial.split == seed), None)
    if trial is None:
        raise ValueError(
            f"{setting.label} was not trained on seed {seed}: {sorted(setting.seeds)}."
        )
    threshold = rows_of(store, dataset_id, seed, Subgroups()).threshold(trial)
    spec = SweepSpec.of_run(store.run_of(trial.source.key).spec)
    rows = audit_rows_of(store.dataset(dataset_id), trial, spec)
    model = as_portable(read_model(store, trial, rows), trial)
    return replace(model, threshold=threshold, drawn=model.drawn and trial.rule.usual)


class _Scores(NamedTuple):
    """The scores and the decisions of a model on the rows of a table."""

    exact: NDArray[np.float64]
    stored: NDArray[np.float32]  # as scores are kept, so that one at a cut stays there
    decided: NDArray[np.int8] | Drawn
    threshold: float

    @classmethod
    def of(cls, model: PortableModel, table: DriftTable) -> "_Scores":
        exact = model.score_prepared(table.frame)
        stored = exact.astype(np.float32)
        decided = model.decisions(table.frame, stored)
        return cls(exact, stored, decided, model.threshold)

    def predicted(self, measure: str) -> NDArray[Any] | Drawn:
        return self.exact if measure in catalog.SCORE_MEASURES else self.decided

    @property
    def given(self) -> NDArray[np.float32] | Drawn:
        """The decisions or scores as `evaluate` takes them."""
        return self.decided if isinstance(self.decided, Drawn) else self.stored


def _points(
    table: DriftTable,
    labels: Sequence[str],
    scores: Sequence[_Scores],
    gaps: NDArray[np.float64],
) -> pd.DataFrame:
    y = table.y if table.y is not None else np.zeros(table.n, np.int8)
    about: dict[str, Any] = {"sample_weight": table.weight, "cluster": table.unit}
    measured = []
    statuses = []
    for row in scores:
        how = {"sensitive_features": table.groups, "threshold": row.threshold, **about}
        measured.append(evaluate(y, row.given, **how))
        statuses.append(decision_status(y, row.decided, **about))
    points = pd.concat(measured, ignore_index=True)
    status = pd.concat(statuses, ignore_index=True)
    points[["selection_rate", "status"]] = status[["selection_rate", "status"]]
    points[["gap", "gap_low", "gap_high"]] = gaps
    if table.y is None:
        points[list(_OF_OUTCOME)] = np.nan
    points.insert(0, "table", table.name)
    points.insert(1, "label", labels)
    return points


def measured_on(
    table: DriftTable, predicted: NDArray[Any] | Drawn, measure: str, min_size: int
) -> LocalMeasure:
    """Return a measure of one model on a table, by group and subgroup.

    Raises ValueError when the table has rows of one group only.
    """
    if len(np.unique(table.groups.codes)) < 2:
        raise ValueError(_ONE_GROUP.format(table.name))
    return LocalMeasure.of(
        measure,
        table.y,
        predicted,
        sensitive_features=table.groups,
        subgroups=table.subgroups,
        min_size=min_size,
        sample_weight=table.weight,
        cluster=table.unit,
    )


def farthest_groups(name: str, measured: LocalMeasure) -> tuple[str, str]:
    """Return the groups with the lowest and the highest value over all rows.

    Raises ValueError when fewer than two groups have rows that the measure is about;
    ``name`` is of the table.
    """
    values = measured.whole.value
    groups = measured.cells.groups
    n_valued = int(np.isfinite(values).sum())
    if n_valued < 2:
        raise ValueError(_ONE_GROUP.format(name))
    order = np.argsort(values, kind="stable")  # two groups also where all are equal
    return groups[order[0]], groups[order[n_valued - 1]]


def gap_changes(
    tables: Sequence[DriftTable],
    measured: Sequence[LocalMeasure],
    pair: tuple[str, str],
    *,
    times: int = 1,
) -> pd.DataFrame:
    r"""Change of the gap between two groups, over all rows and in every subgroup.

    The gap is signed, :math:`d = \hat m_{high} - \hat m_{low}`. The two tables are
    independent samples, so that with the intervals :math:`(l_i, u_i)` of the gaps the
    change has the interval

    .. math::

        d_1 - d_0 - \sqrt{(d_1 - l_1)^2 + (u_0 - d_0)^2}
        \quad\text{to}\quad
        d_1 - d_0 + \sqrt{(u_1 - d_1)^2 + (d_0 - l_0)^2}

    Over the m estimable subgroups all are at 1 - .05 / m (Bonferroni): they hold at
    once, so whichever change looks largest may be named. The pair was chosen by its gap
    on the first table; of more than two groups m counts all pairs. The intervals
    hold for so many such tables at once, ``times``.

    Returns a row for all rows, "All rows", and one per subgroup: subgroup, n_before,
    n_after, gap_before, before_low, before_high, gap_after, after_low, after_high (each
    at 95 %), change, ci_low, ci_high, estimable, reason.

    References
    ----------
    R. G. Newcombe (1998), Stat. Med. 17, 873-890, method 10. G. Y. Zou and A. Donner
    (2008), Construction of confidence limits about effect measures: a general
    approach. Stat. Med. 27, 1693-1702.
    """
    subgroups = [*map(str, tables[0].subgroups.categories)]
    table_pairs = [*zip(tables, measured, strict=True)]
    reasons = {
        subgroup: next(
            filter(None, (_reason(*side, subgroup) for side in table_pairs)), ""
        )
        for subgroup in subgroups
    }
    n_groups = len(measured[0].cells.groups)
    m = max(sum(not reason for reason in reasons.values()), 1)
    rows = []
    for subgroup in (None, *subgroups):
        places = times * (1 if subgroup is None else m)
        level = intervals.for_all_pairs(_CONFIDENCE, n_groups, times=places)
        before, after = (_gap(side, pair, subgroup, _CONFIDENCE) for side in measured)
        old, new = (_gap(side, pair, subgroup, level) for side in measured)
        change = (new.value - old.value, *intervals.difference_of(new, old))
        reason = "" if subgroup is None else reasons[subgroup]
        if not reason and np.isnan(change[0]):
            reason = "a group has no rows"
        numbers = [float(x) for x in (*before, *after, *change)]
        if reason:
            numbers = [np.nan] * len(_NUMBERS)
        rows.append(
            {
                "subgroup": subgroup or NO_SUBGROUPS,
                "n_before": _rows(*table_pairs[0], subgroup),
                "n_after": _rows(*table_pairs[1], subgroup),
                **dict(zip(_NUMBERS, numbers, strict=True)),
                "estimable": not reason,
                "reason": reason,
            }
        )
    return pd.DataFrame(rows)


def _gap(
    measured: LocalMeasure, pair: tuple[str, str], subgroup: str | None, level: float
) -> intervals.Interval:
    low, high = pair
    if not {low, high} <= set(measured.cells.groups):
        return intervals.Interval(*np.full(3, np.nan))
    return measured.between(high, low, subgroup=subgroup, confidence=level)


def _reason(table: DriftTable, measured: LocalMeasure, subgroup: str) -> str:
    if subgroup not in measured.cells.subgroups:
        return f"0 rows in {table.name}"
    reason = measured.reasons[measured.cells.subgroups.index(subgroup)]
    return f"{reason} in {table.name}" if reason else ""


def _rows(table: DriftTable, measured: LocalMeasure, subgroup: str | None) -> int:
    if subgroup is None:
        return table.n_people
    if subgroup not in measured.cells.subgroups:
        return 0
    return int(measured.reported().n[measured.cells.subgroups.index(subgroup)].sum())
