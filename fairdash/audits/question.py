"""The model in question: the one model of a run that every place speaks of.

Headline, chip, sliders, cards, figures, evidence, exports and reports all read it.
Nothing else chooses a model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from fairdash.audits import choices
from fairdash.audits.trials.models import (
    Setting,
    beside_plain,
    known_models_of,
    same_model,
    trials_of,
)
from fairdash.scored import USUAL, DecisionRule
from fairdash.store import Store
from fairdash.sweep import BASELINE


@dataclass(frozen=True)
class ModelInQuestion:
    """A setting, the rule by which it decides, and the splits it is measured on.

    Attributes
    ----------
    setting : Setting
        With the trials of all its seeds.
    rule : DecisionRule
    splits : tuple of int or None
        The seed that was chosen, else the splits of the setting; ascending.
    named : bool
        Whether it was asked for by name or id; else it is what the run opens on.
    """

    setting: Setting
    rule: DecisionRule
    splits: tuple[int | None, ...]
    named: bool

    @classmethod
    def of(
        cls,
        store: Store,
        run_id: str | None,
        models: Sequence[Setting] | None = None,
        *,
        name: str | None = None,
        seed: int | None = None,
        rule: DecisionRule = USUAL,
    ) -> Self:
        """Return the model in question among ``models``, by default all of a run.

        Parameters
        ----------
        models : sequence of Setting, optional
            What a place can speak of: those that have weights, or those of other runs
            of the data set, too. At least one.
        name : str, optional
            Id of a model. Where it is not among ``models``, or none is named, it is the
            one that the run opens on: of a sweep the first of `choices.notable`, else
            the first that is not the plain model.
        seed : int, optional
            Counts where the model has it.
        """
        if models is None:
            models = known_models_of(store, [str(run_id)])
        by_id = {model.id: model for model in models}
        named = name in by_id
        setting = by_id[str(name)] if named else _opening(store, models, run_id, rule)
        splits = (seed,) if seed in setting.seeds else setting.splits
        return cls(setting, rule, splits, named)

    @property
    def id(self) -> str:
        """By which the address of a page names it."""
        return self.setting.id

    @property
    def decided(self) -> Setting:
        """The setting on these splits, deciding by the rule."""
        return self.setting.on(self.splits).decided_by(self.rule)


def models_of(
    store: Store,
    models: Sequence[Setting],
    run_id: str | None,
    rule: DecisionRule = USUAL,
) -> list[Setting]:
    """Return the models of a run; of a sweep those that an analyst would compare.

    ``models`` may be a part of what was trained, as those that have weights. Of a sweep
    they are the plain model and the one in question.
    """
    in_run = _models_trained_in(store, models, run_id)
    if not in_run or run_id is None or choices.opened_on(store, run_id, rule) is None:
        return in_run
    return beside_plain(_opening(store, in_run, run_id, rule), models)


def _opening(
    store: Store, models: Sequence[Setting], run_id: str | None, rule: DecisionRule
) -> Setting:
    # where what a sweep opens on is not among the models, the next of note: the fronts
    # of a sweep come before settings that do not decide
    for noted in choices.notable(store, run_id, rule) if run_id else ():
        for model in models:
            if same_model(model.decided_by(rule), noted):
                return model
    in_run = _models_trained_in(store, models, run_id)
    remedies = (model for model in in_run if model.method != BASELINE)
    return next(remedies, models[0])


def _models_trained_in(
    store: Store, models: Sequence[Setting], run_id: str | None
) -> list[Setting]:
    keys = {trial.key for trial in trials_of(store, run_id)} if run_id else set()
    return [m for m in models if not keys.isdisjoint(t.source.key for t in m.trials)]
