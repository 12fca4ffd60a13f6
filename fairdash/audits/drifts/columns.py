"""A column of predictions on two tables, by group, and how its gaps change."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import _wording as wording
from fairdash._change import excludes_zero
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.drifts.result import moved_by, moved_gap
from fairdash.audits.drifts.study import farthest_groups, gap_changes, measured_on
from fairdash.audits.drifts.tables import DriftTable, drift_tables
from fairdash.audits.gaps.measured import other_measures
from fairdash.audits.portable_model import PortableModel
from fairdash.audits.tables.outcomes import OF_CLASS
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.own_settings import own_models
from fairdash.datasets import Dataset, Subgroups
from fairdash.metrics import LocalMeasure, catalog, intervals
from fairdash.store import Store

_FEWEST = 10  # rows of a group in each table, for its change to be named
_FAMILIES = 3  # groups, the gap over all rows, gaps inside subgroups: held at once
_HOW = """
Left, the value of each group, then the gap between two groups: **open** before,
**filled** on the other table. These two are farthest apart on the data set. Right, the
change; where its interval excludes 0 it is black. Intervals hold for all groups,
measures, subgroups and classes at once. **Exposure** of the longer table is read at the
length of the shorter one. Neighbours in its ranking share a place.
"""


def column_models(store: Store, dataset_id: str) -> list[Setting]:
    """Return the columns of predictions that a table has, as models."""
    in_table = store.dataset_record(dataset_id).roles.scores
    return own_models(store, dataset_id)[: len(in_table)]  # not those added later


def column_measures(store: Store, model: Setting, dataset_id: str) -> list[str]:
    """Return the measures by which a column is compared with that of another table."""
    return other_measures(store, model, dataset_id) or list(OF_CLASS)


def column_drift(
    store: Store,
    main: Setting,
    dataset_id: str,
    *,
    other: tuple[str, pd.DataFrame],
    measure: str,
    subgroups: Subgroups,
) -> Answer:
    """Compare predictions on all rows of a data set with those on another table.

    ``main`` is of `column_models`, ``measure`` of `column_measures`, and the other
    table has the column. Arguments and errors are those of `fairdash.audits.drift`.

    Returns
    -------
    Answer, whose ``data`` are of `changes_by_group`, then of `gap_changes`
    """
    score = main.score
    assert score is not None, "own scores name their column"
    dataset = store.dataset(dataset_id)
    about = catalog.measure_of(measure)
    tables = _both_tables(dataset, score.column, measure, subgroups, other, store.table)
    predicted = [score.values(table.frame) for table in tables]
    family = [
        item
        for item in map(catalog.measure_of, column_measures(store, main, dataset_id))
        if item.outcome == about.outcome
        and (tables[1].y is not None or not item.needs_outcome)
    ]
    measured = {
        item.key: measured_on_both(tables, predicted, item.key, subgroups.min_size)
        for item in family
    }
    target = dataset.roles.target
    classes = dataset.frame[target].nunique() if about.outcome == "classes" else 1
    times = _FAMILIES * classes
    changes = changes_by_group(measured, dataset.group_names, times=times)
    pair = farthest_groups(tables[0].name, measured[measure][0])
    gaps = gap_changes(tables, measured[measure], pair, times=times)
    clear = gaps["estimable"] & excludes_zero(gaps["ci_low"], gaps["ci_high"])
    feature = dataset.roles.group_prefix()
    low, high = (wording.group_label(feature, group) for group in pair)
    between = f"{high} {wording.MINUS} {low}"
    gaps = gaps.assign(measure=measure, group=between, clear=clear)
    return _answer(tables, changes, gaps, measure, feature)


def _both_tables(
    dataset: Dataset,
    column: str,
    measure: str,
    subgroups: Subgroups,
    other: tuple[str, pd.DataFrame],
    read: Callable[[str], pd.DataFrame],
) -> tuple[DriftTable, DriftTable]:
    about = catalog.measure_of(measure)
    columns: dict[str, Any] = {"features": (column,), "missing": "exclude"}
    dataset = replace(dataset, roles=dataset.roles.model_copy(update=columns))
    no_model: Any = None
    reader = PortableModel(no_model, no_model, dataset.roles, dataset.group_names)
    first, second = drift_tables(dataset, None, reader, subgroups, other, read)
    if about.outcome == "number":
        after = second.outcome
        y = None if after is None else after.to_numpy(np.float64)
        first = replace(first, y=dataset.outcome_numbers)
        second = replace(second, y=y)
    if about.needs_outcome and second.y is None:
        raise ValueError(
            f"{catalog.MEASURE_NAMES[measure]} needs the outcome, column "
            f"{dataset.roles.target!r}, in every table; add it, or choose a measure "
            "without errors."
        )
    return first, second


def _verdict(own: pd.DataFrame, gaps: pd.DataFrame, measure: str, table: str) -> str:
    name = catalog.MEASURE_NAMES[measure]
    groups = own[own["clear"]]
    places = gaps[gaps["clear"]]
    if len(groups):
        row = groups.sort_values("change", key=abs).iloc[-1]
        verb = "rises" if row["change"] > 0 else "falls"
        return f"{name} {verb} {moved_by(row, measure)} for {row['subgroup']}."
    if len(places):
        row = places.sort_values("change", key=abs).iloc[-1]
        return moved_gap(row, measure, table)
    return f"{name} and its gaps change by no more than chance would show."


def _answer(
    tables: tuple[DriftTable, DriftTable],
    changes: pd.DataFrame,
    gaps: pd.DataFrame,
    measure: str,
    feature: str,
) -> Answer:
    in_points = catalog.measure_of(measure).in_points
    name = catalog.MEASURE_NAMES[measure]
    of_measure = changes[changes["measure"] == measure]
    labels = [wording.group_label(feature, group) for group in of_measure["group"]]
    of_measure = of_measure.assign(subgroup=labels)
    value = wording.percent if in_points else wording.number
    signed = wording.points if in_points else wording.change
    with_gaps = pd.concat(
        [of_measure, gaps.assign(subgroup="Gap: " + gaps["subgroup"])]
    )
    n = int(of_measure["clear"].sum())
    total = wording.plural(len(of_measure), "group")
    headline = f"{name} changes clearly in {n or 'none'} of {total}"
    look = {"headline": headline, "title": name, "in_points": in_points}
    data = pd.concat([changes.assign(subgroup=wording.NO_SUBGROUPS), gaps])
    columns = ["measure", "subgroup", "group", "gap_before", "gap_after"]
    columns += ["change", "ci_low", "ci_high", "n_after"]
    own_names = {"subgroup": "Rows", "gap_before": "Before", "gap_after": "After"}
    table = wording.headed(data, columns, **own_names, n_after="Rows after")
    table["Measure"] = table["Measure"].map(catalog.MEASURE_NAMES)
    return Answer(
        _verdict(of_measure, gaps, measure, tables[1].name),
        [
            wording.Kpi(
                row["subgroup"],
                value(row["gap_after"]),
                f"was {value(row['gap_before'])}",
                delta=signed(row["change"]),
            )
            for row in of_measure.to_dict("records")
        ],
        Drawing("plot_gap_changes", with_gaps, look),
        Listing("Changes by group, and of gaps", table),
        ". ".join(why for t in tables for why in t.remarks),
        facts=tuple(f"{t.name}: {t.size}" for t in tables),
        how=_HOW,
        file="fairdash-drift.csv",
        data=data,
    )


def measured_on_both(
    tables: Sequence[DriftTable],
    predicted: Sequence[NDArray[np.float64]],
    measure: str,
    min_size: int,
) -> list[LocalMeasure]:
    """Return a measure on each table; exposure at the length of the shorter one."""
    if measure == "exposure":
        places = min(map(len, predicted))
        predicted = [catalog.exposure(scores, places) for scores in predicted]
        measure = "mean_prediction"
    sides = zip(tables, predicted, strict=True)
    return [measured_on(table, values, measure, min_size) for table, values in sides]


def changes_by_group(
    measured: Mapping[str, Sequence[LocalMeasure]],
    groups: Sequence[str],
    *,
    times: int = 1,
) -> pd.DataFrame:
    r"""Return how measures change by group, of `measured_on_both` by measure.

    The tables are independent samples. With intervals :math:`(l_i, u_i)` of the values
    :math:`m_i` (Student's of means, Wilson's of rates) a change has the interval of Zou
    and Donner (2008), as in `fairdash.audits.drifts.study.gap_changes`; the intervals
    of all k rows, in so many such tables, ``times``, are at 1 - .05 / (k times)
    (Bonferroni), so whichever is largest may be named.

    Returns a row per measure and group: measure, group, gap_before, before_low,
    before_high, gap_after, after_low, after_high (of the value), change, ci_low,
    ci_high, n_before, n_after, estimable (both tables have ten rows that the measure
    is about), reason (if not), clear (and the interval excludes 0).
    """
    times *= len(measured) * len(groups)
    level = intervals.for_all_pairs(0.95, 2, times=times)
    parts = []
    for measure, sides in measured.items():
        part = pd.DataFrame(
            {"measure": measure, "group": groups}, index=pd.Index(groups)
        )
        measured_groups = []
        for when, local in zip(("before", "after"), sides, strict=True):
            value, low, high = local.whole.interval(level)
            names = f"gap_{when}", f"{when}_low", f"{when}_high", f"n_{when}"
            estimate = dict(zip(names, (value, low, high, local.whole.n), strict=True))
            part = part.join(pd.DataFrame(estimate, index=local.cells.groups))
            measured_groups.append(
                intervals.Interval(*part[list(names[:3])].to_numpy().T)
            )
        old, new = measured_groups
        part["change"] = new.value - old.value
        part["ci_low"], part["ci_high"] = intervals.difference_of(new, old)
        part["estimable"] = (part[["n_before", "n_after"]] >= _FEWEST).all(axis=1)
        part["reason"] = f"fewer than {_FEWEST} rows"
        beyond = excludes_zero(part["ci_low"], part["ci_high"])
        parts.append(part.assign(clear=beyond & part["estimable"]))
    return pd.concat(parts, ignore_index=True)
