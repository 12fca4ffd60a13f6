"""Stored models of one table on another: quality, gaps, shifts of columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of
from fairdash.audits.drifts.changes import farthest_groups, gap_changes, measured_on
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.shifts import column_shifts
from fairdash.audits.drifts.tables import DriftTable, drift_tables
from fairdash.audits.portable import PortableModel
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.trials.models import Setting
from fairdash.datasets import Dataset, Subgroups, split
from fairdash.metrics import (
    COST,
    MEASURE_NAMES,
    MEASURES,
    RATES,
    SCORE_MEASURES,
    decision_status,
    error_costs,
    evaluate,
)
from fairdash.store import Store
from fairdash.sweep import SweepSpec

_OF_OUTCOME = (
    "accuracy", "accuracy_low", "accuracy_high", "balanced_accuracy", "auc", "log_loss",
    "equalized_odds_difference", "equal_opportunity_difference",
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

    Every model keeps the encoding fitted on its training rows.

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
    if error_costs(measure) is None:
        check_one_of("measure", measure, (*MEASURES, COST))
    dataset = store.dataset(dataset_id)
    seed = min(main.seeds) if seed is None else seed
    first = _scored(store, dataset, main, seed)
    scored, excluded = {main.label: first}, []
    tables = drift_tables(dataset, seed, first, subgroups, other)
    rate = RATES.get(measure)
    if (rate is None or rate.needs_outcome) and tables[1].y is None:
        raise ValueError(
            f"{MEASURE_NAMES[measure]} needs the outcome, column "
            f"{dataset.roles.target!r}, in every table; add it, or choose the "
            "selection rate."
        )
    for setting in models:
        if setting.id == main.id:
            continue
        try:
            scored[setting.label] = _scored(store, dataset, setting, seed)
        except ValueError as error:
            excluded.append(f"{setting.label}: {error}")
    points, measured = [], []
    for table in tables:
        scores = np.stack(
            [each.score_prepared(table.frame) for each in scored.values()]
        )
        of_models = [
            measured_on(table, _predicted(row, measure), measure, subgroups.min_size)
            for row in scores
        ]
        gaps = np.array([each.overall() for each in of_models], dtype=np.float64)
        points.append(_points(table, [*scored], scores, gaps))
        measured.append(of_models[0])
    pair = farthest_groups(tables[0].name, measured[0])
    training = dataset.frame.iloc[split(dataset, seed).train]
    frames = tables[0].frame, tables[1].frame
    columns = dataset.roles.features
    return DriftResult(
        label=main.label,
        measure=measure,
        feature=dataset.roles.sensitive_feature,
        low=pair[0],
        high=pair[1],
        seed=seed,
        tables=tables,
        points=pd.concat(points, ignore_index=True),
        changes=gap_changes(tables, measured, pair),
        shifts=column_shifts(*frames, training, columns=columns),
        excluded=tuple(excluded),
    )


def _scored(
    store: Store, dataset: Dataset, setting: Setting, seed: int
) -> PortableModel:
    trials = [trial for trial in setting.trials if trial.seed == seed]
    if not trials:
        raise ValueError(
            f"{setting.label} was not trained on seed {seed}: {sorted(setting.seeds)}."
        )
    spec = SweepSpec.of_run(store.run_of(trials[0].key).spec)
    model = read_model(store, trials[0], audit_rows_of(dataset, trials[0], spec))
    return PortableModel.of(model, trials[0])


def _predicted(scores: NDArray[Any], measure: str) -> NDArray[Any]:
    return scores if measure in SCORE_MEASURES else (scores > 0.5).astype(np.int8)


def _points(
    table: DriftTable,
    labels: Sequence[str],
    scores: NDArray[np.float64],
    gaps: NDArray[np.float64],
) -> pd.DataFrame:
    """Return quality and fairness of models on a table, one row each."""
    y = table.y if table.y is not None else np.zeros(table.n, np.int8)
    about: dict[str, Any] = {"sample_weight": table.weight, "cluster": table.unit}
    points = evaluate(y, scores, sensitive_features=table.groups, **about)
    status = decision_status(y, (scores > 0.5).astype(np.int8), **about)
    points[["selection_rate", "status"]] = status[["selection_rate", "status"]]
    points[["gap", "gap_low", "gap_high"]] = gaps
    if table.y is None:
        points[list(_OF_OUTCOME)] = np.nan
    points.insert(0, "table", table.name)
    points.insert(1, "label", labels)
    return points
