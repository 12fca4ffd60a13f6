"""What a stored sweep found: its rows, and what lies on disk beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import nearly_alike, none_decides
from fairdash._metric_names import (
    ACCURACY,
    METRIC_NAMES,
    ODDS,
    OPPORTUNITY,
    PARITY,
    WORST,
    metric_title,
)
from fairdash._wording import Kpi, gap_size, in_points, limit_words, percent, points
from fairdash.audits.gaps.by_subgroup import local_by_measure
from fairdash.audits.trials.memo import Memo
from fairdash.audits.trials.models import (
    USUAL_TRAINING,
    Setting,
    TrainingOptions,
    settings,
    trained_as,
)
from fairdash.audits.trials.rows import Decisions, decided_part, decisions, rows_of
from fairdash.datasets import Subgroups, split
from fairdash.methods import CATALOG
from fairdash.metrics import Drawn
from fairdash.scored import USUAL, DecisionRule, ScoredModel, Trained
from fairdash.store import RunRecord, Snapshot, Store, TrialRecord
from fairdash.sweep import AXES, DRAWN, SweepResult, candidate_table, decides, score

# gaps that a front can be limited by
LIMITED = {gap: METRIC_NAMES[gap] for gap in (PARITY, WORST, ODDS, OPPORTUNITY)}
_MOST_KEPT = 512  # figures, choices and ids of a sweep
_CARDS = (
    (ACCURACY, percent),
    (PARITY, gap_size),
    (WORST, gap_size),
)


def is_sweep(store: Store, run_id: str | None) -> bool:
    """Tell whether a run tries several settings of a method."""
    return run_id is not None and has_axes(store.run(run_id))


def can_be_shown(store: Store, run_id: str | None) -> bool:
    """Tell whether a run is a sweep that is over, with a model of a method."""
    if run_id is None or not has_axes(run := store.run(run_id)) or not run.over:
        return False
    sweep = finished_sweep(store, run_id)
    return sweep is not None and bool(sweep.result.methods)


@dataclass(frozen=True, eq=False)
class StoredSweep:
    """The finished models of a run; a setting is known by its place in ``result``.

    All that follows from decisions follows from those by ``rule``.
    """

    store: Store
    run: RunRecord
    result: SweepResult
    trials: Mapping[str, TrialRecord]
    rule: DecisionRule = USUAL

    @classmethod
    def of(
        cls, store: Store, snapshot: Snapshot, rule: DecisionRule = USUAL
    ) -> Self | None:
        """Return what has finished of a run, None before the first model."""
        rows = model_rows(store, snapshot, rule)
        if rows.empty:
            return None
        trials = {trial.key: trial for trial in snapshot.trials}
        return cls(store, snapshot.run, SweepResult.of(rows), trials, rule)

    def trials_at(self, place: int) -> list[TrialRecord]:
        """Return the trials of a setting, one a seed."""
        return [self.trials[key] for key in self.result.keys(place).values()]

    def settings_at(
        self, place: int, trained: TrainingOptions = USUAL_TRAINING
    ) -> list[Setting]:
        """Return the models of a setting, deciding by the rule: one, or none."""
        models = settings(self.trials_at(place), trained)
        return [model.decided_by(self.rule) for model in models]

    @cached_property
    def models(self) -> list[Setting]:
        """The models of the settings, by place."""
        trained = trained_as(self.store, self.run.id)
        places = range(len(self.result.means))
        return [self.settings_at(place, trained)[0] for place in places]

    @cached_property
    def ids(self) -> list[str]:
        """By place, the id by which other pages know the model of a setting."""
        return [model.id for model in self.models]

    @cached_property
    def once(self) -> Memo:
        """Keep what follows from the sweep: once its run is over it never changes."""
        return Memo(_MOST_KEPT)

    @cached_property
    def subgroups(self) -> Subgroups:
        """The subgroups the run was measured under."""
        return Subgroups.model_validate(self.run.spec["subgroups"])

    def chance(self, place: int = 0) -> float:
        """Return what Worst-1-DI of a setting stays below by chance, on test rows."""
        (setting,) = self.settings_at(place)
        where = self.run.dataset_id, self.subgroups
        return local_by_measure(self.store, [setting], *where).chance

    def none_decides(self) -> str:
        """Say that no setting decides, and what to do; "" where one does.

        A setting decides where it does on validation rows and on test rows.
        """
        if not self.run.over:
            return ""  # the next model may decide
        result = self.result
        places = range(len(result.means))
        judged = [result.deciding(place) for place in places]
        tested = [result.deciding(place, "test") for place in places]
        pairs = zip(judged, tested, strict=True)
        return none_decides([v if v.idle else t for v, t in pairs])

    def compared(self, place: int) -> list[Setting]:
        """Return the plain model, if one was trained on a seed of it, and a setting."""
        method = str(self.result.means["method"].iloc[place])
        plain = self.once(lambda: self.result.baseline(method), "baseline", method)
        places = [place] if plain is None else [plain, place]
        return [model for at in places for model in self.settings_at(at)]

    def certification_table(self, limits: Mapping[str, float]) -> pd.DataFrame:
        """Return what `fairdash.sweep.choose_certified` tests, of the first seed.

        The candidates on the front of accuracy against the largest gap, in units of its
        limit, judged without test rows, on which decisions are counted, those of a
        random mixture as they are drawn; no row where none decides. Models are called
        by the places of their settings.
        """
        rows = self.result.rows
        rows = rows[rows["method"].isin(self.result.methods)]
        seed = int(rows["seed"].min())
        rows = rows[rows["seed"] == seed]
        rows = rows[decides(rows, "validation")]
        places = self.result.place_of_row[rows.index]
        models = {
            int(place): ScoredModel(Trained(str(key)), self.rule, seed)
            for place, key in zip(places, rows["key"], strict=True)
        }
        # where no subgroup is estimable, the other limits put the models in order
        ranking = self.result.ranking(WORST)[rows.index].fillna(0.0)
        shares = ranking / limits.get(WORST, np.inf)
        where = self.store, self.run.dataset_id, seed, self.subgroups
        validation, test = rows_of(*where, "validation"), rows_of(*where, "test")

        def decided(place: int) -> tuple[Decisions, NDArray[Any]]:
            return validation.decisions(models[place]), test.predictions(models[place])

        return candidate_table(
            list(models),
            decided,
            (decided_part(validation), decided_part(test)),
            limits=limits,
            local=dict(zip(models, shares, strict=True)),
        )

    def cards(
        self, method: str, limit: float, *, metric: str = PARITY
    ) -> dict[int, list[Kpi]]:
        """Return the cards of every setting of a method, by its place.

        Accuracy, DI and Worst-1-DI on test rows, with the change from the unconstrained
        model on the same seeds. And whether the limit on ``metric`` holds, on both.
        """
        means = self.result.means
        points = self.result.points(AXES, limit, metric=metric)
        plain = self.result.baseline(method)
        before = None if plain is None else means.iloc[plain]
        return {
            int(place): [
                *(_card(means.iloc[place], before, *shown) for shown in _CARDS),
                self._limit_card(
                    points.iloc[place], limit_words(limit, LIMITED[metric])
                ),
            ]
            for place in np.flatnonzero(means["method"] == method)
        }

    def _limit_card(self, point: "pd.Series[Any]", limit: str) -> Kpi:
        place = int(point["place"])
        judged = self.result.deciding(place)
        tested = self.result.deciding(place, "test")
        note = "also on test rows" if point["within_test"] else "not on test rows"
        if judged.idle and judged.mark() == tested.mark():
            note = judged.mark()
        elif judged.idle:
            note = f"{judged.mark()} on validation rows"
        elif tested.idle:
            note = f"{tested.mark()} on test rows"
        elif not point["within"]:
            note = "on validation rows"
        return Kpi(
            f"Within the {limit}",
            "yes" if point["within"] else "no",
            note,
            help=f"Whether the model keeps the {limit} on validation rows, by which "
            "models are chosen. A model that accepts nearly all or none, or is not "
            "clearly better than guessing, keeps none.",
        )


@lru_cache(maxsize=16)
def finished_sweep(
    store: Store, run_id: str, rule: DecisionRule = USUAL
) -> StoredSweep | None:
    """Return what a run that is over came to; nothing of it can change any more."""
    return StoredSweep.of(store, store.snapshot(run_id), rule)


def has_axes(run: RunRecord) -> bool:
    """Tell whether a run tries several settings of a method."""
    methods = run.spec.get("methods", [])
    axes = [axis for grid in methods for axis in grid.get("params", {}).values()]
    return any(isinstance(axis, list) and len(axis) > 1 for axis in axes)


def model_rows(store: Store, snapshot: Snapshot, rule: DecisionRule) -> pd.DataFrame:
    """Return the rows of a run's finished models, as they decide by a rule.

    A run of an earlier version does not say who decides, or has the figures of random
    mixtures rounded at one half: these are measured anew, too.
    """
    rows, run = snapshot.table(), snapshot.run
    if rows.empty:
        return rows
    rows = rows[rows["method"].isin(list(CATALOG))].reset_index(drop=True)
    anew = np.flatnonzero(_out_of_date(rows) | (not rule.usual))
    if not len(anew):
        return _with_alike(store, run, rows)
    where = store, run.dataset_id, Subgroups.model_validate(run.spec["subgroups"])
    by_rule = [
        _measured(*where, ScoredModel(Trained(str(key)), rule, int(seed)))
        for key, seed in zip(
            rows["key"].iloc[anew], rows["seed"].iloc[anew], strict=True
        )
    ]
    measured = pd.concat(by_rule, ignore_index=True).set_index(rows.index[anew])
    table = rows.reindex(columns=rows.columns.union(measured.columns, sort=False))
    table.loc[measured.index, measured.columns] = measured
    return _with_alike(store, run, table)


def _with_alike(store: Store, run: RunRecord, rows: pd.DataFrame) -> pd.DataFrame:
    """Mark models that decide nearly alike, which earlier versions did not.

    What a row lacks is its base rate; that of the rows of a seed is read from the data.
    """
    marks = rows.reindex(columns=["validation_alike", "test_alike"])
    if marks.notna().all(axis=None):
        return rows
    dataset, table = store.dataset(run.dataset_id), rows.copy()
    seeds = table["seed"].astype(int)
    for part in ("validation", "test"):
        base_rate = {}
        for seed in seeds.unique():
            where = getattr(split(dataset, int(seed)), part)
            weight = dataset.weight_of(where)
            base_rate[seed] = np.average(dataset.y[where], weights=weight)
        accepted = table[f"{part}_selection_rate"]
        alike = nearly_alike(accepted, seeds.map(base_rate))
        table[f"{part}_alike"] = alike.astype(float)
        table[f"{part}_constant"] = np.maximum(table[f"{part}_constant"], alike)
    return table


def _out_of_date(rows: pd.DataFrame) -> NDArray[np.bool_]:
    says = rows.reindex(columns=["validation_constant", DRAWN]).notna()
    mixture = rows["method"].map(lambda method: CATALOG[method].mixture)
    return (~says["validation_constant"] | (mixture & ~says[DRAWN])).to_numpy(bool)


@lru_cache(maxsize=5000)  # a growing sweep is read once a second
def _measured(
    store: Store,
    dataset_id: str,
    subgroups: Subgroups,
    model: ScoredModel,
) -> pd.DataFrame:
    decided = decisions(store, dataset_id, model)
    drawn = isinstance(decided, Drawn)
    chance = decided.chance if isinstance(decided, Drawn) else decided.astype(float)
    row = score(
        store.dataset(dataset_id), model.seed, chance[None], subgroups, drawn=drawn
    )
    of_scores = row.filter(regex=r"_(auc|log_loss)(_low|_high)?$")
    return row.drop(columns=of_scores.columns)


def _card(
    row: "pd.Series[Any]",
    before: "pd.Series[Any] | None",
    metric: str,
    style: Any,
) -> Kpi:
    name, label = f"test_{metric}", metric_title(metric)
    if np.isnan(row[name]):
        return Kpi(label, style(row[name]), "not estimable")
    spread, note, delta = row[f"{name}_sd"], "one seed", ""
    if not np.isnan(spread):
        note = f"± {in_points(spread)} over seeds"
    if before is not None:
        delta = points(row[name] - before[name])
    return Kpi(label, style(row[name]), note, delta=delta)
