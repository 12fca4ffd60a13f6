"""A run on the Train page: its request, its progress, its end and its result."""

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

    The method of a sweep has the settings that the sweep opens on. After an audit of
    only the unconstrained model the next step is a remedy.
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
    tray: list[str] = []
    if before:
        models = known_models(store().run(run_id).dataset_id, before)
        tray = [model.id for model in pinned(models, before)]
    ids = trials.ids_to_come(store(), run_id)
    remedies = [model_id for method, model_id in ids.items() if method != BASELINE]
    baseline = [model_id for method, model_id in ids.items() if method == BASELINE]
    pinned_ids = with_pinned(tray or baseline, remedies or baseline)
    return {"models": pinned_ids, "model": pinned_ids[-1]}


def estimate(
    dataset_id: str, grid: MethodGrid, seeds: int, train_rows: int | None
) -> str:
    """Say how many models are trained, how long, and what missing numbers become."""
    try:
        spec = runs.training_spec(dataset_id, grid, seeds, train_rows=train_rows)
        cost = training.expected_cost(store(), dataset_id, spec).words()
        missing = training.missing_words(store().dataset(dataset_id), grid)
        return f"{cost} {missing}"
    except ValueError:
        # A form that cannot be trained says so at the press of Train, not before.
        return ""


def show_run(snapshot: Snapshot) -> None:
    """Draw a run: its progress while it goes on, its result in the same place."""
    if not snapshot.run.over:
        runs.show_progress(snapshot)
        runs.show_curves(training.main_trials(snapshot))
        return
    runs.finish_audit(snapshot)
    done = snapshot.count("finished")
    total = len(snapshot.trials)
    saved = f"{done} of {plural(total, 'model')} finished and kept."
    runs.show_ending(snapshot.run, f"{saved} Press Train to go on from there.")
    if done:
        _show_result(snapshot)


def _show_result(snapshot: Snapshot) -> None:
    """Draw the comparison of the tray's models, and the evidence below it."""
    data = snapshot.run.dataset_id
    page = result_page("comparison", beside=False)
    trained = known_models(data, snapshot.run.id)
    with page.tray:
        models = pick_models(trained, snapshot.run.id)
    with page.figure:
        advise_rule(models[-1], data)
    # Curves are of the training, which no decision rule changes.
    trials_of_curves = models[-1].trials
    models = decided(models)
    result = gaps.outcome(store(), snapshot, models)
    drawn = result
    # The figure may show two of the models; the sentence is about all of them.
    compared = page.before_after(models)
    if len(compared) < len(models):
        drawn = gaps.outcome(store(), snapshot, compared)
    with page.controls:
        pick_rule(models[-1])
    page.show(result.answer(), shown=drawn.answer())
    draw_curves = partial(runs.show_curves, trials_of_curves)
    openers = [Evidence("training", "Training", draw_curves)]
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
    if listing is None:
        return
    heading(listing.title)
    percent = st.column_config.NumberColumn(format="percent")
    # The rule, its decision and its number of rows come first.
    shares = [str(column) for column in listing.frame.columns[3:]]
    show_table(listing.frame, columns=dict.fromkeys(shares, percent))
    st.caption(plain(listing.note))


def _remedy_in_question(run_id: str) -> Setting | None:
    """Return the first remedy of note of a sweep that opens on the plain model."""
    if choices.opened_on(store(), run_id) is None:
        return None
    models = trials.known_models_of(store(), [run_id])
    remedies = [model for model in models if model.method != BASELINE]
    if not remedies:
        return None
    return question.ModelInQuestion.of(store(), run_id, remedies).setting


def _grid_of(spec: SweepSpec, chosen: Setting | None) -> MethodGrid | None:
    """Return the entry of a spec that trained a setting, or its first remedy."""
    for grid in spec.methods:
        if chosen is None and grid.method != BASELINE:
            return grid
        if chosen is not None and grid.method == chosen.method:
            params = chosen.trials[0].params
            values = {name: params[name] for name in grid.params}
            return grid.model_copy(update={"params": values})
    return None
