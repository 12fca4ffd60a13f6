"""The models of a data set: settings with the trials of their seeds, told apart."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairdash._wording import listing
from fairdash.methods import CATALOG, Param
from fairdash.store import Store, TrialRecord
from fairdash.sweep import BASELINE, INITIALISATION, SweepSpec, model_label


@dataclass(frozen=True)
class Setting:
    """One method at one setting, with the finished trials of all its seeds.

    Attributes
    ----------
    method : str
        Key in the catalog.
    label : str
        "ROAD λ 2.1 τ 0.3".
    trials : tuple of TrialRecord
        In order of seed.
    """

    method: str
    label: str
    trials: tuple[TrialRecord, ...]

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that name method and parameters in an address."""
        return hashlib.sha256(_canonical(self.trials[0]).encode()).hexdigest()[:8]

    @property
    def seeds(self) -> frozenset[int]:
        """Seeds of the splits it was trained and tested on."""
        return frozenset(trial.seed for trial in self.trials)

    def on(self, seeds: frozenset[int]) -> "Setting":
        """Return the setting with the trials of these seeds alone."""
        kept = tuple(trial for trial in self.trials if trial.seed in seeds)
        return replace(self, trials=kept)


def single_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that have one value; an axis of a grid has several."""
    return {n: v for n, v in params.items() if not isinstance(v, tuple | list)}


def settings(trials: Sequence[TrialRecord]) -> list[Setting]:
    """Put the finished trials of the same method and parameters together.

    Of several initialisations on one split the first is taken. Methods that earlier
    versions had are excluded.
    """
    alike: dict[str, list[TrialRecord]] = {}
    for trial in trials:
        first = INITIALISATION not in trial.params
        if trial.status == "finished" and trial.method in CATALOG and first:
            alike.setdefault(_canonical(trial), []).append(trial)
    return [
        Setting(
            members[0].method,
            model_label(members[0].method, members[0].params),
            tuple(sorted(members, key=lambda trial: trial.seed)),
        )
        for members in alike.values()
    ]


def known_models(
    store: Store, dataset_id: str, run_id: str | None = None
) -> list[Setting]:
    """Return the settings that were trained on a data set, the baseline first.

    Those of ``run_id`` come before those of other runs. The same model in two runs is
    one model; two that share a label, such as "ROAD λ 1 τ 0.3" at both efforts, are
    told apart by their effort, or else by the parameters that differ.
    """
    runs = sorted(store.runs(dataset_id), key=lambda run: run.id != run_id)
    trials = {
        trial.key: trial
        for run in runs
        for trial in store.snapshot(run.id, curves=False).trials
    }
    models = settings(list(trials.values()))
    models.sort(key=lambda setting: setting.method != BASELINE)
    return told_apart(models)


def told_apart(models: Sequence[Setting]) -> list[Setting]:
    """Return the models, those of one label named by what sets them apart."""
    return [_distinct(model, models) for model in models]


def same_model(one: Setting, other: Setting) -> bool:
    """Tell whether two settings have a trial in common, whatever they are called."""
    return not {t.key for t in one.trials}.isdisjoint(t.key for t in other.trials)


def share_seed(one: Setting, other: Setting) -> bool:
    """Tell whether two models were trained and tested on the same split."""
    return not one.seeds.isdisjoint(other.seeds)


def reference_of(model: Setting, models: Sequence[Setting]) -> Setting | None:
    """Return the unconstrained model that shares a seed with ``model``, if any."""
    return next(
        (m for m in models if m.method == BASELINE and share_seed(m, model)), None
    )


@dataclass(frozen=True)
class Comparison:
    """Models on the seeds that all of them have.

    Models are compared on shared seeds only: each seed has test rows of its own, so
    means over other seeds would differ by more than the models do.

    Attributes
    ----------
    models : tuple of Setting
        With the trials of the shared seeds alone, in the order given.
    seeds : tuple of int
        The shared seeds.
    lacking : tuple of Setting
        Models, as given, that lack a seed which another one has.
    excluded : tuple of Setting
        Models that share no seed with the others.
    """

    models: tuple[Setting, ...]
    seeds: tuple[int, ...]
    lacking: tuple[Setting, ...]
    excluded: tuple[Setting, ...]

    def note(self) -> str:
        """Say which seeds are compared and who lacks the others; nothing if all do."""
        parts = []
        kept = [model for model in self.lacking if model not in self.excluded]
        if kept:
            names = listing(dict.fromkeys(model.label for model in kept))
            parts.append(f"Compared on {_seeds(self.seeds)}: {names} has no others.")
        elif self.lacking:
            parts.append(f"Compared on {_seeds(self.seeds)}.")
        if self.excluded:
            names = listing(model.label for model in self.excluded)
            parts.append(f"Excluded, no seed in common: {names}.")
        return " ".join(parts)


def on_shared_seeds(models: Sequence[Setting]) -> Comparison:
    """Return models on the seeds that all have; the one rule of comparing them.

    If no seed is common to all, models that share none with the last one, and with
    those kept before them, are excluded, from the back.
    """
    seeds, kept = models[-1].seeds, []
    common = frozenset.intersection(*(model.seeds for model in models))
    for model in reversed(models):
        if common or not seeds.isdisjoint(model.seeds):
            seeds &= model.seeds
            kept.append(model)
    every = frozenset().union(*(model.seeds for model in models))
    return Comparison(
        tuple(model.on(seeds) for model in reversed(kept)),
        tuple(sorted(seeds)),
        tuple(model for model in models if model.seeds != every),
        tuple(model for model in models if model not in kept),
    )


def missing_seeds(store: Store, models: Sequence[Setting]) -> SweepSpec | None:
    """Return what to train so that all models have the seeds of any of them.

    None when they do. What was trained before keeps its key, so it is not trained anew.
    """
    lacking = on_shared_seeds(models).lacking
    if not lacking:
        return None
    run = store.run_of(lacking[0].trials[0].key)
    grids = [
        {"method": model.method, "params": model.trials[0].params} for model in lacking
    ]
    every = frozenset().union(*(model.seeds for model in models))
    changes = {"methods": grids, "seeds": sorted(every), "initialisations": 1}
    spec = SweepSpec.of_run(run.spec).model_dump(mode="json")
    return SweepSpec.model_validate({**spec, **changes, "equal_models": False})


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


def _seeds(seeds: Sequence[int]) -> str:
    noun = "seed" if len(seeds) == 1 else "seeds"
    return f"{noun} {listing(map(str, seeds))}"


def _canonical(trial: TrialRecord) -> str:
    return json.dumps(
        [trial.method, trial.params], sort_keys=True, separators=(",", ":")
    )


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
