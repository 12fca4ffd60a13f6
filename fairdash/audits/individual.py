"""Individual fairness of stored models: the metric, flips, and similar people."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from fairdash._validation import value_labels
from fairdash.audits.audited_model import AuditedModel, AuditRows, Flips
from fairdash.audits.look_alikes import Pairs
from fairdash.audits.stored import audit_rows_of, read_model
from fairdash.datasets import Dataset
from fairdash.metrics import (
    FairMetric,
    ctf_score,
    evaluate,
    group_directions,
    ignore_columns,
    prediction_consistency,
    recall_gaps,
    summarise_seeds,
    wilson_interval,
)
from fairdash.store import Store, TrialRecord
from fairdash.sweep import FOLD, SweepSpec

Float = NDArray[np.float64]
FLIPS = 12  # values up to which a number is set to each of them
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_FEW_GROUPS = 12
_MODEL = ["label", "method", "colour_role", "chosen", "fairness_weight"]


class FairMetricSpec(BaseModel):
    """The sensitive directions of a fair metric: people may differ along them for free.

    Attributes
    ----------
    columns : tuple of str
        Features whose values do not count; also those that are flipped.
    predicts_group : bool
        Whether the direction that predicts the group does not count either.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: tuple[str, ...] = ()
    predicts_group: bool = True

    @classmethod
    def of_trial(cls, trial: TrialRecord, features: tuple[str, ...] = ()) -> Self:
        """Return the metric a model was trained with; of others the usual one.

        Columns that are not among ``features`` are excluded.
        """
        kind = trial.params.get("metric", "group_direction")
        named = str(trial.params.get("columns", "")).split(",")
        columns = tuple(c for c in map(str.strip, named) if c in features)
        if kind == "group_direction" or not columns:
            return cls()
        return cls(columns=columns, predicts_group=kind == "both")

    @classmethod
    def parse(cls, text: str | None, features: tuple[str, ...]) -> Self | None:
        """Return the metric that `text` wrote; None for anything else."""
        try:
            found = cls.model_validate_json(text or "")
        except ValueError:
            return None
        return found if set(found.columns) <= set(features) else None

    def text(self) -> str:
        """Return the metric as text, for an address or a cache."""
        return self.model_dump_json(exclude_defaults=True)

    def changed(self, **fields: Any) -> Self:
        """Return the metric with some fields changed."""
        return self.model_copy(update=fields)

    def build(self, rows: AuditRows) -> FairMetric:
        """Return the metric, learned on the training rows where it predicts the group.

        Raises ValueError when nothing was chosen, or a column is not a feature of the
        models.
        """
        names = rows.encoder.feature_names
        if self.predicts_group:
            return group_directions(
                rows.train, rows.train_groups, names, columns=self.columns
            )
        if self.columns:
            return ignore_columns(self.columns, names)
        raise ValueError(
            "There is no sensitive direction. Choose columns that should not count."
        )


def flip_values(dataset: Dataset, columns: Sequence[str]) -> Flips:
    """Return the values that columns are set to: all of few, else some quantiles.

    Raises ValueError when a column is not a feature.
    """
    features = dataset.roles.features
    for name in columns:
        if name not in features:
            raise ValueError(
                f"{name!r} cannot be flipped: it is not a feature of the model, whose "
                f"features are {', '.join(features)}."
            )
    return {name: _values(dataset.frame[name].dropna()) for name in columns}


def audit_flips(model: AuditedModel, flips: Flips) -> dict[str, float]:
    """Audit a model on all test rows under every combination of some values.

    A model that is told the group is told that of the person in every variant.

    Returns
    -------
    dict
        ``consistency``, the share of people whose prediction is the same in every
        variant, with its 95 % Wilson interval ``_low``, ``_high``; ``ctf``, the mean
        standard deviation of P(1) over the variants; ``moved``, the mean largest change
        of P(1); ``balanced_accuracy``; ``gap_rms`` and ``gap_max`` of the true positive
        rates of the two outcomes between the groups; ``constant``, 1 for a model that
        decides alike for everyone, or as chance might (`AuditedModel.status`); ``n``
        people.
        For every flipped column of few values the same gaps, as ``gap_rms:sex``; people
        without a value are a group.

    Raises
    ------
    ValueError
        When a column is not a feature, a value does not occur, or there are too many.
    """
    everyone = np.arange(model.rows.n)
    as_is = model.encoded(model.rows.test.X, everyone)
    p = np.stack([as_is, *model.flipped(flips)])
    found = _numbers(model, p, everyone)
    frame, y, decided = model.rows.frame, model.rows.y, (p[0] > 0.5).astype(np.int8)
    for name in flips:
        column = value_labels(frame[name]).astype(object).fillna("(missing)")
        if 2 <= column.nunique() <= _FEW_GROUPS:
            gaps = recall_gaps(y, decided, sensitive_features=column)
            found |= {f"{gap}:{name}": value for gap, value in gaps.items()}
    return found


def audit_similar(model: AuditedModel, pairs: Pairs) -> dict[str, float]:
    """Audit a model against the most similar other person of each.

    The numbers of `audit_flips` of people and that person's prediction.
    """
    people = pairs.people.sort_values("place")
    p = people[["before", "after"]].to_numpy(np.float64).T
    return _numbers(model, p, people["place"].to_numpy(np.int64))


def audit_run(
    store: Store, run_id: str, flips: Flips, *, by_seed: bool = False
) -> pd.DataFrame:
    """Audit every finished model of a run on all its test rows.

    Returns
    -------
    DataFrame
        ``method``, the parameters in which models of the run differ, then ``seed`` and
        the numbers of `audit_flips`, or ``n_seeds`` and their means and spreads as in
        `fairdash.metrics.summarise_seeds`.

    Raises
    ------
    ValueError
        When the run does not exist or has no finished model, an earlier version kept
        the scores of a model alone, a column is not a feature, or a value does not
        occur.
    """
    snapshot = store.snapshot(run_id, curves=False)
    trials = [
        trial
        for trial in snapshot.trials
        if trial.status == "finished" and FOLD not in trial.params
    ]
    if not trials:
        raise ValueError(f"Run {run_id} has no finished model to audit.")
    spec = SweepSpec.of_run(snapshot.run.spec)
    dataset = store.dataset(snapshot.run.dataset_id)
    names = _differing(trials)
    known: dict[int, AuditRows] = {}  # a run has one scaling and one share of rows
    lines = []
    for trial in trials:
        if trial.seed not in known:
            known[trial.seed] = audit_rows_of(dataset, trial, spec)
        found = audit_flips(read_model(store, trial, known[trial.seed]), flips)
        point = {name: trial.params.get(name) for name in names}
        lines.append({"method": trial.method, **point, "seed": trial.seed, **found})
    table = pd.DataFrame(lines)
    return table if by_seed else summarise_seeds(table, ["method", *names])


def _numbers(
    model: AuditedModel, p: Float, places: NDArray[np.int64]
) -> dict[str, float]:
    """Return the audit of P(1) by variant, the first being the people as they are."""
    y, n = model.rows.y[places], len(places)
    groups = model.rows.dataset.sensitive_features[model.rows.where[places]]
    share = prediction_consistency(p > 0.5)
    low, high = wilson_interval(round(share * n), n)
    quality = evaluate(y, p[0].clip(0, 1), sensitive_features=groups).iloc[0]
    decided = (p[0] > 0.5).astype(np.int8)
    return {
        "consistency": share,
        "consistency_low": float(low),
        "consistency_high": float(high),
        "ctf": ctf_score(p),
        "moved": float(np.abs(p - p[0]).max(0).mean()),
        "balanced_accuracy": float(quality["balanced_accuracy"]),
        **recall_gaps(y, decided, sensitive_features=groups),
        "constant": float(model.status != ""),
        "n": n,
    }


def _values(column: "pd.Series[float]") -> tuple[object, ...]:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > FLIPS:
        at = column.quantile(list(_QUANTILES), interpolation="nearest")
        return tuple(dict.fromkeys(at.tolist()))
    return tuple(sorted(column.unique().tolist(), key=str))


def _differing(trials: Sequence[TrialRecord]) -> list[str]:
    """Return the parameters of which some method has several values."""
    values: dict[tuple[str, str], set[object]] = {}
    for trial in trials:
        for name, value in trial.params.items():
            values.setdefault((name, trial.method), set()).add(value)
    several = [name for (name, _), own in values.items() if len(own) > 1]
    return list(dict.fromkeys(several))


def audits_table(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    """Return means over seeds of audits, a row for each model in the order given.

    ``rows`` are the numbers of `audit_flips` or `audit_similar` of each model and
    seed, with its ``label``, ``method``, ``colour_role``, whether it is ``chosen``, and
    ``fairness_weight`` (NaN without).
    """
    return summarise_seeds(pd.DataFrame(rows), _MODEL)
