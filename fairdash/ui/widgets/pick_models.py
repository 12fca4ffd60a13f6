"""The models of a data set, over all its runs, and how a reader picks among them."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from fairdash._wording import plural
from fairdash.methods import CATALOG, Param
from fairdash.ui.results.found import notable, opened_on
from fairdash.ui.results.results import BASELINE, Setting, settings, share_seed
from fairdash.ui.widgets.state import store

MEAN = -1  # instead of a seed
_MOST_PILLS = 8


def known_models(dataset_id: str, run_id: str | None = None) -> list[Setting]:
    """Return the settings that were trained on a data set, the baseline first.

    Those of ``run_id`` come before those of other runs. The same model in two runs is
    one model; two that share a label, such as "ROAD λ 1 τ 0.3" at both efforts, are
    told apart by their effort, or else by the parameters that differ.
    """
    runs = sorted(store().runs(dataset_id), key=lambda run: run.id != run_id)
    trials = {
        trial.key: trial
        for run in runs
        for trial in store().snapshot(run.id, curves=False).trials
        if trial.status == "finished"
    }
    models = settings(list(trials.values()))
    models.sort(key=lambda setting: setting.method != BASELINE)
    return [_distinct(setting, models) for setting in models]


def pick_models(
    models: Sequence[Setting], most: int, *, run_id: str | None, key: str
) -> list[Setting]:
    """Draw the choice of up to ``most`` models and return them in fixed order.

    At first those of ``run_id``; of a sweep the plain model and the one it opens on.
    """
    labels = [model.label for model in models]
    first = [model.label for model in _first(models, run_id)][:most]
    words = f"At most {most}. Numbers are of the last, changes against the first."
    name = f"{key} {run_id} models"
    if len(models) <= _MOST_PILLS:
        chosen = st.pills(
            "Models",
            labels,
            selection_mode="multi",
            default=first,
            wrap=True,
            help=words,
            key=name,
            persist_state="session",
        )
    else:
        chosen = st.multiselect(
            "Models",
            labels,
            default=first,
            max_selections=most,
            help=words,
            key=name,
            persist_state="session",
        )
    picked = [model for model in models if model.label in chosen]
    if len(picked) > most:
        st.caption(f"Only {most} fit in a figure: the first {most} are shown.")
    return picked[:most] or list(models[:1])


def model_in_question(models: Sequence[Setting], run_id: str | None) -> int:
    """Return the place of the model to look at first: the one a sweep opens on."""
    chosen = opened_on(run_id) if run_id else None
    found = [
        i for i, model in enumerate(models) if chosen and same_model(model, chosen)
    ]
    return found[0] if found else 0


def by_interest(models: Sequence[Setting], run_id: str | None) -> list[Setting]:
    """Return the plain models, those of a sweep to look at first, then the others.

    So that of more than a figure holds those are drawn that say most.
    """
    first = notable(run_id) if run_id else []
    places = {trial.key: i for i, model in enumerate(first) for trial in model.trials}

    def rank(model: Setting) -> tuple[bool, int]:
        found = [places.get(trial.key, len(first)) for trial in model.trials]
        return model.method != BASELINE, min(found)

    return sorted(models, key=rank)


def beside_plain(model: Setting, models: Sequence[Setting]) -> list[Setting]:
    """Return a model after the one to compare it with, if there is one.

    That is the unconstrained model, else one of the same method at fairness weight 0.
    """
    weightless = (
        other
        for other in models
        if other.method == model.method
        and other.trials[0].params.get("fairness_weight") == 0
        and share_seed(other, model)
    )
    plain = reference_of(model, models) or next(weightless, None)
    return [model] if plain in (None, model) else [plain, model]


def same_model(one: Setting, other: Setting) -> bool:
    """Tell whether two settings have a trial in common, whatever they are called."""
    return not {t.key for t in one.trials}.isdisjoint(t.key for t in other.trials)


def pick_seed(models: Sequence[Setting], key: str) -> int:
    """Draw the choice of a seed that all models have, or of the mean over seeds."""
    seeds = sorted(set.intersection(*({t.seed for t in m.trials} for m in models)))
    if len(seeds) < 2:
        return MEAN
    names = {MEAN: f"Mean over {plural(len(seeds), 'seed')}"}
    names |= {seed: f"Seed {seed}" for seed in seeds}
    return st.selectbox(
        "Seed",
        list(names),
        format_func=names.__getitem__,
        help="Each seed has test rows of its own.",
        key=f"{key} seed",
    )


def pick_k(key: str) -> int:
    """Draw the choice of how many gaps Worst-k-DI averages."""
    k: int = st.segmented_control(
        "Worst k",
        [1, 2, 3],
        default=1,
        required=True,
        help="Mean of the k largest gaps: less noisy than the largest alone.",
        key=f"{key} k",
    )
    return k


def of_seed(model: Setting, seed: int) -> Setting:
    """Return the model with the trials of one seed alone, or all for the mean."""
    if seed == MEAN:
        return model
    return replace(model, trials=tuple(t for t in model.trials if t.seed == seed))


def reference_of(model: Setting, models: Sequence[Setting]) -> Setting | None:
    """Return the unconstrained model that shares a seed with ``model``, if any."""
    return next(
        (m for m in models if m.method == BASELINE and share_seed(m, model)), None
    )


def _first(models: Sequence[Setting], run_id: str | None) -> list[Setting]:
    """Return the models of a run; of a sweep those that an analyst would compare."""
    chosen = opened_on(run_id) if run_id else None
    trials = store().snapshot(run_id, curves=False).trials if run_id else ()
    here = {trial.key for trial in trials}
    own = [m for m in models if not here.isdisjoint(t.key for t in m.trials)]
    if chosen is None:
        return own
    return beside_plain(next(m for m in own if same_model(m, chosen)), models)


def _distinct(model: Setting, models: Sequence[Setting]) -> Setting:
    """Name what sets ``model`` apart from others with its label."""
    alike = [other for other in models if other.label == model.label]
    if len(alike) == 1:
        return model
    differing = [
        param
        for param in CATALOG[model.method].params
        if len({other.trials[0].params.get(param.name) for other in alike}) > 1
    ]
    short = [_short(other, differing) for other in alike]
    words = _short(model, differing)
    if len(set(short)) < len(alike):
        words = _values(model, differing)
    return replace(model, label=f"{model.label}, {words}")


def _short(model: Setting, differing: Sequence[Param]) -> str:
    """Return the effort of a model, or what it has other than the fast one."""
    effort = _effort(model, [param.name for param in differing])
    if effort is not None:
        return effort
    params, usual = model.trials[0].params, CATALOG[model.method].settings({})
    return _values(model, [p for p in differing if params[p.name] != usual[p.name]])


def _values(model: Setting, named: Sequence[Param]) -> str:
    params = model.trials[0].params
    return ", ".join(f"{param.label.lower()} {params[param.name]}" for param in named)


def _effort(model: Setting, names: Sequence[str]) -> str | None:
    """Return the effort of which a model has the parameters ``names``, if any."""
    method, params = CATALOG[model.method], model.trials[0].params
    for effort in method.efforts:
        usual = method.settings({}, effort)
        if all(params.get(name) == usual[name] for name in names):
            return effort
    return None
