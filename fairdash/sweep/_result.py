"""What a sweep found, as finished tables: every model, every setting, fronts, choices.

Everything a page, a report or a notebook shows of a sweep is computed here, from the
rows of `run_sweep`; nothing is read from disk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

from fairdash._wording import listing, plural
from fairdash.methods import CATALOG
from fairdash.sweep._front import (
    PARTS,
    decides,
    pareto_front,
    select,
    within,
)
from fairdash.sweep._seeds import (
    first_folds,
    mean_over_seeds,
    param_columns,
    rows_on_shared_seeds,
    variance_components,
)
from fairdash.sweep._spec import (
    BASELINE,
    TAU,
    WEIGHT,
    Point,
    Scalar,
    model_label,
    position_of,
)

PARITY, WORST = "demographic_parity_difference", "worst_1_di"
AXES = (WORST, "accuracy")  # of a front, if no others are asked for
SURE = 0.95  # of an interval that a clear change excludes 0 from
Judge = Literal["validation", "test"]


@dataclass(frozen=True)
class SweepResult:
    """The finished models of a sweep on the seeds that all its settings have.

    A *place* is the position of a setting, a method with its parameters, in `means`.

    Attributes
    ----------
    rows : DataFrame
        One row per model, as of `run_sweep`: `rows_on_shared_seeds`.
    means : DataFrame
        One row per setting, averaged over seeds: `mean_over_seeds`.
    n_others : int
        Finished models that are on other seeds, and so not compared.
    """

    rows: pd.DataFrame
    means: pd.DataFrame
    n_others: int = 0

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Self:
        """Return the result of a sweep that left these rows."""
        rows = first_folds(rows)
        shared = rows_on_shared_seeds(rows)
        return cls(shared, mean_over_seeds(shared), len(rows) - len(shared))

    @cached_property
    def labels(self) -> list[str]:
        """Name of every setting on screen."""
        settings = self.means[["method", *param_columns(self.rows)]]
        records: list[dict[Any, Any]] = settings.to_dict("records")
        return [model_label(row["method"], row) for row in records]

    @cached_property
    def place_of_row(self) -> NDArray[np.int64]:
        """The place of the setting of every row."""
        by = ["method", *param_columns(self.rows)]
        places = self.rows.groupby(by, sort=False, dropna=False).ngroup()
        return places.to_numpy().astype(np.int64)

    @cached_property
    def n_seeds(self) -> int:
        """Number of seeds, of every setting."""
        return int(self.rows["seed"].nunique())

    def seed_note(self) -> str:
        """Say which seeds are compared; nothing where that is all of them."""
        if not self.n_others:
            return ""
        seeds = sorted(self.rows["seed"].unique().tolist())
        words = f"seed{'s' if len(seeds) > 1 else ''} {listing(map(str, seeds))}"
        others = plural(self.n_others, "finished model")
        return f"Compared on {words}; not all settings have others: {others} not shown."

    @cached_property
    def methods(self) -> list[str]:
        """Methods with more than one setting, so with something to slide through."""
        counts = self.means["method"].value_counts()
        return [m for m in dict.fromkeys(self.means["method"]) if counts[m] > 1]

    def keys(self, place: int) -> dict[int, str]:
        """Return the key of a setting's first initialisation by seed, ascending."""
        return self._keys.get(place, {})

    @cached_property
    def _keys(self) -> dict[int, dict[int, str]]:
        rows = self.rows[["seed", "key"]].assign(place=self.place_of_row)
        rows = rows.sort_values("seed", kind="stable")
        first = rows.drop_duplicates(["place", "seed"])
        keys: dict[int, dict[int, str]] = {}
        for place, seed, key in zip(
            first["place"], first["seed"], first["key"], strict=True
        ):
            keys.setdefault(place, {})[seed] = key
        return keys

    def axes(self, method: str) -> dict[str, list[Scalar]]:
        """Return the parameters that a method's settings differ in, with their values.

        Numbers ascend; λ comes first, then τ, then the others as in the catalog.
        """
        if method in self._axes:
            return self._axes[method]
        of_method = self.means[self.means["method"] == method]
        params = [p.name for p in CATALOG[method].params if p.name in of_method]
        params.sort(key=lambda name: name not in (WEIGHT, TAU))
        axes = {name: of_method[name].dropna().unique().tolist() for name in params}
        self._axes[method] = {
            name: values if isinstance(values[0], str) else sorted(values)
            for name, values in axes.items()
            if len(values) > 1
        }
        return self._axes[method]

    @cached_property
    def _axes(self) -> dict[str, dict[str, list[Scalar]]]:
        return {}

    def at(self, method: str, point: Mapping[str, Scalar]) -> pd.DataFrame:
        """Return the settings of a method that agree with ``point``, of `means`."""
        matches = self.means["method"] == method
        for param, value in point.items():
            matches &= self.means[param] == value
        return self.means[matches]

    def place(self, method: str, point: Mapping[str, Scalar]) -> int | None:
        """Return the place of a setting, None if it did not finish."""
        names = tuple(point)
        if (method, names) not in self._places:
            table = self.means[self.means["method"] == method]
            values = zip(*(table[name] for name in names), strict=True)
            at = [*values] if names else [()] * len(table)
            ordered = zip(at[::-1], table.index[::-1].tolist(), strict=True)
            self._places[method, names] = dict(ordered)  # of several the first
        return self._places[method, names].get(tuple(point.values()))

    @cached_property
    def _places(self) -> dict[tuple[str, tuple[str, ...]], dict[Any, int]]:
        return {}

    def nearest(
        self,
        method: str,
        point: Mapping[str, Scalar],
        axes: Mapping[str, Sequence[Scalar]] | None = None,
    ) -> int:
        """Return the place of the finished setting nearest to ``point``.

        Distances are counted in steps between neighbouring values of ``axes``, those of
        the method by default; words must agree where a setting has them.
        """
        axes = axes or self.axes(method)
        of_method = self.means[self.means["method"] == method]
        far = np.zeros(len(of_method))
        for name, value in point.items():
            if isinstance(value, str):
                far += np.where(of_method[name] == value, 0.0, 1e6)
            else:
                at = [
                    position_of(axes[name], float(other)) for other in of_method[name]
                ]
                far += np.square(np.array(at) - position_of(axes[name], value))
        return int(str(of_method.index[int(far.argmin())]))

    def point(self, place: int) -> Point:
        """Return the values of the setting at a place on its method's axes."""
        row = self.means.iloc[place]
        return {name: row[name] for name in self.axes(row["method"])}

    def best(self, limits: Mapping[str, float]) -> int | None:
        """Return the place of the most accurate setting on validation rows."""
        swept = self.means[self.means["method"].isin(self.methods)]
        chosen = select(swept, limits=limits)
        return None if chosen is None else int(str(chosen.name))

    def start(self, limit: float) -> int:
        """Return the place to open on: the best within the limit on DI, or nearest."""
        for place in (self.best({PARITY: limit}), self.fairest()):
            if place is not None:
                return place
        return int(self.means["method"].eq(self.methods[0]).argmax())  # all undefined

    def notable(self, limit: float) -> list[int]:
        """Return the places to look at first: the start, then the fronts.

        Fronts are chosen on validation rows. A method without a place on them has its
        least DI of models that decide, if any does.
        """
        if not self.methods:
            return []
        points = self.points(AXES, limit, "validation")
        front = points["front"] & self.means["method"].isin(self.methods)
        places = [self.start(limit), *np.flatnonzero(front).tolist()]
        absent = set(self.methods) - set(self.means["method"].iloc[places])
        places += [
            place
            for method in self.methods
            if method in absent and (place := self.fairest(method)) is not None
        ]
        return list(dict.fromkeys(places))

    def least(self, di: float) -> tuple[float, float | None]:
        """Return the least DI, and the least Worst-1-DI of settings within ``di``.

        Both on validation rows and of models that decide; None when none keeps ``di``.
        """
        models = self.means[self.means["method"].isin(self.methods)]
        models = models[decides(models, "validation")]
        gaps = models[f"validation_{PARITY}"]
        fair = models[gaps <= di]
        least = None if fair.empty else float(fair[f"validation_{WORST}"].min())
        return float(gaps.min()), least

    def fairest(self, *methods: str) -> int | None:
        """Return the place of the least DI on validation rows of models that decide."""
        models = self.means[self.means["method"].isin(methods or self.methods)]
        gaps = models[decides(models, "validation")][f"validation_{PARITY}"].dropna()
        return None if gaps.empty else int(str(gaps.idxmin()))

    def points(
        self,
        axes: tuple[str, str],
        limit: float,
        judge: Judge,
        *,
        single: bool = False,
    ) -> pd.DataFrame:
        """Return the models of the front's figure, see `fairdash.plots.plot_front`.

        Fronts and the limit are judged on the rows of ``judge``, each method's
        apart; what is drawn are figures on test rows. ``within`` and ``within_test``
        say whether a model keeps the limit on the rows of ``judge`` and on test rows.
        One that does not decide on the rows of ``judge`` is ``constant``: it keeps no
        limit and is on no front.
        """
        table = self.rows if single else self.means
        able = decides(table, judge)
        keeps = within(table, {f"{judge}_{PARITY}": limit}) & able
        keeps_test = within(table, {f"test_{PARITY}": limit}) & decides(table, "test")
        x, y = (f"test_{metric}" for metric in axes)
        judged = (f"{judge}_{axes[0]}", f"{judge}_{axes[1]}")
        marks = {name: np.zeros(len(table), dtype=bool) for name in ("front", "line")}
        order = np.arange(len(table))
        for method in dict.fromkeys(table["method"]):
            of_method = table.assign(order=order)[(table["method"] == method) & keeps]
            best = pareto_front(of_method, axes=judged)
            marks["front"][best["order"]] = True
            marks["line"][pareto_front(best, axes=(x, y))["order"]] = True
        labels, places = self.labels, order
        if single:
            places = self.place_of_row
            labels = self._run_labels()
        spread = {} if single else {"x": table[f"{x}_sd"], "y": table[f"{y}_sd"]}
        methods = [CATALOG[method] for method in table["method"]]
        return pd.DataFrame(
            {
                "place": places,
                "label": labels,
                "method": [method.label for method in methods],
                "colour_role": [method.colour_role for method in methods],
                "x": table[x],
                "y": table[y],
                "x_sd": spread.get("x", np.nan),
                "y_sd": spread.get("y", np.nan),
                "within": keeps,
                "within_test": keeps_test & able,
                "constant": ~able,
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
                "constant": ~decides(rows, "test"),
            }
        )

    def grid(
        self, method: str, others: Mapping[str, Scalar], metric: str, limit: float
    ) -> pd.DataFrame:
        """Return means over λ and τ at other values, by place.

        See `fairdash.plots.plot_grid`; a setting that does not decide on validation
        rows is ``constant`` and keeps no limit.
        """
        models = self.at(method, others)
        able = decides(models, "validation")
        keeps = within(models, {f"validation_{PARITY}": limit})
        return pd.DataFrame(
            {
                WEIGHT: models[WEIGHT],
                TAU: models[TAU],
                "value": models[f"test_{metric}"],
                "within": keeps & able,
                "constant": ~able,
            }
        )

    def numbers(self, method: str, limit: float) -> pd.DataFrame:
        """Return the numbers of every setting of a method, by place.

        Returns
        -------
        DataFrame
            For accuracy, DI and Worst-1-DI: the mean on test rows, its spread over
            seeds ``_sd``, the mean paired ``_change`` from the unconstrained model over
            the seeds both have (NaN without one) and whether that is ``_clear``:
            Student's 95 % interval over these seeds excludes 0. ``within`` and
            ``within_test``: whether DI keeps the limit on validation and test rows.
            ``validation``: DI on validation rows. ``constant``: whether it does not
            decide; then it keeps no limit.
        """
        of_method = self.means[self.means["method"] == method]
        able = decides(of_method, "validation")
        table: dict[str, Any] = {}
        changes = self._changes(method)
        for metric in ("accuracy", PARITY, WORST):
            name = f"test_{metric}"
            table |= {metric: of_method[name], f"{metric}_sd": of_method[f"{name}_sd"]}
            change = changes[name].reindex(of_method.index)
            half = stdtrit(change["count"] - 1, (1 + SURE) / 2) * change["sem"]
            table[f"{metric}_change"] = change["mean"]
            table[f"{metric}_clear"] = change["mean"].abs() > half
        for part, column in zip(PARTS, ("within", "within_test"), strict=True):
            keeps = within(of_method, {f"{part}{PARITY}": limit})
            table[column] = keeps & able & decides(of_method, part.removesuffix("_"))
        table |= {"validation": of_method[f"validation_{PARITY}"], "constant": ~able}
        return pd.DataFrame(table, index=of_method.index)

    def spread(self, method: str) -> str:
        """Return what a method's spread over runs is made of, as a sentence.

        Standard deviations of Worst-1-DI on test rows, root mean squares over settings:
        see `variance_components`. Nothing unless a split was trained on twice.
        """
        of_method = self.rows[
            (self.rows["method"] == method) & decides(self.rows, "test")
        ]
        if of_method.empty:
            return ""
        parts = variance_components(of_method, f"test_{WORST}")
        split, start = np.sqrt(parts[["split", "initialisation"]].pow(2).mean())
        if np.isnan(start):
            return ""
        words = f"At one setting Worst-1-DI differs by {start:.3f} between starts"
        if np.isnan(split):
            return f"{words} on the same split (± 1 sd)."
        return f"{words} on the same split and by {split:.3f} between splits (± 1 sd)."

    def _run_labels(self) -> list[str]:
        """Return the name of every row: setting, seed and, of several, start."""
        starts = self.rows.get("initialisation")
        if starts is None:
            starts = pd.Series(0, index=self.rows.index)
        return [
            f"{self.labels[place]}, seed {seed}" + (f", start {start}" * bool(start))
            for place, seed, start in zip(
                self.place_of_row,
                self.rows["seed"],
                starts.fillna(0).astype(int),
                strict=True,
            )
        ]

    def _baseline_place(self, method: str) -> int | None:
        """Return the place of the unconstrained model, None if it was not trained."""
        plain = self.means[self.means["method"] == BASELINE]
        if plain.empty:
            return None
        known = [
            param.name for param in CATALOG[BASELINE].params if param.name in plain
        ]
        of_method = self.means.loc[self.means["method"] == method, known].iloc[0]
        same = (plain[known] == of_method).sum(axis=1).to_numpy()
        return int(str(plain.index[int(same.argmax())]))

    def _changes(self, method: str) -> pd.DataFrame:
        """Return mean, standard error and seeds of the change of every setting.

        Starts on the same split are averaged first: they are no further seeds.
        """
        names = [f"test_{metric}" for metric in ("accuracy", PARITY, WORST)]
        of_method = (self.rows["method"] == method).to_numpy()
        place = None if method == BASELINE else self._baseline_place(method)
        chosen = self.rows[self.place_of_row == (-1 if place is None else place)]
        before = (
            chosen.groupby("seed")[names].mean().reindex(self.rows["seed"][of_method])
        )
        apart = self.rows.loc[of_method, names] - before.to_numpy()
        split = [self.place_of_row[of_method], self.rows["seed"][of_method]]
        by_split = apart.groupby(split).mean()
        return by_split.groupby(level=0).agg(["mean", "sem", "count"])
