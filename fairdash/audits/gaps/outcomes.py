"""A run that is over: what its method changed, held to the baseline on test rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairdash._change import Change, by_metric
from fairdash._deciding import Deciding
from fairdash._metric_names import ACCURACY, PARITY, WORST, metric_title
from fairdash._wording import (
    ROWS,
    Kpi,
    Noun,
    gap_size,
    interval,
    interval_note,
    percent,
    points,
    sentences,
)
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.choices import model_brief, shown_settings, verdict_words
from fairdash.audits.gaps.by_subgroup import local_by_measure, named_metrics
from fairdash.audits.gaps.evaluation import (
    GAP_HELP,
    chance_kpi,
    of_seeds,
    paired_changes,
    readable,
)
from fairdash.audits.gaps.measured import speech_of, widest_gap
from fairdash.audits.question import ModelInQuestion
from fairdash.audits.trials.models import Setting, on_shared_seeds, settings, share_seed
from fairdash.audits.trials.sizes import trained_on
from fairdash.methods import CATALOG
from fairdash.metrics import Finding, Speech, direction_words
from fairdash.store import Snapshot, Store
from fairdash.sweep import BASELINE

_MOST = 10  # models in a figure
_HOW = """
Test rows only: no model was trained or chosen on them. The **gap** is the largest minus
the smallest rate of positive predictions of the groups. The **largest local gap**
(Worst-1-DI) is the largest such gap within a subgroup. A change is
**paired**: both models on the same rows. That is sharper than comparing two intervals.
"""
_METRICS = (
    (ACCURACY, percent, 1),
    (PARITY, gap_size, -1),
    (WORST, gap_size, -1),
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Test metrics of the models of a run, and what its method changed.

    Attributes
    ----------
    row : mapping
        The row of that method in ``models``.
    changes : DataFrame or None
        Paired changes against the baseline, if it was trained on a seed of it.
    chance : float
        Worst-1-DI of that method by chance, 95th percentile.
    gap : Finding
        Of `widest_gap`, of that method.
    before : Finding or None
        That of the baseline.
    noun : Noun
        What is counted: rows, or the people that rows of counts stand for.
    """

    settings: tuple[Setting, ...]
    method: str
    models: pd.DataFrame
    row: Mapping[Any, Any]
    changes: pd.DataFrame | None
    chance: float
    notes: str
    gap: Finding
    speech: Speech
    before: Finding | None = None
    n_groups: int = 2
    noun: Noun = ROWS

    def answer(self) -> Answer:
        """Return what the method changed."""
        facts = self.row, self.changes, self.gap, self.speech
        moved = ""
        if self.changes is not None:
            largest = by_metric(self.changes)[WORST]
            if ends := interval(largest.low, largest.high, points):
                by = points(largest.value)
                moved = f"The largest gap changes by {by} ({ends})."
        return Answer(
            model_brief(*facts, before=self.before),
            self.kpis(),
            Drawing("plot_comparison", self.models, numbers=readable(self.models)),
            caption=self._caption(moved),
            difference=self.gap,
            details=verdict_words(*facts, self.noun),
            how=_HOW,
        )

    def kpis(self) -> list[Kpi]:
        """Return accuracy and gaps with their change, and chance."""
        changes: dict[str, Change] = {}
        if self.changes is not None:
            changes = by_metric(self.changes)
        cards = []
        idle = Deciding.of(self.row).idle  # what it narrows is no gain
        for name, style, better in _METRICS:
            ends = interval_note(
                self.row[f"{name}_low"], self.row[f"{name}_high"], style
            )
            chip = ""
            good = None
            moved = changes.get(name)
            if moved is not None and math.isfinite(moved.value):
                chip = points(moved.value)
                if not (idle and better < 0):
                    good = moved.good(rise=better > 0)
            value = style(self.row[name])
            notes = [ends or "not estimable"]
            if name == ACCURACY:
                notes.append(of_seeds(self.row["n_seeds"]))
            if name == PARITY:
                notes.append(self._direction())
            note = " · ".join(filter(None, notes))
            about = GAP_HELP if name == PARITY else None
            label = metric_title(name)
            cards.append(Kpi(label, value, note, delta=chip, good=good, help=about))
        return [*cards, chance_kpi(self.chance)]

    def _caption(self, moved: str) -> str:
        """Say how many rows and seeds there are; ``moved`` is what changed."""
        rows = self.noun.counted(round(self.row["n"]), "test")
        seeds = of_seeds(self.row["n_seeds"])
        return sentences(f"{rows}, {seeds}, 95% intervals.", moved, self.notes)

    def _direction(self) -> str:
        return direction_words(
            self.gap,
            self.speech.feature,
            self.n_groups,
            favourable=self.speech.favourable is not False,
        )


def outcome(
    store: Store, snapshot: Snapshot, models: Sequence[Setting] = ()
) -> Outcome:
    """Evaluate models under the subgroups of the data set of a run.

    They are those of the run, which has finished ones, or ``models`` of the same data:
    the last of these is looked at.
    """
    dataset_id = snapshot.run.dataset_id
    subgroups = store.dataset_record(dataset_id).subgroups
    if models:
        candidates = list(models)
        main = models[-1]
    else:
        candidates = shown_settings(store, snapshot, _MOST)
        main = ModelInQuestion.of(store, snapshot.run.id, candidates).setting
    peers = [model for model in candidates if model is not main]
    compared = on_shared_seeds([*peers, main])
    *peers, main = compared.models
    reference = _reference(main, peers)
    order = {model.id: index for index, model in enumerate(candidates)}
    evaluated = sorted([*peers, main], key=lambda model: order[model.id])
    changes = None
    before = None
    if reference is not None:
        before = widest_gap(store, reference, dataset_id)
        changes = paired_changes(store, main, reference, dataset_id, subgroups)
    table = named_metrics(store, evaluated, dataset_id, subgroups)
    n_settings = len(settings(snapshot.trials))
    fewer = ""
    if not models and len(evaluated) < n_settings:
        fewer = f"{len(evaluated)} of {n_settings} models."
    trained = trained_on(store, dataset_id, snapshot.run.spec.get("train_rows"))
    n_groups = len(store.dataset(dataset_id).group_names)
    pairs = (
        "The pair named has an interval for all pairs at once." if n_groups > 2 else ""
    )
    return Outcome(
        settings=tuple(candidates),
        method=CATALOG[main.method].label,
        models=table,
        row=table[table["label"] == main.label].to_dict("records")[0],
        changes=changes,
        chance=local_by_measure(store, [main], dataset_id, subgroups).chance,
        notes=" ".join(filter(None, [compared.note(), trained, fewer, pairs])),
        gap=widest_gap(store, main, dataset_id),
        speech=speech_of(store, dataset_id),
        before=before,
        n_groups=n_groups,
        noun=store.dataset(dataset_id).roles.noun,
    )


def _reference(main: Setting, models: Sequence[Setting]) -> Setting | None:
    for setting in models:
        plain = setting is not main and setting.method == BASELINE
        if plain and share_seed(setting, main):
            return setting
    return None
