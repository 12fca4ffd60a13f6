"""Models of a run to take away, and what they say of every row."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fairdash import datasets
from fairdash._counts import people_of
from fairdash.audits.audited_model import AuditedModel
from fairdash.audits.portable_model import PortableModel
from fairdash.audits.question import ModelInQuestion
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.audits.trials.models import Setting, known_models_of
from fairdash.audits.trials.rows import rows_of
from fairdash.methods import CATALOG, is_mixture
from fairdash.scored import USUAL, DecisionRule, ScoredModel
from fairdash.store import Store
from fairdash.sweep import SweepSpec


def as_portable(model: AuditedModel, trial: ScoredModel | None = None) -> PortableModel:
    """Return a stored model to take away, with the facts of its trial."""
    dataset = model.rows.dataset
    method = CATALOG[model.method]
    facts: dict[str, Any] = {
        "method": model.method,
        "label": method.label,
        "source": method.source,
        "seed": model.rows.seed,
        "outcome": dataset.roles.outcome(),
        "data": {"name": dataset.name, "key": dataset.key},
    }
    if trial is not None:
        facts |= {"trial": trial.source.key, "params": dict(trial.params)}
    return PortableModel(
        model.scorer,
        model.rows.encoder,
        dataset.roles,
        dataset.group_names,
        method.needs_groups,
        facts,
        drawn=is_mixture(model.scorer),
    )


def exported(
    store: Store,
    run_id: str,
    model: str | None = None,
    seed: int | None = None,
    rule: DecisionRule = USUAL,
) -> PortableModel:
    """Return a model of a run to take away.

    Parameters
    ----------
    model : str, optional
        `fairdash.audits.Setting.id`, or the beginning of its label; by default the
        model that a sweep opens on, else the first that is not the plain one.
    rule : DecisionRule, optional
        Its threshold for this model goes along.

    Raises
    ------
    ValueError
        When there is no such run, model or seed, several labels begin so, or an
        earlier version kept no more than the model's scores.
    """
    spec = SweepSpec.of_run(store.run(run_id).spec)
    data = store.run(run_id).dataset_id
    trial = _trial_asked(store, run_id, model, seed, rule)
    rows = audit_rows_of(store.dataset(data), trial, spec)
    portable = as_portable(read_model(store, trial, rows), trial)
    rows_shown = rows_of(store, data, trial.seed, datasets.Subgroups())
    cut = rows_shown.threshold(trial.decided_by(rule))
    return replace(portable, threshold=cut, drawn=portable.drawn and rule.usual)


def _trial_asked(
    store: Store, run_id: str, model: str | None, seed: int | None, rule: DecisionRule
) -> ScoredModel:
    setting = model_asked(store, run_id, model, rule)
    trials = [t for t in setting.trials if seed is None or t.seed == seed]
    if not trials:
        seeds = sorted(setting.seeds)
        raise ValueError(f"{setting.label} was not trained on seed {seed}: {seeds}.")
    return trials[0]


def predictions(
    store: Store,
    run_id: str,
    model: str | None = None,
    seed: int | None = None,
    rule: DecisionRule = USUAL,
) -> pd.DataFrame:
    """Return what a model of a run says of every row of its data set.

    Arguments and errors are those of `exported`, but that an earlier version kept
    nothing but scores is none.

    Returns
    -------
    DataFrame, one row per row that was used: row (its number in the file, from 0),
    part ("train", "validation" or "test"), group, outcome, probability (of outcome 1)
    and decision (by the rule, usually 1 above one half; of a random mixture drawn with
    the probability, as `PortableModel.predict` draws it). Of a table of counts also
    people, how many a row stands for: those of one row of the file are in several
    parts.
    """
    trial = _trial_asked(store, run_id, model, seed, rule)
    data = store.run(run_id).dataset_id
    dataset = store.dataset(data)
    rows = rows_of(store, data, None, datasets.Subgroups())
    part = np.empty(dataset.n_rows, dtype=object)
    for name, places in datasets.split(dataset, trial.seed)._asdict().items():
        part[places] = name
    table = pd.DataFrame(
        {
            "row": dataset.row_number,
            "part": part,
            "group": dataset.sensitive_features,
            "outcome": dataset.y,
            "probability": store.artifact(trial.source.key).scores(),
            "decision": rows.predictions(trial.decided_by(rule)).astype(np.int8),
        }
    )
    people = people_of(dataset.sample_weight)
    if people is None:
        return table
    return table.assign(people=people.astype(np.int64))


def model_asked(
    store: Store, run_id: str, model: str | None = None, rule: DecisionRule = USUAL
) -> Setting:
    """Return the model of a run by its id or the beginning of its label.

    By default the one that a sweep opens on, deciding by ``rule``, else the first that
    is not the plain one.

    Raises ValueError that names those that there are when there is no such run or
    model, or several labels begin so.
    """
    settings = known_models_of(store, [run_id])
    if model is None:
        fitting = settings[:1]
        if settings:
            fitting = [ModelInQuestion.of(store, run_id, settings, rule=rule).setting]
    else:
        exact = [item for item in settings if model in (item.id, item.label)]
        fitting = exact or [item for item in settings if item.label.startswith(model)]
    if len(fitting) != 1:
        listed = (fitting or settings)[:20]
        names = ", ".join(f"{item.id} ({item.label})" for item in listed)
        missing = f"no model {model!r}" if model else "no finished model"
        many = "several that begin so" if fitting else f"{missing}. It has"
        raise ValueError(f"Run {run_id} has {many}: {names or 'none'}.")
    return fitting[0]
