"""Stored models of one table on others: numbers per table, gaps, shifts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._validation import check_one_of
from fairdash.audits.drifts.facts import DriftResult
from fairdash.audits.drifts.gaps import GapCells, gap_changes, gap_drivers
from fairdash.audits.drifts.points import (
    DRIFT_MEASURES,
    gap_points,
    points_column,
    points_columns,
    points_on_tables,
    predicted_of,
)
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
    LocalMeasure,
    decision_status,
    error_costs,
    evaluate,
    ratio_interval,
    seed_interval,
)
from fairdash.store import Store
from fairdash.sweep import SweepSpec, pareto_front

MOST_MODELS = 60
_ODDS = ("true_positive_rate", "false_positive_rate")


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
    measure: str = "demographic_parity_difference",
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
    measure : {"demographic_parity_difference", "worst_1_di", \
"equalized_odds_difference"} or str
        The gaps compared are of selection rates; for equalized odds of true or of
        false positive rates, of which the gap on the new table is the wider, with
        intervals that hold for both. Or any measure of
        `fairdash.metrics.measure_by_group`: its gaps.
    seed : int, optional
        By default the first of ``main``.
    other, parts
        As in `drift_tables`.
    against : str, optional
        The table compared with the reference; by default the last.

    Raises
    ------
    ValueError
        As `drift_tables`; when a model cannot be read; when equalized odds, or another
        measure that needs the outcome, are asked of tables without one.
    """
    held = _hold(
        store, models, dataset_id, main, subgroups, measure, seed, other, parts
    )
    dataset, tables, scores = held.dataset, held.tables, held.scores
    names = [table.name for table in tables]
    place = names.index(against) if against in names[1:] else len(names) - 1
    decided = [(of_table[0] > 0.5).astype(np.int8) for of_table in scores]
    rate = _rate(measure, tables[place], decided[place])
    before, after = (
        GapCells.of(tables[i], predicted_of(scores[i][0], rate), rate)
        for i in (0, place)
    )
    pair = before.pair()
    at_once = {"n_rates": len(_ODDS) if measure == DRIFT_MEASURES[2] else 1}
    training = dataset.frame.iloc[split(dataset, held.seed).train]
    features = dataset.roles.features
    # what divides the tables differs between them by design
    columns = tuple(name for name in features if name != parts) or features
    frames = tables[0].frame, tables[place].frame
    return DriftResult(
        label=main.label,
        measure=points_column(measure),
        rate=rate,
        outcome=dataset.roles.spoken_outcome(),
        feature=dataset.roles.sensitive_feature,
        low=before.groups[pair[0]],
        high=before.groups[pair[1]],
        seed=held.seed,
        tables=tuple(tables),
        against=place,
        points=held.points,
        whole=gap_changes(before.whole(), after.whole(), pair, min_size=1, **at_once),
        changes=gap_changes(
            before, after, pair, min_size=subgroups.min_size, **at_once
        ),
        drivers=gap_drivers(before, after, pair, **at_once)
        if rate in RATES
        else pd.DataFrame(),
        shifts=column_shifts(*frames, training, columns=columns),
        unseen=unseen_rows(frames[1], training, columns=columns),
        chance=tuple(
            _floor(table, d, subgroups.min_size)
            for table, d in zip(tables, decided, strict=True)
        ),
        ratios=tuple(
            ratio_interval(
                rate,
                table.y,
                predicted_of(of_table[0], rate),
                sensitive_features=table.groups,
                sample_weight=table.weight,
            )
            for table, of_table in zip(tables, scores, strict=True)
        ),
        excluded=held.excluded,
    )


def drift_over_seeds(
    store: Store,
    models: Sequence[Setting],
    dataset_id: str,
    *,
    main: Setting,
    subgroups: Subgroups,
    measure: str = "demographic_parity_difference",
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
        (``n_seeds``; of none, its status is told). Ends, also of changes from the
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
    told = ["accuracy", "selection_rate", *points_columns(measure)]
    # test rows differ from seed to seed, and so has their table its own size
    first = rows[rows["table"] == rows["table"].iloc[0]].set_index(["label", "seed"])
    found = []
    for _, mine in rows.groupby(["table", "label"], sort=False):
        able = mine[mine["status"] == ""]
        row: dict[Any, Any] = mine.iloc[0].to_dict() | {"n_seeds": len(able)}
        row["front"] = bool(len(able)) and bool(able["front"].mean() > 0.5)
        row["status"] = "" if len(able) else row["status"]
        for name in told:
            before = first.loc[pd.MultiIndex.from_frame(able[["label", "seed"]]), name]
            changes = able[name].to_numpy() - before.to_numpy()
            for what, values in ((name, able[name]), (f"{name}_change", changes)):
                mean, low, high = map(float, seed_interval(values))
                row |= {f"{what}_low": low, f"{what}_high": high}
                if what != name or len(able):
                    row[what] = mean
        found.append(row)
    return pd.DataFrame(found)


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
        check_one_of("measure", measure, (*DRIFT_MEASURES, *MEASURES, COST))
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
    known = measure in (*DRIFT_MEASURES[:2], "selection_rate")
    if not known and any(table.y is None for table in tables):
        odds = measure == DRIFT_MEASURES[2]
        name = "Equalized odds need" if odds else f"{MEASURE_NAMES[measure]} needs"
        raise ValueError(
            f"{name} the outcome, column {dataset.roles.target!r}, in "
            "every table; add it, or choose DI or Worst-1-DI."
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
    rows = split(dataset, seed).validation
    weight = dataset.weight_of(rows)
    scores = np.stack([store.artifact(one.key).scores()[rows] for one in scored])
    found = evaluate(
        dataset.y[rows],
        scores,
        sensitive_features=dataset.groups[rows],
        subgroups=subgroups.label(dataset.frame).iloc[rows],
        min_size=subgroups.min_size,
        sample_weight=weight,
    )
    gaps = gap_points(dataset.y[rows], dataset.groups[rows], scores, measure, weight)
    found = found.join(gaps).add_prefix("validation_")
    decided = (scores > 0.5).astype(np.int8)
    status = decision_status(dataset.y[rows], decided, sample_weight=weight)["status"]
    found["validation_constant"] = (status != "").to_numpy()
    axes = f"validation_{points_column(measure)}", "validation_accuracy"
    methods = np.array([one.setting.method for one in scored])
    flags = np.zeros(len(scored), bool)
    for method in set(methods.tolist()):
        flags[pareto_front(found[methods == method], axes=axes).index] = True
    return flags


def _rate(measure: str, table: DriftTable, decided: NDArray[np.int8]) -> str:
    """Return the rate whose gaps are compared; of odds the one apart more."""
    if measure not in DRIFT_MEASURES:
        return measure
    if measure != DRIFT_MEASURES[2]:
        return "selection_rate"
    apart = []
    for rate in _ODDS:
        by_group = GapCells.of(table, decided, rate).by_group
        by_group = by_group[np.isfinite(by_group)]
        apart.append(float(np.ptp(by_group)) if len(by_group) else 0.0)
    return _ODDS[int(np.argmax(apart))]


def _floor(table: DriftTable, decided: NDArray[np.int8], min_size: int) -> float:
    found = LocalMeasure.of(
        "selection_rate",
        None,
        decided,
        sensitive_features=table.groups,
        subgroups=table.subgroups,
        min_size=min_size,
        sample_weight=table.weight,
    )
    return found.noise_floor().quantile
