"""A run that is over: what the method changed, held to the baseline on test rows."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from fairdash import plots
from fairdash._wording import Kpi, change, interval, number, percent, plural, points
from fairdash.methods import CATALOG
from fairdash.store import Snapshot
from fairdash.ui.results.found import shown_settings
from fairdash.ui.results.results import (
    BASELINE,
    Setting,
    chance_worst,
    metrics_by_setting,
    paired_changes,
    settings,
)
from fairdash.ui.widgets.blocks import figure, kpi_row
from fairdash.ui.widgets.result_table import readable
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.train_rows import trained_on

_HOW = """
Test rows only: no model was trained or chosen on them. **DI** is the largest minus the
smallest rate of positive predictions of the groups, **Worst-1-DI** the largest such gap
within a subgroup. A change is **paired**: both models on the same rows, resampled
together, which is sharper than comparing two intervals.
"""
_MOST = 10  # models in a figure
_BLIND = 0.01  # this near to guessing, a model says nothing
_METRICS = (
    ("accuracy", "Accuracy", percent, points, 1),
    ("demographic_parity_difference", "DI", number, change, -1),
    ("worst_1_di", "Worst-1-DI", number, change, -1),
)


def show_result(snapshot: Snapshot) -> None:
    """Draw the numbers with their paired change, then all models of the run."""
    dataset_id = snapshot.run.dataset_id
    subgroups = store().dataset_record(dataset_id).subgroups
    chosen = shown_settings(snapshot, _MOST)
    main, reference = _pair(chosen)
    changes = None
    if reference is not None:
        changes = paired_changes(main, reference, dataset_id, subgroups)
    table = metrics_by_setting(chosen, dataset_id, subgroups)
    row = table[table["label"] == main.label].to_dict("records")[0]
    floor = chance_worst(main, dataset_id, subgroups)
    n_settings = len(settings(snapshot.trials))
    fewer = f"{len(chosen)} of {n_settings} models." if len(chosen) < n_settings else ""
    trained = trained_on(dataset_id, snapshot.run.spec.get("train_rows"))
    kpi_row([*_kpis(row, changes), _chance(floor)])
    figure(
        plots.plot_comparison(table),
        finding=_finding(main, changes, row, floor),
        caption=" ".join(filter(None, [_caption(row, changes), trained, fewer])),
        alt=plots.describe_comparison(table),
        how=_HOW,
        table=readable(table),
        key="comparison",
    )


def _pair(chosen: list[Setting]) -> tuple[Setting, Setting | None]:
    """Return the setting the reader asked for and the baseline with a seed of it."""
    main = next((s for s in chosen if s.method != BASELINE), chosen[0])
    seeds = {trial.seed for trial in main.trials}
    for setting in chosen:
        shared = any(trial.seed in seeds for trial in setting.trials)
        if setting is not main and setting.method == BASELINE and shared:
            return main, setting
    return main, None


def _kpis(row: Mapping[Any, float], changes: pd.DataFrame | None) -> list[Kpi]:
    paired = {}
    if changes is not None:
        paired = {entry["metric"]: entry for entry in changes.to_dict("records")}
    items = []
    for name, label, style, delta, better in _METRICS:
        ends = interval(row[f"{name}_low"], row[f"{name}_high"], style)
        note = ends or "not estimable"
        chip, good = "", None
        difference = paired[name]["difference"] if name in paired else math.nan
        if math.isfinite(difference):
            chip = delta(difference)
            if paired[name]["low"] > 0 or paired[name]["high"] < 0:
                good = difference * better > 0
        items.append(Kpi(label, style(row[name]), note, delta=chip, good=good))
    return items


def _chance(floor: float) -> Kpi:
    return Kpi(
        "Worst-1-DI by chance",
        number(floor),
        "95th percentile" if math.isfinite(floor) else "not estimable",
        help="What the largest gap of a model that is fair in every subgroup stays "
        "below in 95% of cases: groups shuffled within subgroups.",
    )


def _finding(
    main: Setting, changes: pd.DataFrame | None, row: Mapping[Any, float], floor: float
) -> str:
    label = CATALOG[main.method].label
    blind = abs(row["balanced_accuracy"] - 0.5) < _BLIND
    if blind and row["demographic_parity_difference"] < _BLIND:
        return f"{label} gives nearly all rows one outcome: fair, but of no use"
    worst = row["worst_1_di"]
    if changes is not None:
        return plots.comparison_finding(label, changes)
    if math.isnan(worst):
        return "No subgroup is estimable: choose wider ones or a smaller size"
    if worst <= floor:
        return f"The largest gap, {number(worst)}, is what chance alone shows"
    return f"The largest gap, {number(worst)}, is above what chance shows"


def _caption(row: Mapping[Any, float], changes: pd.DataFrame | None) -> str:
    n_seeds = int(row["n_seeds"])
    seeds = "one seed" if n_seeds == 1 else f"mean of {n_seeds} seeds"
    text = f"{plural(round(row['n']), 'test row')}, {seeds}, 95% intervals."
    if changes is None:
        return text
    worst = changes.set_index("metric").to_dict("index")["worst_1_di"]
    bounds = interval(worst["low"], worst["high"], change)
    if not bounds:
        return text
    return (
        f"{text} Paired change of Worst-1-DI: {change(worst['difference'])} ({bounds})."
    )
