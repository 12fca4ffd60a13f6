"""A run on the Train page: what was asked, how it goes, how it ended, what it found."""

from functools import partial
from typing import Any

import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import plural
from fairdash.audits import (
    Setting,
    choices,
    gaps,
    question,
    rules,
    training,
    trials,
)
from fairdash.store import Snapshot
from fairdash.sweep import BASELINE, MethodGrid, SweepSpec
from fairdash.ui.widgets import runs
from fairdash.ui.widgets.blocks import heading, problem, show_table
from fairdash.ui.widgets.pick_models import known_models
from fairdash.ui.widgets.pick_rule import advise_rule, decided, pick_rule
from fairdash.ui.widgets.results import Evidence, result_page
from fairdash.ui.widgets.state import store
from fairdash.ui.widgets.tray import pick_models, pinned, with_pinned

_DEFAULT = "road"
_SEEDS = 3  # enough for a first spread, and a sample still trains in seconds


def prefilled(run_id: str | None) -> tuple[MethodGrid, int]:
    """Return the method and the number of seeds that a run asked for, or defaults.

    Of a sweep the method has the settings it opens on. After an audit of the
    unconstrained model alone the next step is a remedy.
    """
    if run_id is not None:
        spec = SweepSpec.of_run(store().run(run_id).spec)
        grid = _grid_of(spec, _remedy_in_question(run_id))
        if grid is not None:
            return grid, len(spec.seeds)
    return MethodGrid(method=_DEFAULT), _SEEDS


def tray_with(run_id: str, before: str | None) -> dict[str, Any]:
    """Return the tray, as fields, with the models that a new run trains.

    ``before`` is the run that the page shows.
    """
    ids = trials.ids_to_come(store(), run_id)
    models_known = known_models(store().run(run_id).dataset_id, before)
    tray = [model.id for model in pinned(models_known, before)] if before else []
    asked_for = [name for method, name in ids.items() if method != BASELINE]
    plain = [name for method, name in ids.items() if method == BASELINE]
    models = with_pinned([*(tray or plain)], asked_for or plain)
    return {"models": models, "model": models[-1]}


def estimate(
    dataset_id: str, grid: MethodGrid, seeds: int, train_rows: int | None
) -> str:
    """Say how many models are trained, about how long, and what of missing numbers."""
    try:
        spec = runs.training_spec(dataset_id, grid, seeds, train_rows=train_rows)
        cost = training.expected_cost(store(), dataset_id, spec).words()
        missing = training.missing_words(store().dataset(dataset_id), grid)
        return f"{cost} {missing}"
    except ValueError:  # told when it is asked for
        return ""


def show_run(snapshot: Snapshot) -> None:
    """Draw a run: its progress while it goes on, its result in the same place."""
    if not snapshot.run.over:
        runs.show_progress(snapshot)
        runs.show_curves(training.main_trials(snapshot))
        return
    runs.finish_audit(snapshot)
    done, total = snapshot.count("finished"), len(snapshot.trials)
    saved = f"{done} of {plural(total, 'model')} finished and kept."
    runs.show_ending(snapshot.run, f"{saved} Press Train to go on from there.")
    if done:
        _show_result(snapshot)


def _show_result(snapshot: Snapshot) -> None:
    data, page = snapshot.run.dataset_id, result_page("comparison", beside=False)
    trained = known_models(data, snapshot.run.id)
    with page.tray:
        models = pick_models(trained, snapshot.run.id)
    with page.figure:
        advise_rule(models[-1], data)
    looked_at = models[-1].trials
    models = decided(models)
    result = gaps.outcome(store(), snapshot, models)
    answer, drawn = result.answer(), result
    shown = page.before_after(models)
    if len(shown) < len(models):
        drawn = gaps.outcome(store(), snapshot, shown)
    with page.controls:
        pick_rule(models[-1])
    page.show(answer, shown=drawn.answer())
    openers = [Evidence("training", "Training", lambda: runs.show_curves(looked_at))]
    if any(model.method == rules.METHOD for model in models):
        draw = partial(_show_rules, snapshot, models)
        openers.append(Evidence("rules", "The rules", draw))
    page.evidence(*openers)


def _show_rules(snapshot: Snapshot, models: list[Setting]) -> None:
    """Write what each rule of a rule list decides, on test rows."""
    try:
        listing = rules.rules_of(store(), snapshot, models)
    except ValueError as error:
        problem("The rules cannot be written in words", error)
        return
    if listing is not None:
        heading(listing.title)
        shares = listing.frame.columns[3:]
        percent = st.column_config.NumberColumn(format="percent")
        show_table(listing.frame, columns=dict.fromkeys(map(str, shares), percent))
        st.caption(plain(listing.note))


def _remedy_in_question(run_id: str) -> Setting | None:
    # of a sweep that opens on the plain model the first remedy of note
    if choices.opened_on(store(), run_id) is None:
        return None
    models = trials.known_models_of(store(), [run_id])
    remedies = [model for model in models if model.method != BASELINE]
    if not remedies:
        return None
    return question.ModelInQuestion.of(store(), run_id, remedies).setting


def _grid_of(spec: SweepSpec, chosen: Setting | None) -> MethodGrid | None:
    for grid in spec.methods:
        if chosen is None and grid.method != BASELINE:
            return grid
        if chosen is not None and grid.method == chosen.method:
            params = chosen.trials[0].params
            values = {name: params[name] for name in grid.params}
            return grid.model_copy(update={"params": values})
    return None
