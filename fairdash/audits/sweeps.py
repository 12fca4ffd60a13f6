"""A stored sweep: its rows, and the models on disk beside them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import Deciding, nearly_alike, none_decides
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
    if run_id is None:
        return False
    run = store.run(run_id)
    if not has_axes(run) or not run.over:
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
        local = local_by_measure(
            self.store, [setting], self.run.dataset_id, self.subgroups
        )
        return local.chance

    def none_decides(self) -> str:
        """Say that no setting decides, and what to do; "" where one does.

        A setting decides where it does on validation rows and on test rows.
        """
        if not self.run.over:
            return ""  # the next model may decide
        return none_decides(
            [self._worse_deciding(place) for place in range(len(self.result.means))]
        )

    def _worse_deciding(self, place: int) -> Deciding:
        """Return how a setting decides on test rows, or on validation rows if idle."""
        on_validation = self.result.deciding(place)
        if on_validation.idle:
            return on_validation
        return self.result.deciding(place, "test")

    def compared(self, place: int) -> list[Setting]:
        """Return the plain model, if one was trained on a seed of it, and a setting."""
        method = str(self.result.means["method"].iloc[place])
        plain = self.once(lambda: self.result.baseline(method), "baseline", method)
        places = [place] if plain is None else [plain, place]
        return [model for index in places for model in self.settings_at(index)]

    def certification_table(self, limits: Mapping[str, float]) -> pd.DataFrame:
        """Return what `fairdash.sweep.choose_certified` tests, of the first seed.

        The candidates are on the front of accuracy against the largest gap in units of
        its limit, which is judged without test rows. Decisions are counted on test
        rows, those of a random mixture as they are drawn. There is no row where no
        model decides. Models are called by the places of their settings.
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
        # Where no subgroup is estimable, the other limits put the models in order.
        ranking = self.result.ranking(WORST)[rows.index].fillna(0.0)
        shares = ranking / limits.get(WORST, np.inf)
        table_and_seed = self.store, self.run.dataset_id, seed, self.subgroups
        validation = rows_of(*table_and_seed, "validation")
        test = rows_of(*table_and_seed, "test")

        def decided(place: int) -> tuple[Decisions, NDArray[Any]]:
            model = models[place]
            return validation.decisions(model), test.predictions(model)

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

        They are of accuracy, DI and Worst-1-DI on test rows, with the change from the
        unconstrained model on the same seeds. The last says whether the limit on
        ``metric`` holds, on validation rows and on test rows.
        """
        means = self.result.means
        points = self.result.points(AXES, limit, metric=metric)
        plain = self.result.baseline(method)
        before = None if plain is None else means.iloc[plain]
        limit_name = limit_words(limit, LIMITED[metric])
        by_place = {}
        for place in np.flatnonzero(means["method"] == method):
            row = means.iloc[place]
            cards = [_card(row, before, name, style) for name, style in _CARDS]
            cards.append(self._limit_card(points.iloc[place], limit_name))
            by_place[int(place)] = cards
        return by_place

    def _limit_card(self, point: "pd.Series[Any]", limit: str) -> Kpi:
        """Return the card of a limit: whether it holds, or why that says nothing."""
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


def finished_sweep(
    store: Store, run_id: str, rule: DecisionRule = USUAL
) -> StoredSweep | None:
    """Return the sweep of a run that is over, which cannot change any more."""
    return _finished_sweep(store, run_id, rule)  # one key, with a default or without


@lru_cache(maxsize=16)
def _finished_sweep(
    store: Store, run_id: str, rule: DecisionRule
) -> StoredSweep | None:
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
    rows = snapshot.table()
    run = snapshot.run
    if rows.empty:
        return rows
    rows = rows[rows["method"].isin(list(CATALOG))].reset_index(drop=True)
    outdated = rows[_out_of_date(rows) | (not rule.usual)]
    if outdated.empty:
        return _with_alike(store, run, rows)
    subgroups = Subgroups.model_validate(run.spec["subgroups"])
    models = [
        ScoredModel(Trained(str(key)), rule, int(seed))
        for key, seed in zip(outdated["key"], outdated["seed"], strict=True)
    ]
    by_rule = [_measured(store, run.dataset_id, subgroups, model) for model in models]
    measured = pd.concat(by_rule, ignore_index=True).set_index(outdated.index)
    table = rows.reindex(columns=rows.columns.union(measured.columns, sort=False))
    table.loc[measured.index, measured.columns] = measured
    return _with_alike(store, run, table)


def _with_alike(store: Store, run: RunRecord, rows: pd.DataFrame) -> pd.DataFrame:
    """Mark models that decide nearly alike, which earlier versions did not.

    Their rows lack the base rate, so that of the rows of each seed is read from the
    data.
    """
    marks = rows.reindex(columns=["validation_alike", "test_alike"])
    if marks.notna().all(axis=None):
        return rows
    dataset = store.dataset(run.dataset_id)
    table = rows.copy()
    seeds = table["seed"].astype(int)
    for part in ("validation", "test"):
        base_rate = {}
        for seed in seeds.unique():
            indices = getattr(split(dataset, int(seed)), part)
            weight = dataset.weight_of(indices)
            base_rate[seed] = np.average(dataset.y[indices], weights=weight)
        accepted = table[f"{part}_selection_rate"]
        decides_alike = nearly_alike(accepted, seeds.map(base_rate))
        table[f"{part}_alike"] = decides_alike.astype(float)
        table[f"{part}_constant"] = np.maximum(table[f"{part}_constant"], decides_alike)
    return table


def _out_of_date(rows: pd.DataFrame) -> NDArray[np.bool_]:
    """Flag rows that do not say who decides, and mixtures that were not drawn."""
    present = rows.reindex(columns=["validation_constant", DRAWN]).notna()
    is_mixture = rows["method"].map(lambda method: CATALOG[method].mixture)
    undrawn = is_mixture & ~present[DRAWN]
    return (~present["validation_constant"] | undrawn).to_numpy(bool)


@lru_cache(maxsize=5000)  # a growing sweep is read once a second
def _measured(
    store: Store,
    dataset_id: str,
    subgroups: Subgroups,
    model: ScoredModel,
) -> pd.DataFrame:
    """Return the figures of one model's decisions, in a table of one row."""
    decided = decisions(store, dataset_id, model)
    is_drawn = isinstance(decided, Drawn)
    chance = decided.chance if isinstance(decided, Drawn) else decided.astype(float)
    dataset = store.dataset(dataset_id)
    row = score(dataset, model.seed, chance[None], subgroups, drawn=is_drawn)
    # Decisions are no scores, so their AUC and log loss say nothing.
    of_scores = row.filter(regex=r"_(auc|log_loss)(_low|_high)?$")
    return row.drop(columns=of_scores.columns)


def _card(
    row: "pd.Series[Any]",
    before: "pd.Series[Any] | None",
    metric: str,
    style: Any,
) -> Kpi:
    """Return the card of a metric on test rows, with the change from ``before``."""
    name = f"test_{metric}"
    label = metric_title(metric)
    value = row[name]
    if np.isnan(value):
        return Kpi(label, style(value), "not estimable")
    spread = row[f"{name}_sd"]
    note = "one seed" if np.isnan(spread) else f"± {in_points(spread)} over seeds"
    delta = "" if before is None else points(value - before[name])
    return Kpi(label, style(value), note, delta=delta)
