"""The models of a data set: settings with the trials of their seeds, told apart."""

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from fairdash._wording import listing, plural
from fairdash.datasets import ScoreColumn
from fairdash.methods import CATALOG
from fairdash.scored import DecisionRule, ScoredModel, Trained
from fairdash.store import Store, TrialRecord
from fairdash.sweep import BASELINE, model_label, planning


class TrainingOptions(NamedTuple):
    """The options of a run, beside method, parameters and seed of a model.

    ``train_rows`` are the most rows trained on, None for all; ``now`` says whether this
    version of fairdash would train the same model.
    """

    scaling: str = "standard"
    train_rows: int | None = None
    now: bool = True

    def words(self) -> list[str]:
        """Return what sets it apart from the usual."""
        words = [] if self.scaling == "standard" else [f"scaling {self.scaling}"]
        if self.train_rows is not None:
            words.append(plural(self.train_rows, "training row"))
        return words if self.now else [*words, "earlier version"]


USUAL_TRAINING = TrainingOptions()


@dataclass(frozen=True)
class Setting:
    """One method at one setting, with the finished trials of all its seeds.

    Trials are in order of seed, one a seed, and trained alike: a mean over seeds is of
    such models. A label is "ROAD λ 2.1 τ 0.3". Own scores are a setting, too.
    """

    method: str
    label: str
    trials: tuple[ScoredModel, ...]
    trained: TrainingOptions = USUAL_TRAINING

    @cached_property
    def id(self) -> str:
        """Eight hexadecimal digits that name method and parameters in an address."""
        text = _canonical(self.trials[0])
        if self.trained != USUAL_TRAINING:
            text += json.dumps(self.trained)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def colour_role(self) -> str:
        """The role that gives its colour: that of its method, or its own."""
        method = CATALOG.get(self.method)
        return method.colour_role if method else self.method

    @property
    def is_own(self) -> bool:
        """Whether its scores are the user's own."""
        return self.trials[0].is_own

    @property
    def score(self) -> ScoreColumn | None:
        """The column of own scores; None of a trained model."""
        return self.trials[0].score

    @property
    def score_name(self) -> str:
        """The name of its scores: their column, or the label of the model."""
        return self.label if self.score is None else self.score.column

    @property
    def rule(self) -> DecisionRule:
        """How its scores become decisions."""
        return self.trials[0].rule

    @cached_property
    def splits(self) -> tuple[int | None, ...]:
        """Seeds of the splits it is measured on; (None,) of own scores on all rows."""
        return tuple(trial.split for trial in self.trials)

    @cached_property
    def seeds(self) -> frozenset[int]:
        """Seeds of the splits it was trained and tested on; none of scores on all."""
        return frozenset(split for split in self.splits if split is not None)

    @property
    def contents(self) -> tuple[Hashable, ...]:
        """The facts that settle every number of it, as a key to keep them by."""
        return self.method, self.label, tuple(t.contents for t in self.trials)

    def on(self, splits: Collection[int | None]) -> "Setting":
        """Return the setting with the trials of these splits alone."""
        trials = tuple(trial for trial in self.trials if trial.split in splits)
        return replace(self, trials=trials)

    def decided_by(self, rule: DecisionRule) -> "Setting":
        """Return the setting with another decision rule.

        All that is computed from its decisions follows it: rates, gaps, accuracy,
        changes.
        """
        trials = tuple(trial.decided_by(rule) for trial in self.trials)
        return replace(self, trials=trials)


def single_values(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that have one value; an axis of a grid has several."""
    return {n: v for n, v in params.items() if not isinstance(v, tuple | list)}


def settings(
    trials: Sequence[TrialRecord], trained: TrainingOptions = USUAL_TRAINING
) -> list[Setting]:
    """Put the finished trials of the same method and parameters together.

    They are of one run, or of runs that train alike, ``trained``. Of several starts or
    folds of a split, in runs of earlier versions, the first is taken.
    """
    return _together((trained, trial) for trial in trials)


def as_scored(trial: TrialRecord) -> ScoredModel:
    """Return a trial of a run as a model to measure, by the usual rule."""
    source = Trained(trial.key, trial.method, trial.params)
    return ScoredModel(source, split=trial.seed)


@lru_cache(maxsize=2000)
def trained_as(store: Store, run_id: str) -> TrainingOptions:
    """Return what a run decides of its models beside method, parameters and seed."""
    run = store.run(run_id)
    first = store.snapshot(run_id, curves=False).trials[0]
    scaling = run.spec.get("scaling", "standard")
    train_rows = run.spec.get("train_rows")
    dataset = store.dataset(run.dataset_id)
    key = planning.trial_key(
        method=first.method,
        params=first.params,
        seed=first.seed,
        data=dataset.key,
        scaling=scaling,
        train_rows=train_rows,
        weighted=dataset.sample_weight is not None,
    )
    return TrainingOptions(scaling, train_rows, now=key == first.key)


def trials_of(store: Store, run_id: str) -> tuple[TrialRecord, ...]:
    """Return the trials of a run; of one that is over they are read once."""
    if store.run(run_id).over:
        return _over(store, run_id)
    return store.snapshot(run_id, curves=False).trials


@lru_cache(maxsize=64)
def _over(store: Store, run_id: str) -> tuple[TrialRecord, ...]:
    return store.snapshot(run_id, curves=False).trials


def known_models(
    store: Store, dataset_id: str, run_id: str | None = None
) -> list[Setting]:
    """Return the settings that were trained on a data set, the baseline first.

    Those of ``run_id`` come before those of other runs. The same model in two runs is
    one model. Runs that trained otherwise, such as on fewer rows, have models of their
    own. Two that share a label, such as "ROAD λ 1 τ 0.3" at both efforts, are told
    apart: see `told_apart`.
    """
    runs = sorted(store.runs(dataset_id), key=lambda run: run.id != run_id)
    names = tuple(run.id for run in runs)
    if all(run.over for run in runs):
        return list(_known(store, names))
    return known_models_of(store, names)


@lru_cache(maxsize=64)
def _known(store: Store, runs: tuple[str, ...]) -> tuple[Setting, ...]:
    return tuple(known_models_of(store, runs))


def known_models_of(store: Store, runs: Sequence[str]) -> list[Setting]:
    """Return the settings of some runs of a data set, as `known_models` does."""
    trials = {
        trial.key: (trained_as(store, run), trial)
        for run in runs
        for trial in trials_of(store, run)
    }
    models = _together(trials.values())
    return told_apart(sorted(models, key=lambda model: model.method != BASELINE))


def told_apart(models: Sequence[Setting]) -> list[Setting]:
    """Return the models, those of one label named by what sets them apart.

    That is how they were trained, their effort, or the parameters that differ.
    """
    named: dict[str, list[Setting]] = {}
    for model in models:
        named.setdefault(model.label, []).append(model)
    return [_distinct(model, named[model.label]) for model in models]


def ids_to_come(store: Store, run_id: str) -> dict[str, str]:
    """Return the ids that the models of a run have once they are finished, by method.

    Of a method with several settings it is the last one's.
    """
    trained = trained_as(store, run_id)
    return {
        trial.method: Setting(trial.method, "", (as_scored(trial),), trained).id
        for trial in trials_of(store, run_id)
    }


def same_model(model: Setting, peer: Setting) -> bool:
    """Tell whether two settings have a trial in common, whatever they are called.

    It decides by the same rule in both.
    """
    return not set(model.trials).isdisjoint(peer.trials)


def share_seed(model: Setting, peer: Setting) -> bool:
    """Tell whether two models were trained and tested on the same split."""
    return not set(model.splits).isdisjoint(peer.splits)


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
    partial : bool
        Whether a model has a seed that another one lacks.
    excluded : tuple of Setting
        Models that share no seed with the others.
    """

    models: tuple[Setting, ...]
    seeds: tuple[int | None, ...]
    partial: bool
    excluded: tuple[Setting, ...]

    def note(self) -> str:
        """Say which seeds are compared and who is not; nothing where all have them."""
        noun = "seed" if len(self.seeds) == 1 else "seeds"
        words = f"Compared on {noun} {listing(map(str, self.seeds))}."
        if self.excluded:
            names = listing(model.label for model in self.excluded)
            words += f" Excluded, no seed in common: {names}."
        return words if self.partial else ""


def on_shared_seeds(models: Sequence[Setting]) -> Comparison:
    """Return models on the seeds that all have; the one rule of comparing them.

    If no seed is common to all, models that share none with the last one, and with
    those kept before them, are excluded, from the back.
    """
    splits = set(models[-1].splits)
    common = set(splits).intersection(*(model.splits for model in models))
    shared = []
    for model in reversed(models):
        if common or not splits.isdisjoint(model.splits):
            splits &= set(model.splits)
            shared.append(model)
    union = set(splits).union(*(model.splits for model in models))
    return Comparison(
        tuple(model.on(splits) for model in reversed(shared)),
        tuple(split for split in models[-1].splits if split in splits),
        any(set(model.splits) != union for model in models),
        tuple(model for model in models if model not in shared),
    )


def beside_plain(model: Setting, models: Sequence[Setting]) -> list[Setting]:
    """Return a model after the one to compare it with, if there is one.

    That is the unconstrained model, else one of the same method at fairness weight 0.
    """
    weightless = (
        peer
        for peer in models
        if peer.method == model.method
        and peer.trials[0].params.get("fairness_weight") == 0
        and share_seed(peer, model)
    )
    plain = reference_of(model, models) or next(weightless, None)
    return [model] if plain in (None, model) else [plain, model]


def _together(trials: Iterable[tuple[TrainingOptions, TrialRecord]]) -> list[Setting]:
    by_setting: dict[tuple[TrainingOptions, str], list[ScoredModel]] = {}
    for trained, trial in trials:
        first = trial.params.keys().isdisjoint((planning.INITIALISATION, planning.FOLD))
        if trial.status == "finished" and trial.method in CATALOG and first:
            model = as_scored(trial)
            by_setting.setdefault((trained, _canonical(model)), []).append(model)
    return [
        Setting(
            members[0].method,
            model_label(members[0].method, members[0].params),
            tuple(sorted(members, key=lambda model: model.seed)),
            trained,
        )
        for (trained, _), members in by_setting.items()
    ]


def _canonical(model: ScoredModel) -> str:
    params = planning.identifying(model.method, model.params)
    return json.dumps([model.method, params], sort_keys=True, separators=(",", ":"))


def _distinct(model: Setting, peers: Sequence[Setting]) -> Setting:
    """Return a model with a label that none of its ``peers`` of the same label has."""
    if len(peers) == 1:
        return model
    trained_alike = [
        peer.trials[0].params for peer in peers if peer.trained == model.trained
    ]
    parts = [model.label]
    if len(trained_alike) < len(peers):
        parts += model.trained.words()
    differing = {
        param.name: param.label.lower()
        for param in CATALOG[model.method].params
        if len({params.get(param.name) for params in trained_alike}) > 1
    }
    effort = _effort_of(model, differing)
    if effort is not None:
        parts.append(effort)
    else:
        params = model.trials[0].params
        parts += [f"{label} {params[name]}" for name, label in differing.items()]
    return replace(model, label=", ".join(parts))


def _effort_of(model: Setting, names: Collection[str]) -> str | None:
    """Return the first effort with which some parameters of a model agree, if any."""
    if not names:
        return None
    method = CATALOG[model.method]
    params = model.trials[0].params
    for effort in method.efforts:
        usual = method.settings({}, effort)
        if all(params.get(name) == usual[name] for name in names):
            return effort
    return None
