"""What every setting of a sweep looks like inside: local DI, and the weights r.

Read from stored scores once per run and subgroups, for all settings together, so that
a slider through the grid only looks up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import local_di, mean_local_di
from fairdash.results import (
    TAU,
    WEIGHT,
    Point,
    Sweep,
    chance_worst,
    finished_sweep,
    rows_of,
)
from fairdash.store import RunRecord
from fairdash.ui.widgets.state import store

_RATIO_BINS = 40
_SHOWN_TAUS = 4


def local_tables(run: RunRecord, method: str) -> pd.DataFrame:
    """Return local DI of all settings of a method on test rows, averaged over seeds.

    Returns
    -------
    DataFrame of `fairdash.metrics.mean_local_di`, whose "model" is the place of the
    setting, and with its "label".
    """
    text = _subgroups(run).model_dump_json()
    return _local(run.id, method, run.dataset_id, text)


def chance_of(sweep: Sweep, run: RunRecord) -> float:
    """Return what Worst-1-DI stays below by chance, for the first model of the run."""
    return chance_worst(store(), sweep.models[0], run.dataset_id, _subgroups(run))


def _subgroups(run: RunRecord) -> Subgroups:
    return Subgroups.model_validate(run.spec["subgroups"])


@st.cache_resource(max_entries=32, show_spinner="Measuring every subgroup…")
def _local(run_id: str, method: str, dataset_id: str, subgroups: str) -> pd.DataFrame:
    sweep = finished_sweep(store(), run_id)
    assert sweep is not None
    models = {p: m for p, m in enumerate(sweep.models) if m.method == method}
    keys: dict[int, dict[int, str]] = {}
    for place, model in models.items():
        for trial in model.trials:
            keys.setdefault(trial.seed, {})[place] = trial.key
    tables = []
    for seed, by_place in keys.items():
        chosen = Subgroups.model_validate_json(subgroups)
        rows = rows_of(store(), dataset_id, seed, chosen)
        predictions = np.stack([rows.predictions(key) for key in by_place.values()])
        table = local_di(predictions, **rows.groups)
        tables.append(table.assign(model=np.array(list(by_place))[table["model"]]))
    mean = mean_local_di(tables)
    return mean.assign(label=[models[place].label for place in mean["model"]])


@dataclass(frozen=True)
class RatioByTau:
    """How r is distributed at several τ: density in bins, and standard deviation."""

    edges: Sequence[float]
    density: dict[float, Sequence[float]]
    spread: dict[float, float]


def ratio_by_tau(run_id: str, method: str, others: Point) -> RatioByTau | None:
    """Return the distribution of r at up to four τ and the largest λ, first seed."""
    return _ratio_by_tau(run_id, method, tuple(others.items()))


@st.cache_resource(max_entries=64, show_spinner=False)
def _ratio_by_tau(
    run_id: str, method: str, others: tuple[tuple[str, Any], ...]
) -> RatioByTau | None:
    sweep = finished_sweep(store(), run_id)
    if sweep is None or not CATALOG[method].gives_weights:
        return None
    mine = sweep.at(method, dict(others))
    mine = mine[mine[WEIGHT] == mine[WEIGHT].max()].sort_values(TAU)
    some = np.unique(np.linspace(0, len(mine) - 1, _SHOWN_TAUS).round().astype(int))
    ratios = {}
    for place, tau in mine[TAU].iloc[some].items():
        trials = sweep.models[int(str(place))].trials
        ratio = store().artifact(trials[0].key).ratio()
        if ratio is not None:
            ratios[tau] = ratio
    if not ratios:
        return None
    top = max(2.0, *(float(np.quantile(ratio, 0.99)) for ratio in ratios.values()))
    edges = np.linspace(0, top, _RATIO_BINS + 1)
    density = {
        tau: np.histogram(np.minimum(ratio, top), edges, density=True)[0].tolist()
        for tau, ratio in ratios.items()
    }
    spread = {tau: float(ratio.std()) for tau, ratio in ratios.items()}
    return RatioByTau(edges.tolist(), density, spread)
