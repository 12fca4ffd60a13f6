"""What a sweep found, as finished tables: every model, every setting, fronts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from fairdash.methods import CATALOG
from fairdash.results.models import Setting, beside_plain, same_model, settings
from fairdash.store import Snapshot, Store
from fairdash.sweep import BASELINE, knee, mean_over_seeds, pareto_front, select, within

PARITY = "demographic_parity_difference"
WEIGHT, TAU = "fairness_weight", "tau"
AXES = ("worst_1_di", "accuracy")  # of the front, if no others are asked for
Judge = Literal["validation", "test"]
Value = float | int | str
Point = dict[str, Value]
_QUARTILES = 4


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

    def axes(self, method: str) -> dict[str, list[Value]]:
        """Return the parameters that a method's settings differ in, with their values.

        Numbers ascend; λ comes first, then τ, then the others as in the catalog.
        """
        mine = self.means[self.means["method"] == method]
        params = [p.name for p in CATALOG[method].params if p.name in mine]
        params.sort(key=lambda name: name not in (WEIGHT, TAU))
        axes = {name: mine[name].dropna().unique().tolist() for name in params}
        return {
            name: values if isinstance(values[0], str) else sorted(values)
            for name, values in axes.items()
            if len(values) > 1
        }

    def at(self, method: str, point: Mapping[str, Value]) -> pd.DataFrame:
        """Return the settings of a method that agree with ``point``, of ``means``."""
        mine = self.means["method"] == method
        for param, value in point.items():
            mine &= self.means[param] == value
        return self.means[mine]

    def position(self, method: str, point: Mapping[str, Value]) -> int | None:
        """Return the place of a setting in ``means``, None if it did not finish."""
        found = self.at(method, point)
        return int(str(found.index[0])) if len(found) else None

    def point(self, place: int) -> Point:
        """Return the values of the setting at a place on its method's axes."""
        row = self.means.iloc[place]
        return {name: row[name] for name in self.axes(row["method"])}

    def best(self, limits: dict[str, float]) -> int | None:
        """Return the place of the most accurate setting on validation rows."""
        fair = self.means[self.means["method"].isin(self.methods)]
        chosen = select(fair, limits=limits)
        return None if chosen is None else int(str(chosen.name))

    def start(self, limit: float) -> int:
        """Return the place to open on: the best within the limit on DI, else at all."""
        for limits in ({PARITY: limit}, {}):
            place = self.best(limits)
            if place is not None:
                return place
        return int(self.means["method"].eq(self.methods[0]).argmax())  # all undefined

    def knee(self, method: str, axes: tuple[str, str], limit: float) -> int | None:
        """Return the place of the knee of a method's front on validation rows."""
        points = self.points(axes, limit, "validation", single=False)
        places = np.flatnonzero(points["knee"] & (self.means["method"] == method))
        return int(places[0]) if len(places) else None

    def baseline(self) -> "pd.Series[Any] | None":
        """Return the unconstrained model's means, if it was trained."""
        mine = self.means[self.means["method"] == BASELINE]
        return mine.iloc[0] if len(mine) else None

    def points(
        self, axes: tuple[str, str], limit: float, judge: Judge, *, single: bool
    ) -> pd.DataFrame:
        """Return the models of the front's figure, see `fairdash.plots.plot_front`.

        Fronts, knees and the limit are judged on the rows of ``judge``, each method's
        apart; what is drawn are figures on test rows.
        """
        table = self.rows if single else self.means
        keeps = within(table, {f"{judge}_{PARITY}": limit})
        x, y = (f"test_{metric}" for metric in axes)
        judged = (f"{judge}_{axes[0]}", f"{judge}_{axes[1]}")
        marks = {
            name: np.zeros(len(table), dtype=bool) for name in ("front", "line", "knee")
        }
        places = np.arange(len(table))
        for method in dict.fromkeys(table["method"]):
            mine = table.assign(place=places)[(table["method"] == method) & keeps]
            best = pareto_front(mine, axes=judged)
            marks["front"][best["place"]] = True
            marks["line"][pareto_front(best, axes=(x, y))["place"]] = True
            bend = knee(best, axes=judged)
            if bend is not None:
                marks["knee"][best["place"].iloc[bend]] = True
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
                **marks,
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

    def grid(
        self, method: str, others: Point, metric: str, limit: float
    ) -> pd.DataFrame:
        """Return means over λ and τ at other values, see `fairdash.plots.plot_grid`."""
        mine = self.at(method, others)
        return pd.DataFrame(
            {
                WEIGHT: mine[WEIGHT],
                TAU: mine[TAU],
                "value": mine[f"test_{metric}"],
                "within": within(mine, {f"validation_{PARITY}": limit}),
            }
        )

    def by_tau(self, method: str, others: Point, metric: str) -> pd.DataFrame:
        """Return the mean and spread of a metric by τ within quarters of the λ axis."""
        mine = self.rows[self.rows["method"] == method]
        for name, value in others.items():
            mine = mine[mine[name] == value]
        weights = np.sort(mine[WEIGHT].unique())
        tables = []
        for part in np.array_split(weights, min(_QUARTILES, len(weights))):
            rows = mine[mine[WEIGHT].isin(part)]
            by = rows.groupby(TAU)[f"test_{metric}"].agg(["mean", "std"])
            ends = dict.fromkeys(f"{value:g}" for value in (part[0], part[-1]))
            table = by.reset_index().rename(columns={"std": "sd"})
            tables.append(table.assign(part=f"λ {'–'.join(ends)}"))
        return pd.concat(tables, ignore_index=True)


def is_sweep(store: Store, run_id: str | None) -> bool:
    """Tell whether a run tries several settings of a method."""
    if run_id is None:
        return False
    methods = store.run(run_id).spec.get("methods", [])
    axes = [axis for grid in methods for axis in grid.get("params", {}).values()]
    return any(isinstance(axis, list) and len(axis) > 1 for axis in axes)


def read_sweep(snapshot: Snapshot) -> Sweep | None:
    """Return what has finished of a run, None before the first model."""
    rows = snapshot.table()
    if rows.empty:
        return None
    return Sweep(rows, mean_over_seeds(rows), tuple(settings(snapshot.trials)))


@lru_cache(maxsize=16)
def finished_sweep(store: Store, run_id: str) -> Sweep | None:
    """Return what a run that is over found; nothing of it can change any more."""
    return read_sweep(store.snapshot(run_id))


def notable(store: Store, run_id: str) -> list[Setting]:
    """Return the settings of a sweep to look at first, none of another run.

    These are the one that the Sweep page opens on and then the fronts chosen on
    validation rows.
    """
    run = store.run(run_id)
    sweep = (
        finished_sweep(store, run_id) if run.over and is_sweep(store, run_id) else None
    )
    if sweep is None or not sweep.methods:
        return []
    limit = float(run.spec.get("di_limit", 0.05))
    front = sweep.points(AXES, limit, "validation", single=False)["front"]
    front &= sweep.means["method"].isin(sweep.methods).to_numpy()
    places = dict.fromkeys([sweep.start(limit), *np.flatnonzero(front)])
    return [sweep.models[place] for place in places]


def shown_settings(store: Store, snapshot: Snapshot, most: int) -> list[Setting]:
    """Return the settings of a run; of a sweep the plain one and then those of note."""
    found, first = settings(snapshot.trials), notable(store, snapshot.run.id)
    if first:
        found = [*(one for one in found if one.method == BASELINE), *first]
    return found[:most]


def opened_on(store: Store, run_id: str) -> Setting | None:
    """Return the setting that the Sweep page opens a run on, None if it is no sweep."""
    return next(iter(notable(store, run_id)), None)


def model_in_question(
    store: Store, models: Sequence[Setting], run_id: str | None
) -> int:
    """Return the place of the model to look at first: the one a sweep opens on."""
    chosen = opened_on(store, run_id) if run_id else None
    found = [
        i for i, model in enumerate(models) if chosen and same_model(model, chosen)
    ]
    return found[0] if found else 0


def by_interest(
    store: Store, models: Sequence[Setting], run_id: str | None
) -> list[Setting]:
    """Return the plain models, those of a sweep to look at first, then the others.

    So that of more than a figure holds those are drawn that say most.
    """
    first = notable(store, run_id) if run_id else []
    places = {trial.key: i for i, model in enumerate(first) for trial in model.trials}

    def rank(model: Setting) -> tuple[bool, int]:
        found = [places.get(trial.key, len(first)) for trial in model.trials]
        return model.method != BASELINE, min(found)

    return sorted(models, key=rank)


def models_of(
    store: Store, models: Sequence[Setting], run_id: str | None
) -> list[Setting]:
    """Return the models of a run; of a sweep those that an analyst would compare."""
    chosen = opened_on(store, run_id) if run_id else None
    trials = store.snapshot(run_id, curves=False).trials if run_id else ()
    here = {trial.key for trial in trials}
    own = [m for m in models if not here.isdisjoint(t.key for t in m.trials)]
    if chosen is None:
        return own
    return beside_plain(next(m for m in own if same_model(m, chosen)), models)
