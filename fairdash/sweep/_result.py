"""Results of a sweep as finished tables: models, settings, fronts, choices.

Everything a page, a report or a notebook shows of a sweep is computed here, from the
rows of `run_sweep`; nothing is read from disk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import Deciding
from fairdash._metric_names import PARITY, WORST
from fairdash.methods import CATALOG
from fairdash.sweep import _seeds as seeds
from fairdash.sweep._front import decides, pareto_front, select, within
from fairdash.sweep._ranking import PREFIX, ranking_column
from fairdash.sweep._spec import BASELINE, TAU, WEIGHT, Scalar, model_label

AXES = (WORST, "accuracy")  # of a front, if no others are asked for
_DECIDING = {  # what `Deciding.of` takes, by measure
    "accepted": "selection_rate",
    "constant": "constant",
    "alike": "alike",
    "balanced_accuracy": "balanced_accuracy",
}


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
    """

    rows: pd.DataFrame
    means: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Self:
        """Return the result of a sweep that left these rows."""
        rows = seeds.first_trainings(rows)
        shared = seeds.rows_on_shared_seeds(rows)
        return cls(shared, seeds.mean_over_seeds(shared))

    @cached_property
    def labels(self) -> list[str]:
        """Name of every setting on screen."""
        settings = self.means[["method", *seeds.param_columns(self.rows)]]
        records: list[dict[Any, Any]] = settings.to_dict("records")
        return [model_label(row["method"], row) for row in records]

    @cached_property
    def place_of_row(self) -> NDArray[np.int64]:
        """The place of the setting of every row."""
        by = ["method", *seeds.param_columns(self.rows)]
        places = self.rows.groupby(by, sort=False, dropna=False).ngroup()
        return places.to_numpy().astype(np.int64)

    @cached_property
    def n_seeds(self) -> int:
        """Number of seeds, of every setting."""
        return int(self.rows["seed"].nunique())

    @cached_property
    def methods(self) -> list[str]:
        """Methods with more than one setting, so with something to slide through."""
        n_settings = self.means["method"].value_counts()
        methods = dict.fromkeys(self.means["method"])
        return [method for method in methods if n_settings[method] > 1]

    def keys(self, place: int) -> dict[int, str]:
        """Return the key of a setting's model by seed, ascending."""
        return self._keys.get(place, {})

    @cached_property
    def _keys(self) -> dict[int, dict[int, str]]:
        rows = self.rows[["seed", "key"]].assign(place=self.place_of_row)
        rows = rows.sort_values("seed", kind="stable")
        keys: dict[int, dict[int, str]] = {}
        for seed, key, place in rows.itertuples(index=False):
            keys.setdefault(place, {})[seed] = key
        return keys

    def axes(
        self, method: str, planned: Sequence[Mapping[str, Any]] = ()
    ) -> dict[str, list[Scalar]]:
        """Return the parameters that a method's settings differ in, with their values.

        Numbers ascend; λ comes first, then τ, then the others as in the catalog. Those
        of ``planned`` models, which have not finished, count as well.
        """
        of_method = self.means[self.means["method"] == method]
        params = [p.name for p in CATALOG[method].params if p.name in of_method]
        params.sort(key=lambda name: name not in (WEIGHT, TAU))
        to_come = pd.DataFrame(planned, columns=params)
        of_method = pd.concat([of_method[params], to_come], ignore_index=True)
        axes: dict[str, list[Scalar]] = {}
        for name in params:
            values = of_method[name].dropna().unique().tolist()
            if len(values) < 2:
                continue
            is_choice = isinstance(values[0], str)
            axes[name] = values if is_choice else sorted(values)
        return axes

    def best(
        self, limits: Mapping[str, float], method: str | None = None
    ) -> int | None:
        """Return the place of the most accurate setting on validation rows."""
        chosen = select(self._swept(method), limits=limits)
        if chosen is None:
            return None
        return int(str(chosen.name))

    def start(
        self, limit: float, method: str | None = None, *, metric: str = PARITY
    ) -> int:
        """Return the place to open on: the best within a limit on a gap, or nearest.

        With a ``method`` it is one of that method. Else it is the plain model where
        that keeps the limit, so that there is nothing to fix, where no setting is
        nearer to it, or where none decides.
        """
        if method is None:
            plain = self.plain_within(limit, metric)
            if plain is not None:
                return plain
        within_limit = self.best({metric: limit}, method)
        if within_limit is not None:
            return within_limit
        nearest = self.fairest(method, metric=metric)
        if method is None:
            column = ranking_column(self.rows, metric)
            plain = self.fairest(BASELINE, metric=metric)
            gaps = self.means[column]
            if plain is not None and (nearest is None or gaps[plain] <= gaps[nearest]):
                return plain
        if nearest is not None:
            return nearest
        # No model decides, or all gaps are undefined.
        plain_models = self._swept(BASELINE)
        settings = self._swept(method)
        if method is None and len(plain_models):
            settings = plain_models
        return int(str(settings.index[0]))

    def plain_within(self, limit: float, metric: str = PARITY) -> int | None:
        """Return the place of an unconstrained model that keeps a limit on a gap.

        On validation rows; of several the most accurate, None where none decides.
        """
        return self.best({metric: limit}, BASELINE)

    def _swept(self, method: str | None) -> pd.DataFrame:
        """Return the settings of a method, or of all with more than one setting."""
        methods = self.methods if method is None else [method]
        return self.means[self.means["method"].isin(methods)]

    def notable(self, limit: float) -> list[int]:
        """Return the places to look at first: the start, then the fronts.

        Fronts are chosen on validation rows.
        """
        if not self.methods:
            return []
        points = self.points(AXES, limit)
        front = points["front"] & self.means["method"].isin(self.methods)
        places = [self.start(limit), *np.flatnonzero(front).tolist()]
        return list(dict.fromkeys(places))

    def fairest(self, method: str | None = None, *, metric: str = PARITY) -> int | None:
        """Return the place of the least gap among models that decide."""
        models = self._swept(method)
        deciding = models[decides(models, "validation")]
        gaps = deciding[ranking_column(self.rows, metric)].dropna()
        if gaps.empty:
            return None
        return int(str(gaps.idxmin()))

    def points(
        self, axes: tuple[str, str], limit: float, *, metric: str = PARITY
    ) -> pd.DataFrame:
        """Return the settings of the front's figure, see `fairdash.plots.plot_front`.

        Fronts and the limit on a gap, ``metric``, are judged on validation rows, each
        method's apart, and largest local gaps as `ranking_column` says; what is drawn
        are figures on test rows. ``within`` and ``within_test`` say whether a setting
        keeps the limit on validation rows and on test rows too. One that does not
        decide on validation rows keeps no limit and is on no front. It is ``constant``,
        as is one that decides alike on test rows; ``alike`` says which of them accept
        all or none, or nearly so, ``guessing_test`` which others are not clearly better
        than guessing on test rows.
        """
        table = self.means.assign(place=np.arange(len(self.means)))
        deciding = decides(table, "validation")
        within_limit = within(table, {f"validation_{metric}": limit}) & deciding
        within_test = within(table, {f"test_{metric}": limit}) & deciding
        judgements = [self.deciding(place) for place in table["place"]]
        tests = [self.deciding(place, "test") for place in table["place"]]
        decides_alike = np.array([test.alike for test in tests], bool)
        x = f"test_{axes[0]}"
        y = f"test_{axes[1]}"
        chosen_by = (ranking_column(self.rows, axes[0]), f"validation_{axes[1]}")
        front = np.zeros(len(table), bool)
        line = np.zeros(len(table), bool)
        for method in dict.fromkeys(table["method"]):
            candidates = table[(table["method"] == method) & within_limit]
            best = pareto_front(candidates, axes=chosen_by)
            front[best["place"]] = True
            # Chosen on validation rows, drawn by test rows: the line connects those
            # that no other chosen setting beats there.
            line[pareto_front(best, axes=(x, y))["place"]] = True
        methods = [CATALOG[method] for method in table["method"]]
        return pd.DataFrame(
            {
                "place": table["place"],
                "label": self.labels,
                "method": [method.label for method in methods],
                "colour_role": [method.colour_role for method in methods],
                "x": table[x],
                "y": table[y],
                "within": within_limit,
                "within_test": within_test,
                "constant": ~deciding | decides_alike,
                "alike": decides_alike | [judged.alike for judged in judgements],
                "guessing_test": [test.idle and not test.alike for test in tests],
                "front": front,
                "line": line,
            }
        )

    def deciding(self, place: int, part: str = "validation") -> Deciding:
        """Return whether, and how well, a setting decides on the rows of a part."""
        if part not in self._judged:
            self._judged[part] = self._judge(part)
        return self._judged[part][place]

    @cached_property
    def _judged(self) -> dict[str, list[Deciding]]:
        """By part of the rows, how every setting decides on them, once asked for."""
        return {}

    def _judge(self, part: str) -> list[Deciding]:
        names = {f"{part}_{measure}": name for name, measure in _DECIDING.items()}
        # models of earlier versions lack some
        facts = self.means[[column for column in names if column in self.means]]
        rows = facts.rename(columns=names).to_dict("records")
        if not names.keys() & set(self.means):
            rows = [{} for _ in range(len(self.means))]
        return [Deciding.of(row) for row in rows]

    def ranking(self, metric: str) -> "pd.Series[float]":
        """Return by row the number that models are ranked by in a metric."""
        return self.rows[ranking_column(self.rows, metric)]

    def ranking_words(self, metric: str) -> str:
        """Say by which rows the settings of a front are compared in a metric."""
        which = "their gaps on"
        if ranking_column(self.rows, metric).startswith(PREFIX):
            which = "the root mean square of their local gaps over training and"
        return f"Settings are compared by {which} validation rows."

    def baseline(self, method: str) -> int | None:
        """Return the place of the unconstrained model most like those of a method.

        None for that model itself, and where it was not trained.
        """
        plain = self.means[self.means["method"] == BASELINE]
        if plain.empty or method == BASELINE:
            return None
        names = [
            param.name for param in CATALOG[BASELINE].params if param.name in plain
        ]
        settings = self.means.loc[self.means["method"] == method, names]
        # Network and schedule are the same in all settings of a method.
        n_same = (plain[names] == settings.iloc[0]).sum(axis=1).to_numpy()
        return int(str(plain.index[int(n_same.argmax())]))
