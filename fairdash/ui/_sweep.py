"""What a sweep found, as finished tables: every model, every setting, fronts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st

from fairdash.datasets import Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import local_di, mean_local_di
from fairdash.store import Snapshot
from fairdash.sweep import mean_over_seeds, pareto_front, select, within
from fairdash.ui._results import BASELINE, Setting, rows_of, settings
from fairdash.ui._state import store

PARITY = "demographic_parity_difference"
Judge = Literal["validation", "test"]
_QUARTILES = 4
_RATIO_BINS = 40
_SHOWN_TAUS = 4


@dataclass(frozen=True)
class Sweep:
    """The finished models of a run.

    Attributes
    ----------
    rows : DataFrame
        One row per model, as of `fairdash.sweep.run_sweep`.
    means : DataFrame
        One row per setting, averaged over seeds: `fairdash.sweep.mean_over_seeds`.
    models : tuple of Setting
        In the order of ``means``.
    """

    rows: pd.DataFrame
    means: pd.DataFrame
    models: tuple[Setting, ...]

    @property
    def n_seeds(self) -> int:
        """Number of seeds of the setting that has most."""
        return int(self.means["n_seeds"].max())

    @property
    def methods(self) -> list[str]:
        """Methods with more than one setting, so with something to slide through."""
        counts = self.means["method"].value_counts()
        return [m for m in dict.fromkeys(self.means["method"]) if counts[m] > 1]

    def axis(self, method: str, param: str) -> list[float]:
        """Return the values a parameter of a method takes, ascending."""
        if param not in self.means:
            return []
        values = self.means.loc[self.means["method"] == method, param]
        return sorted(float(value) for value in values.dropna().unique())

    def position(self, method: str, point: dict[str, float]) -> int | None:
        """Return the place of a setting in ``means``, None if it did not finish."""
        mine = self.means["method"] == method
        for param, value in point.items():
            mine &= self.means[param] == value
        found = np.flatnonzero(mine)
        return int(found[0]) if len(found) else None

    def best(self, limits: dict[str, float]) -> int | None:
        """Return the place of the most accurate setting on validation rows."""
        fair = self.means.reset_index(drop=True)
        fair = fair[fair["method"].isin(self.methods)]
        chosen = select(fair, limits=limits)
        return None if chosen is None else int(str(chosen.name))

    def baseline(self) -> "pd.Series[Any] | None":
        """Return the unconstrained model's means, if it was trained."""
        mine = self.means[self.means["method"] == BASELINE]
        return mine.iloc[0] if len(mine) else None

    def points(
        self, axes: tuple[str, str], limit: float, judge: Judge, *, single: bool
    ) -> pd.DataFrame:
        """Return the models of the front's figure, see `fairdash.plots.plot_front`.

        Fronts and the limit are judged on the rows of ``judge``, each method's apart;
        what is drawn are figures on test rows.
        """
        table = self.rows if single else self.means
        keeps = within(table, {f"{judge}_{PARITY}": limit})
        x, y = (f"test_{metric}" for metric in axes)
        judged = (f"{judge}_{axes[0]}", f"{judge}_{axes[1]}")
        front = np.zeros(len(table), dtype=bool)
        line = front.copy()
        places = np.arange(len(table))
        for method in dict.fromkeys(table["method"]):
            mine = table.assign(place=places)[(table["method"] == method) & keeps]
            best = pareto_front(mine, axes=judged)
            front[best["place"]] = True
            line[pareto_front(best, axes=(x, y))["place"]] = True
        labels = [model.label for model in self.models]
        if single:
            by_key = {t.key: m.label for m in self.models for t in m.trials}
            pairs = zip(table["key"], table["seed"], strict=True)
            labels = [f"{by_key[key]}, seed {seed}" for key, seed in pairs]
        spread = {} if single else {"x": table[f"{x}_sd"], "y": table[f"{y}_sd"]}
        return pd.DataFrame(
            {
                "label": labels,
                "method": [CATALOG[m].label for m in table["method"]],
                "colour_role": [CATALOG[m].colour_role for m in table["method"]],
                "x": table[x],
                "y": table[y],
                "x_sd": spread.get("x", np.nan),
                "y_sd": spread.get("y", np.nan),
                "within": keeps,
                "front": front,
                "line": line,
            }
        ).reset_index(drop=True)

    def single_runs(self, axes: tuple[str, str]) -> pd.DataFrame:
        """Return every run as a dot behind the means; none when these are the same."""
        rows = self.rows if self.n_seeds > 1 else self.rows.iloc[:0]
        methods = [CATALOG[method] for method in rows["method"]]
        return pd.DataFrame(
            {
                "method": [method.label for method in methods],
                "colour_role": [method.colour_role for method in methods],
                "x": rows[f"test_{axes[0]}"],
                "y": rows[f"test_{axes[1]}"],
            }
        )

    def grid(self, method: str, metric: str, limit: float) -> pd.DataFrame:
        """Return a method's means over λ and τ, see `fairdash.plots.plot_grid`."""
        mine = self.means[self.means["method"] == method]
        return pd.DataFrame(
            {
                "fairness_weight": mine["fairness_weight"],
                "tau": mine["tau"],
                "value": mine[f"test_{metric}"],
                "within": within(mine, {f"validation_{PARITY}": limit}),
            }
        )

    def numbers(self, method: str, limit: float) -> pd.DataFrame:
        """Return what a drag through a method's grid shows, see `live_grid`."""
        mine = self.means[self.means["method"] == method]
        params = [p for p in ("fairness_weight", "tau") if p in mine]
        return mine[params].assign(
            accuracy=mine["test_accuracy"],
            di=mine[f"test_{PARITY}"],
            worst=mine["test_worst_1_di"],
            within=within(mine, {f"validation_{PARITY}": limit}),
        )

    def by_tau(self, method: str, metric: str) -> pd.DataFrame:
        """Return the mean and spread of a metric by τ within quarters of the λ axis."""
        weights = np.array(self.axis(method, "fairness_weight"))
        parts = np.array_split(weights, min(_QUARTILES, len(weights)))
        mine = self.rows[self.rows["method"] == method]
        tables = []
        for part in parts:
            rows = mine[mine["fairness_weight"].isin(part)]
            by = rows.groupby("tau")[f"test_{metric}"].agg(["mean", "std"])
            ends = dict.fromkeys(f"{value:g}" for value in (part[0], part[-1]))
            table = by.reset_index().rename(columns={"std": "sd"})
            tables.append(table.assign(part=f"λ {'–'.join(ends)}"))
        return pd.concat(tables, ignore_index=True)


def read_sweep(snapshot: Snapshot) -> Sweep | None:
    """Return what has finished of a run, None before the first model."""
    rows = snapshot.table()
    if rows.empty:
        return None
    return Sweep(rows, mean_over_seeds(rows), tuple(settings(snapshot.trials)))


@st.cache_resource(max_entries=16, show_spinner=False)
def finished_sweep(run_id: str) -> Sweep | None:
    """Return what a run that is over found; nothing of it can change any more."""
    return read_sweep(store().snapshot(run_id))


def local_table(model: Setting, dataset_id: str, subgroups: Subgroups) -> pd.DataFrame:
    """Return local DI of a setting on test rows, averaged over its seeds."""
    trials = tuple((trial.key, trial.seed) for trial in model.trials)
    table = _local(trials, dataset_id, subgroups.model_dump_json())
    return table.assign(label=model.label)


@st.cache_resource(max_entries=2000, show_spinner=False)
def _local(
    trials: tuple[tuple[str, int], ...], dataset_id: str, subgroups: str
) -> pd.DataFrame:
    tables = []
    for key, seed in trials:
        rows = rows_of(dataset_id, seed, subgroups)
        tables.append(local_di(rows.predictions(key), **rows.groups))
    return mean_local_di(tables)


@dataclass(frozen=True)
class RatioByTau:
    """How r is distributed at several τ: density in bins, and standard deviation."""

    edges: Sequence[float]
    density: dict[float, Sequence[float]]
    spread: dict[float, float]


@st.cache_resource(max_entries=64, show_spinner=False)
def ratio_by_tau(run_id: str, method: str, fairness_weight: float) -> RatioByTau | None:
    """Return the distribution of r at up to four τ, of the first seed."""
    sweep = finished_sweep(run_id)
    if sweep is None or not CATALOG[method].gives_weights:
        return None
    taus = sweep.axis(method, "tau")
    some = np.unique(np.linspace(0, len(taus) - 1, _SHOWN_TAUS).round().astype(int))
    ratios = {}
    for tau in [taus[i] for i in some]:
        place = sweep.position(method, {"fairness_weight": fairness_weight, "tau": tau})
        if place is not None:
            ratio = store().artifact(sweep.models[place].trials[0].key).ratio()
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
