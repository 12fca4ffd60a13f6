"""Stored models of one table on others: numbers per table, gaps, shifts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of
from fairdash.audits.drifts.gaps import farthest_groups, gap_changes, measured_on
from fairdash.audits.drifts.points import (
    gap_column,
    points_on_tables,
    predicted_of,
    table_points,
)
from fairdash.audits.drifts.result import DriftResult
from fairdash.audits.drifts.shifts import column_shifts, unseen_rows
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
    error_costs,
    measure_by_group,
    seed_interval,
)
from fairdash.store import Store
from fairdash.sweep import SweepSpec, pareto_front

MOST_MODELS = 60


@dataclass(frozen=True, eq=False)
class _Scored:
    """A stored model that can score any table."""

    setting: Setting
    key: str
    model: PortableModel


def drift(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    *,
    main: Setting,
    subgroups: Subgroups,
    measure: str = "selection_rate",
    seed: int | None = None,
    other: tuple[str, pd.DataFrame] | None = None,
    parts: str | None = None,
    against: str | None = None,
) -> DriftResult:
    """Hold stored models to tables that they were not trained on.

    Every model keeps the encoding fitted on its training rows. Which of a method's
    models form its front is decided on validation rows of the training table.

    Parameters
    ----------
    measure : str
        Any of `fairdash.metrics.measure_by_group`: its gaps are compared.
    seed : int, optional
        By default the first of ``main``.
    other, parts
        As in `drift_tables`.
    against : str, optional
        The table compared with the reference; by default the last.

    Raises
    ------
    ValueError
        As `drift_tables`; when a model cannot be read; when a measure that needs the
        outcome is asked of tables without one.
    """
    held = _hold(
        store, models, dataset_id, main, subgroups, measure, seed, other, parts
    )
    dataset, tables, scores = held.dataset, held.tables, held.scores
    names = [table.name for table in tables]
    place = names.index(against) if against in names[1:] else len(names) - 1
    compared = tables[0], tables[place]
    predicted = [predicted_of(scores[i][0], measure) for i in (0, place)]
    pair = farthest_groups(
        names[0],
        measure_by_group(
            measure,
            tables[0].y,
            predicted[0],
            sensitive_features=tables[0].groups,
            sample_weight=tables[0].weight,
        ),
    )
    measured = [
        measured_on(table, of_table, measure, subgroups.min_size)
        for table, of_table in zip(compared, predicted, strict=True)
    ]
    changes = gap_changes(compared, measured, pair)
    training = dataset.frame.iloc[split(dataset, held.seed).train]
    features = dataset.roles.features
    # what divides the tables differs between them by design
    columns = tuple(name for name in features if name != parts) or features
    frames = tables[0].frame, tables[place].frame
    return DriftResult(
        label=main.label,
        measure=measure,
        outcome=dataset.roles.spoken_outcome(),
        feature=dataset.roles.sensitive_feature,
        low=pair[0],
        high=pair[1],
        seed=held.seed,
        tables=tuple(tables),
        against=place,
        points=held.points,
        whole=changes.iloc[:1],
        changes=changes.iloc[1:].reset_index(drop=True),
        shifts=column_shifts(*frames, training, columns=columns),
        unseen=unseen_rows(frames[1], training, columns=columns),
        excluded=held.excluded,
    )


def drift_over_seeds(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    *,
    main: Setting,
    subgroups: Subgroups,
    measure: str = "selection_rate",
    other: tuple[str, pd.DataFrame] | None = None,
    parts: str | None = None,
) -> pd.DataFrame:
    """Hold models to other tables on every seed of one of them, and average.

    What training and the split make of a model differs from seed to seed; the rows of
    another table do not. Parameters and errors are those of `drift`.

    Returns
    -------
    DataFrame
        As `DriftResult.points`, one row per table that all these seeds have and model
        that has all of them, averaged over those on which it decides there
        (``n_seeds``; of none, its status is kept). Ends, also of changes from the
        first table, are of Student's intervals over seeds, NaN for one: they say
        nothing of other rows than these. ``front``: on most seeds.
    """
    by_seed = [
        _hold(
            store, models, dataset_id, main, subgroups, measure, seed, other, parts
        ).points.assign(seed=seed)
        for seed in main.seeds
    ]
    rows = pd.concat(by_seed, ignore_index=True)
    for name in ("table", "label"):  # means over other seeds are not compared
        n_seeds = rows.groupby(name)["seed"].transform("nunique")
        rows = rows[n_seeds == len(by_seed)]
    if rows.empty:
        raise ValueError(
            "No part of the table has test rows on every seed; choose another column."
        )
    # test rows differ from seed to seed, and so has their table its own size
    first = rows[rows["table"] == rows["table"].iloc[0]].set_index(["label", "seed"])
    means = []
    for _, of_model in rows.groupby(["table", "label"], sort=False):
        able = of_model[of_model["status"] == ""]
        row: dict[Any, Any] = of_model.iloc[0].to_dict() | {"n_seeds": len(able)}
        row["front"] = bool(len(able)) and bool(able["front"].mean() > 0.5)
        row["status"] = "" if len(able) else row["status"]
        for name in ("accuracy", "selection_rate", gap_column(measure)):
            before = first.loc[pd.MultiIndex.from_frame(able[["label", "seed"]]), name]
            changes = able[name].to_numpy() - before.to_numpy()
            for what, values in ((name, able[name]), (f"{name}_change", changes)):
                mean, low, high = map(float, seed_interval(values))
                row |= {f"{what}_low": low, f"{what}_high": high}
                if what != name or len(able):
                    row[what] = mean
        means.append(row)
    return pd.DataFrame(means)


class _Held(NamedTuple):
    """Models of one seed on tables: what every question about them needs."""

    dataset: Dataset
    seed: int
    tables: list[DriftTable]
    scores: list[NDArray[np.float64]]
    points: pd.DataFrame
    excluded: tuple[str, ...]


def _hold(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    main: Setting,
    subgroups: Subgroups,
    measure: str,
    seed: int | None,
    other: tuple[str, pd.DataFrame] | None,
    parts: str | None,
) -> _Held:
    """Score the models of a seed on every table."""
    if error_costs(measure) is None:
        check_one_of("measure", measure, (*MEASURES, COST))
    dataset = store.dataset(dataset_id)
    seed = min(main.seeds) if seed is None else seed
    first = _scored(store, dataset, main, seed)
    tables = drift_tables(
        dataset,
        seed,
        first.model,
        subgroups,
        other=other,
        parts=parts,
        whole=_whole(store, dataset, parts),
    )
    rate = RATES.get(measure)
    needs_outcome = rate is None or rate.needs_outcome
    if needs_outcome and any(table.y is None for table in tables):
        raise ValueError(
            f"{MEASURE_NAMES[measure]} needs the outcome, column "
            f"{dataset.roles.target!r}, in every table; add it, or choose the "
            "selection rate."
        )
    scored, excluded = [first], []
    for setting in models:
        if setting.id == main.id:
            continue
        if seed not in setting.seeds:
            excluded.append(f"{setting.label} was not trained on seed {seed}")
        elif len(scored) == MOST_MODELS:
            excluded.append(f"{setting.label}: only {MOST_MODELS} are compared")
        else:
            try:
                scored.append(_scored(store, dataset, setting, seed))
            except ValueError as error:
                excluded.append(f"{setting.label}: {error}")
    scores = [
        np.stack([one.model.score_prepared(table.frame) for one in scored])
        for table in tables
    ]
    front = _on_front(store, dataset, scored, seed, measure, subgroups)
    points = points_on_tables(
        tables,
        [one.setting for one in scored],
        scores,
        front,
        measure,
        subgroups.min_size,
    )
    return _Held(dataset, seed, tables, scores, points, tuple(excluded))


def _scored(store: Store, dataset: Dataset, setting: Setting, seed: int) -> _Scored:
    trials = [trial for trial in setting.trials if trial.seed == seed]
    if not trials:
        raise ValueError(
            f"{setting.label} was not trained on seed {seed}: {sorted(setting.seeds)}."
        )
    spec = SweepSpec.of_run(store.run_of(trials[0].key).spec)
    model = read_model(store, trials[0], audit_rows_of(dataset, trials[0], spec))
    return _Scored(setting, trials[0].key, PortableModel.of(model, trials[0]))


def _whole(store: Store, dataset: Dataset, parts: str | None) -> pd.DataFrame | None:
    """Return the file of a data set where a filter keeps values of ``parts``."""
    if parts in dataset.roles.keep and dataset.table_key:
        return store.table(dataset.table_key)
    return None


def _on_front(
    store: Store,
    dataset: Dataset,
    scored: Sequence[_Scored],
    seed: int,
    measure: str,
    subgroups: Subgroups,
) -> NDArray[np.bool_]:
    """Flag the models that no other one of their method beats on validation rows."""
    where = split(dataset, seed).validation
    rows = DriftTable(
        dataset.name,
        dataset.frame.iloc[where],
        dataset.y[where],
        dataset.groups[where],
        subgroups.label(dataset.frame).iloc[where].array,
        weight=dataset.weight_of(where),
        unit=None if dataset.unit is None else dataset.unit[where],
    )
    scores = np.stack([store.artifact(one.key).scores()[where] for one in scored])
    points = table_points(rows, scores, measure, min_size=subgroups.min_size)
    points = points.add_prefix("validation_")
    points["validation_constant"] = points["validation_status"] != ""
    axes = f"validation_{gap_column(measure)}", "validation_accuracy"
    methods = np.array([one.setting.method for one in scored])
    flags = np.zeros(len(scored), bool)
    for method in set(methods.tolist()):
        flags[pareto_front(points[methods == method], axes=axes).index] = True
    return flags
