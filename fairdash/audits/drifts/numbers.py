"""Predicted numbers on two tables: means and errors by group, and how they change."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash import _wording as wording
from fairdash.audits.answer import Answer, Drawing, Listing
from fairdash.audits.drifts.study import measured_on
from fairdash.audits.drifts.tables import DriftTable, drift_tables
from fairdash.audits.portable import PortableModel
from fairdash.audits.trials import rows
from fairdash.audits.trials.models import Setting
from fairdash.datasets import Subgroups
from fairdash.metrics import catalog, intervals
from fairdash.store import Store

_FEWEST = 10  # rows of a group in each table, for its change to be named
_SHOWN = {
    "measure": "Measure", "group": "Group", "gap_before": "Before",
    "gap_after": "After", "change": "Change", "ci_low": "Low", "ci_high": "High",
    "n_after": "Rows after",
}  # fmt: skip
_HOW = """
Left, the value of each group: **open** on the data set, **filled** on the other table.
Right, the change; where its interval excludes 0 it is black. Intervals are Student's
and hold for all groups and measures at once.
"""


def number_models(store: Store, dataset_id: str) -> list[Setting]:
    """Return the columns of a table that predict numbers, where the outcome is one."""
    if store.dataset(dataset_id).outcome_numbers is None:
        return []
    # added scores are in no other table
    in_table = store.dataset_record(dataset_id).roles.scores
    models = zip(rows.own_models(store, dataset_id), in_table, strict=False)
    return [model for model, score in models if score.kind == "score"]


def drift_of_numbers(
    store: Store,
    main: Setting,
    dataset_id: str,
    *,
    other: tuple[str, pd.DataFrame],
    measure: str = "mean_prediction",
) -> Answer:
    """Compare predicted numbers on all rows of a data set with those on another table.

    ``main`` is of `number_models`, and the other table has its column. Arguments and
    errors are those of `fairdash.audits.drift`.

    Returns
    -------
    Answer, whose ``data`` are of `changes_by_group`
    """
    score = rows.score_of_key(main.trials[0].key)
    assert score is not None, "own scores name their column"
    dataset = store.dataset(dataset_id)
    columns: dict[str, Any] = {"features": (score.column,), "missing": "exclude"}
    dataset = replace(dataset, roles=dataset.roles.model_copy(update=columns))
    no_model: Any = None
    reader = PortableModel(no_model, no_model, dataset.roles, dataset.group_names)
    before, after = drift_tables(dataset, rows.ALL_ROWS, reader, Subgroups(), other)
    y = None if after.outcome is None else after.outcome.to_numpy(np.float64)
    tables = replace(before, y=dataset.outcome_numbers), replace(after, y=y)
    predicted = [score.values(table.frame) for table in tables]
    changes = changes_by_group(tables, predicted)
    own, name = changes[changes["measure"] == measure], catalog.MEASURE_NAMES[measure]
    if own.empty:
        target = dataset.roles.target
        message = f"{name} needs the outcome, column {target!r}, in every table"
        raise ValueError(f"{message}; add it, or choose the mean prediction.")
    label = partial(wording.group_label, dataset.roles.sensitive_feature)
    own = own.assign(subgroup=own["group"].map(label))
    clear = own[own["clear"]]
    verdict = f"{name} changes in no group by more than chance would show."
    if len(clear):
        row = clear.iloc[int(clear["change"].abs().argmax())]
        verb = "rises" if row["change"] > 0 else "falls"
        size = wording.number(abs(row["change"]))
        low, high = sorted(abs(row[end]) for end in ("ci_low", "ci_high"))
        sure = wording.interval(low, high, wording.number)  # both ends have one sign
        verdict = f"{name} {verb} by {size} ({sure}) for {row['subgroup']}."
    headline = f"{name} changes clearly in {len(clear)} of {len(own)} groups"
    look = {"headline": headline, "title": name, "in_points": False}
    table = changes[list(_SHOWN)].rename(columns=_SHOWN)
    table["Measure"] = table["Measure"].map(catalog.MEASURE_NAMES)
    return Answer(
        verdict,
        [
            wording.Kpi(
                row["subgroup"],
                wording.number(row["gap_after"]),
                f"was {wording.number(row['gap_before'])}",
                delta=wording.change(row["change"]),
            )
            for row in own.to_dict("records")
        ],
        Drawing("plot_gap_changes", own, look),
        Listing("Change by group", table),
        ". ".join(f"{t.name}: {why}" for t in tables for why in t.excluded),
        facts=tuple(f"{t.name}: {wording.plural(t.n, 'row')}" for t in tables),
        how=_HOW,
        file="fairdash-drift.csv",
        data=changes,
    )


def changes_by_group(
    tables: Sequence[DriftTable], predicted: Sequence[NDArray[np.float64]]
) -> pd.DataFrame:
    r"""Return how mean prediction, mean error and mean absolute error change by group.

    The tables are independent samples. With Student's intervals :math:`(l_i, u_i)` of
    the means :math:`m_i` a change has the interval of Zou and Donner (2008), as in
    `fairdash.audits.drifts.study.gap_changes`; the intervals of all k rows are at
    1 - .05 / k (Bonferroni), so whichever is largest may be named.

    Returns a row per measure and group: measure, group, gap_before, before_low,
    before_high, gap_after, after_low, after_high (of the value), change, ci_low,
    ci_high, n_before, n_after, estimable (both tables have ten rows of the group),
    reason (if not), clear (and the interval excludes 0). Where a table has no outcome
    it is only the mean prediction.
    """
    measures = list(catalog.NUMBER_MEASURES)
    if any(table.y is None for table in tables):
        measures = ["mean_prediction"]
    groups = tables[0].groups.categories
    level = intervals.for_all_pairs(0.95, 2, times=len(measures) * len(groups))
    sides = [*zip(("before", "after"), tables, predicted, strict=True)]
    parts = []
    for measure in measures:
        part = pd.DataFrame({"measure": measure, "group": groups}, index=groups)
        both = []
        for when, table, values in sides:
            local = measured_on(table, values, measure, 1)
            value, low, high = local.whole.interval(level)
            names = f"gap_{when}", f"{when}_low", f"{when}_high", f"n_{when}"
            here = dict(zip(names, (value, low, high, local.whole.n), strict=True))
            part = part.join(pd.DataFrame(here, index=local.cells.groups))
            both.append(intervals.Interval(*part[list(names[:3])].to_numpy().T))
        old, new = both
        part["change"] = new.value - old.value
        part["ci_low"], part["ci_high"] = intervals.difference_of(new, old)
        part["estimable"] = (part[["n_before", "n_after"]] >= _FEWEST).all(axis=1)
        part["reason"] = f"fewer than {_FEWEST} rows"
        beyond = (part["ci_low"] > 0) | (part["ci_high"] < 0)
        parts.append(part.assign(clear=beyond & part["estimable"]))
    return pd.concat(parts, ignore_index=True)
