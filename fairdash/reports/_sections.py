"""The findings of a report: what was found, where, and among which models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from fairdash import plots
from fairdash._wording import interval, listing, number, plural
from fairdash.audits import (
    OWN_NOTE,
    Drawing,
    Listing,
    LocalResult,
    Setting,
    StoredSweep,
    beside_plain,
    finished_sweep,
    guarantee,
    known_models_of,
    local_by_measure,
    metrics_by_setting,
    model_asked,
    on_shared_seeds,
    opened_on,
    own_models,
    own_points,
    readable,
    same_model,
    side_by_side,
    trained_on,
)
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.reports._answers import blocks_of
from fairdash.reports._blocks import Block, Figure, Table, Words
from fairdash.reports._small_groups import (
    hidden_names,
    suppressed_words,
    without_small_groups,
)
from fairdash.store import Snapshot, Store
from fairdash.sweep import PARITY, SweepSpec, Thresholds

_WORST = "worst_1_di"
MEASURED = {"accuracy": "Accuracy", PARITY: "DI", _WORST: "Worst-1-DI"}
_CONFIDENCE = 0.95
_FEW = 4  # models with a column each


@dataclass(frozen=True, eq=False)
class FoundData:
    """A data set, and what is computed of it."""

    store: Store
    dataset_id: str
    least: int  # fewest rows of a group that are shown

    @cached_property
    def dataset(self) -> Dataset:
        """The rows."""
        return self.store.dataset(self.dataset_id)

    @cached_property
    def subgroups(self) -> Subgroups:
        """The subgroups of the data set, as pages show them."""
        return self.store.dataset_record(self.dataset_id).subgroups

    @cached_property
    def small_groups(self) -> list[str]:
        """The groups to suppress, for a group has too few rows in the table."""
        sizes = np.bincount(self.dataset.group, minlength=len(self.dataset.group_names))
        counts = pd.DataFrame({"subgroup": self.dataset.group_names, "n": sizes})
        return hidden_names(counts, self.least)


@dataclass(frozen=True, eq=False)
class Found(FoundData):
    """A run, the model a report is about, and what is computed of them."""

    snapshot: Snapshot
    asked: str | None  # the model asked for, by id or beginning of its label
    limits: Mapping[str, float]  # that a guarantee was asked for
    thresholds: Thresholds = "fixed"

    @cached_property
    def spec(self) -> SweepSpec:
        """What was asked for."""
        return SweepSpec.of_run(self.snapshot.run.spec)

    @cached_property
    def model(self) -> Setting:
        """The model the report is about."""
        return model_asked(self.store, self.snapshot.run.id, self.asked)

    @cached_property
    def models(self) -> list[Setting]:
        """The model after the plain one that it is compared with, if there is one."""
        return beside_plain(
            self.model, known_models_of(self.store, [self.snapshot.run.id])
        )

    @cached_property
    def local(self) -> LocalResult:
        """Local gaps of the models, all of them."""
        at = self.dataset_id, self.subgroups
        return local_by_measure(self.store, self.models, *at)

    @cached_property
    def metrics(self) -> pd.DataFrame:
        """The test metrics of the models, one row each."""
        models = on_shared_seeds(self.models).models
        return metrics_by_setting(self.store, models, self.dataset_id, self.subgroups)

    @cached_property
    def shown(self) -> tuple[LocalResult, list[str]]:
        """Local gaps without suppressed subgroups, and these."""
        return without_small_groups(self.local, self.least)

    @cached_property
    def sweep(self) -> StoredSweep | None:
        """The settings of a run that is over, as the Sweep page has them."""
        if not self.snapshot.run.over:
            return StoredSweep.of(self.store, self.snapshot)
        return finished_sweep(self.store, self.snapshot.run.id)

    @cached_property
    def limit(self) -> float:
        """The limit on DI that settings are chosen within."""
        return self.spec.di_limit

    def suppressed(self) -> str:
        """Say which subgroups are suppressed; nothing where none is."""
        return suppressed_words(self.shown[1], self.least)


def summary(found: Found) -> Sequence[Block]:
    """Return the verdict, the model's numbers and what it changed."""
    result = found.shown[0]
    answer = result.answer(found.dataset, found.subgroups)
    finding = answer.verdict
    if found.local.own["estimable"].any() and not result.own["estimable"].any():
        finding = found.suppressed()
    compared = {"label": result.label, "changes": result.changes}
    seeds = plural(result.n_seeds, "seed")
    mean = seeds if result.n_seeds == 1 else f"mean of {seeds}"
    caption = f"{plural(round(result.row['n']), 'test row')}, {mean}, 95% intervals."
    if pd.notna(result.chance):
        caption += (
            f" By chance alone the Worst-1-DI of {result.label} stays below "
            f"{number(result.chance)} in 95% of cases."
        )
    comparison = Drawing(
        "plot_comparison", found.metrics, {**compared, "chance": result.chance}
    )
    return blocks_of(
        replace(
            answer,
            verdict=finding,
            cards=found.local.kpis(1),
            figure=comparison,
            table=_by_measure(found.metrics),
            caption=f"{caption} {result.note}".strip(),
        )
    )


def _by_measure(models: pd.DataFrame, title: str = "Models on test rows") -> Listing:
    """Return the test metrics of a few models, a row per measure.

    Parameters
    ----------
    models : DataFrame of `fairdash.audits.metrics_by_setting`
    """
    table = readable(models).set_index("Model")
    ends = (", low", ", high", ", sd")
    names = [str(name) for name in table.columns if not str(name).endswith(ends)]
    columns: dict[str, list[str]] = {"Measure": names}
    for label, row in table.iterrows():
        columns[str(label)] = [_with_ends(row, name) for name in names]
    several = any(str(name).endswith(", sd") for name in table.columns)
    note = "95% intervals in brackets" + "; ±: over seeds" * several
    return Listing(title, pd.DataFrame(columns), f"{note}.")


def _with_ends(row: "pd.Series[Any]", name: str) -> str:
    """Return a value with its interval and spread: "0.104 (0.060–0.150) ± 0.014"."""
    value = row[name]
    if name in ("Seeds", "Test rows", "Decides"):
        return str(value) if name == "Decides" else f"{value:,.0f}"
    low, high = (row.get(f"{name}, {end}", float("nan")) for end in ("low", "high"))
    spread = row.get(f"{name}, sd", float("nan"))
    words = [number(value), f"({interval(low, high)})" * pd.notna(low)]
    words.append(f"± {number(spread)}" * pd.notna(spread))
    return " ".join(filter(None, words))


def local(found: Found) -> Sequence[Block]:
    """Return the gap between groups in every subgroup, as figure and table."""
    result, hidden = found.shown
    words = found.suppressed()
    if len(hidden) == len(result.own):
        return [Words(words)]
    answer = result.answer(found.dataset, found.subgroups)
    return blocks_of(replace(answer, verdict="", cards=(), changes=None, details=words))


def tried(found: Found) -> Sequence[Block]:
    """Return which settings were trained, how one was chosen, and their test rows."""
    sweep = found.sweep
    if sweep is None:
        return []
    blocks: list[Block] = [Words(_choice_words(found, sweep))]
    blocks += _sweep_figures(found, sweep)
    beside = side_by_side(found.store, [found.snapshot.run.id])
    more = beside is not None and len(beside.table) > max(2, len(found.models))
    if not sweep.result.methods and beside is not None and more:
        title = "Models of the run"
        table = Listing(title, readable(beside.table))
        if len(beside.table) <= _FEW:
            table = _by_measure(beside.table, title)
        answer = replace(beside.answer(), table=table)
        blocks += blocks_of(answer)
    blocks.append(_settings_table(found, sweep))
    return blocks


def guaranteed(found: Found) -> Sequence[Block]:
    """Return what is certified of the settings within the limits asked for, if any."""
    if found.sweep is None or not found.limits:
        return []
    told = guarantee(
        found.sweep,
        found.limits,
        confidence=_CONFIDENCE,
        thresholds=found.thresholds,
    )
    words, table = told.words, told.tested
    if told.place is not None:
        words = f"{found.sweep.result.labels[told.place]}: {words}"
    note = (
        "From the fairest on validation rows on, until one fails: the largest p of the "
        "tests that a gap is over its limit, on the test rows of the first seed."
    )
    blocks: list[Block] = [Words(words, finding=True)]
    return [*blocks, Table("Settings tested", table, note)] if len(table) else blocks


def _choice_words(found: Found, sweep: StoredSweep) -> str:
    """Say what was tried, and by which rule on which rows a model was chosen."""
    n_settings, label = len(sweep.result.means), found.model.label
    failed = found.snapshot.count("failed")
    start = f"{plural(n_settings, 'setting')} of "
    methods = dict.fromkeys(CATALOG[key].label for key in sweep.result.means["method"])
    start += f"{listing(methods)} on {plural(sweep.result.n_seeds, 'seed')} finished"
    start += f"; {plural(failed, 'model')} failed." if failed else "."
    opened = opened_on(found.store, found.snapshot.run.id)
    if found.asked is not None and (
        opened is None or not same_model(opened, found.model)
    ):
        how = f"{label} was asked for by name."
    elif opened is None:
        how = f"No setting was chosen among others; the report is about {label}."
    else:
        how = _rule_words(sweep, label, found.limit)
    rows = "All numbers reported are of test rows, on which nothing was chosen."
    return f"{start} {how} {rows}"


def _rule_words(sweep: StoredSweep, label: str, limit: float) -> str:
    """Say by which rule a sweep opens on a setting: see `SweepResult.start`."""
    result = sweep.result
    if result.best({PARITY: limit}) is not None:
        return (
            f"{label} is the most accurate on validation rows of those that keep "
            f"DI ≤ {limit:g} there."
        )
    if result.fairest() is None:
        return f"No setting decides on validation rows; {label} is the first."
    return (
        f"No setting keeps DI ≤ {limit:g} on validation rows; {label} has the least "
        "DI there."
    )


def _sweep_figures(found: Found, sweep: StoredSweep) -> list[Block]:
    """Return the front."""
    result = sweep.result
    if not result.methods:
        return []
    axes = (_WORST, "accuracy")
    chance = sweep.chance()
    picture = plots.plot_front(
        result.points(axes, found.limit),
        axes=axes,
        limit=found.limit,
        n_seeds=result.n_seeds,
        chance=chance,
        own=own_points(sweep, axes, {}),
    )
    run = found.snapshot.run
    trained = trained_on(found.store, run.dataset_id, run.spec.get("train_rows"))
    own = OWN_NOTE * bool(own_models(found.store, run.dataset_id))
    caption = " ".join(filter(None, [result.seed_note(), trained, own]))
    return [Figure(picture, caption)]


def _settings_table(found: Found, sweep: StoredSweep) -> Table:
    """Return all settings, those on the fronts first: validation beside test rows."""
    result = sweep.result
    points = result.points((_WORST, "accuracy"), found.limit)
    columns: dict[str, object] = {"Setting": points["label"]}
    for part in ("validation", "test"):
        for metric, title in MEASURED.items():
            values = result.means[f"{part}_{metric}"]
            columns[f"{title}, {part}"] = values.to_numpy()
            spread = result.means[f"{part}_{metric}_sd"]
            if part == "test" and spread.notna().any():
                columns[f"{title}, test, sd"] = spread.to_numpy()
    columns |= {
        "Within DI limit": points["within"].map({True: "yes", False: "no"}),
        "On front": points["front"].map({True: "yes", False: "no"}),
        "Decides": points["constant"].map({True: "constant", False: "yes"}),
    }
    order = points.sort_values(["front", "x"], ascending=[False, True]).index
    table = pd.DataFrame(columns).loc[order]
    return Table(
        "All settings",
        table,
        "Means over seeds. Limit and front are judged on validation rows; sd: standard "
        "deviation over seeds.",
    )
