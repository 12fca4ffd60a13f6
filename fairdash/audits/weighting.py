"""What Weights shows: the weights r of one trial at one epoch, and who has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._deciding import Deciding
from fairdash._wording import (
    Kpi,
    count,
    headed,
    interval,
    number,
    percent,
    plural,
    sentences,
)
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.gaps.evaluation import decision_facts
from fairdash.audits.trials.decision_rule import USUAL, DecisionRule
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Rows, rows_trained_on, ruled
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import weights
from fairdash.store import Store, TrialRecord

_TOP = 0.01  # of the rows
_short = partial(number, digits=2)
_NEARLY_EQUAL = 0.99  # effective rows over rows: a design effect of 1.01
_HOW = """
Each dot is a **subgroup** of the training rows, its area the number of rows. Right: the
other model treats its groups more differently. Up: this model gave its rows more
weight. A rising line means that the weights went where the gap was. No model was told
of these subgroups.
"""


@dataclass(frozen=True)
class Weighted:
    """A trial that has weights, and the model whose gaps they are held to.

    ``reference`` is the unconstrained model on the same split, or the trial itself;
    both decide by ``rule``.
    """

    store: Store
    model: Setting
    trial: TrialRecord
    reference: TrialRecord
    dataset_id: str
    rule: DecisionRule = USUAL

    @property
    def reference_name(self) -> str:
        """Whose gaps the weights are held to."""
        alone = self.reference.key == self.trial.key
        return "this model" if alone else "the unconstrained model"

    @property
    def rows(self) -> Rows:
        """The training rows, in the order of the weights."""
        data, trial = self.dataset_id, self.trial
        return rows_trained_on(self.store, data, trial.seed, trial.key, Subgroups())

    def ratio(self) -> NDArray[np.float64]:
        """Return the weights of the training rows after the last epoch."""
        return _ratio_of(self.store, self.trial.key)

    def answer(self, dataset: Dataset, subgroups: Subgroups, top: "TopRows") -> Answer:
        """Return which rows carry weight.

        Raises ValueError where the subgroups cannot be made.
        """
        ratio, trial = self.ratio(), self.trial
        table, related = self.by_subgroup(subgroups)
        arguments = {
            "colour_role": CATALOG[self.model.method].colour_role,
            "related": related,
            "reference": self.reference_name,
        }
        rows = plural(len(ratio), "training row")
        rule = f"decided 1: {self.rule.words()}"
        facts = decision_facts(self.rows, ruled(trial, self.rule).key)
        deciding, label = Deciding.of(facts), self.model.label
        brief, details = deciding.brief(label), deciding.details(label)
        if not deciding.idle:
            brief = weights_brief(related, top, ratio)
            details = weights_details(related, top)
        return Answer(
            brief,
            weight_kpis(ratio, related),
            Drawing("plot_ratio_against_di", table, arguments),
            facts=(dataset.name, rows, self.model.label, f"seed {trial.seed}", rule),
            details=details,
            how=_HOW,
        )

    def by_subgroup(
        self, subgroups: Subgroups
    ) -> tuple[pd.DataFrame, weights.Correlation]:
        """Return mean weights beside the gaps of the reference, and how they relate."""
        keys = self.trial.key, ruled(self.reference, self.rule).key, self.dataset_id
        return _related(self.store, *keys, self.trial.seed, subgroups)


@dataclass(frozen=True)
class TopRows:
    """The rows with the largest weights.

    ``traits`` are held to all training rows.
    """

    traits: pd.DataFrame
    n_rows: int

    @property
    def clear(self) -> pd.DataFrame:
        """The first trait that is more frequent beyond its interval, if any."""
        return self.traits[self.traits["ci_low"] > self.traits["share_all"]].head(1)

    def readable(self) -> pd.DataFrame:
        """Return the traits for a reader."""
        shown = ("trait", "share_top", "ci_low", "ci_high", "share_all")
        names = {"trait": "Value", "share_top": "Share of these rows"}
        return headed(self.traits, shown, **names, share_all="Share of all rows")


def weighted_models(models: Sequence[Setting]) -> list[Setting]:
    """Return the models whose method gives weights; scores that came alone do not."""
    giving = {name for name, method in CATALOG.items() if method.gives_weights}
    return [model for model in models if model.method in giving]


def without_weights(model: Setting, shown: Setting) -> str:
    """Say that a model has no weights, and of which one they are shown instead."""
    return f"{model.label} has no weights. Shown are those of {shown.label}."


def weight_kpis(
    ratio: NDArray[np.float64], correlation: weights.Correlation
) -> list[Kpi]:
    """Return correlation, largest weight and effective rows."""
    n_rows, effective = len(ratio), weights.effective_rows(ratio)
    return [
        Kpi(
            "Weights and gaps",
            number(correlation.value, 2),
            interval(correlation.low, correlation.high, _short) or "too few subgroups",
            help="Correlation over subgroups of mean weight and gap, with a 95% "
            "interval from 1,000 bootstrap samples of rows.",
        ),
        Kpi(
            "Largest r",
            number(float(ratio.max()), 1),
            f"99th percentile {number(float(np.quantile(ratio, 0.99)), 1)}",
        ),
        Kpi(
            "Effective rows",
            count(round(effective)),
            f"{percent(effective / n_rows, 0)} of {count(n_rows)}",
            help="So many rows of equal weight say as much as all rows with these "
            "weights. Kish: (sum of weights)² / sum of squares.",
        ),
    ]


def weights_brief(
    correlation: weights.Correlation, top: TopRows, ratio: NDArray[np.float64]
) -> str:
    """Say where the weights went.

    Weights that leave nearly as many effective rows as there are say nothing, whatever
    they correlate with.
    """
    effective = weights.effective_rows(ratio) / len(ratio)
    if effective > _NEARLY_EQUAL:
        share = percent(effective)
        return f"The weights are practically equal: {share} effective rows."
    rows = ""
    for row in top.clear.to_dict("records"):
        shares = percent(row["share_top"], 0), percent(row["share_all"], 0)
        rows = (
            f"{shares[0]} of the heaviest rows have {row['trait']}, {shares[1]} of all."
        )
    if correlation.low > 0 or correlation.high < 0:
        size = "more" if correlation.value > 0 else "less"
        return sentences(f"Subgroups with larger gaps got {size} weight.", rows)
    if isnan(correlation.value):
        return sentences("Too few subgroups to relate weights to gaps.", rows)
    return sentences("Weights are not clearly related to gaps.", rows)


def weights_details(correlation: weights.Correlation, top: TopRows) -> str:
    """Say how surely weights went where gaps are, and how many rows are at the top."""
    ends = interval(correlation.low, correlation.high, _short)
    related = f"Correlation {number(correlation.value, 2)} ({ends})."
    rows = f"The top {percent(_TOP)} are {plural(top.n_rows, 'row')}."
    return f"{related if ends else 'Correlation not estimable.'} {rows}"


def find_top_rows(weighted: Weighted, ratio: NDArray[np.float64]) -> TopRows:
    """Return the rows with the largest weights and what they share."""
    dataset, rows = weighted.store.dataset(weighted.dataset_id), weighted.rows
    top = weights.top_rows(ratio, _TOP)
    roles = dataset.roles
    columns = dict.fromkeys(
        [roles.sensitive_feature, *roles.subgroup_columns, *roles.features]
    )
    frame = dataset.frame.iloc[rows.where][list(columns)]
    unit = rows.sampling["cluster"]
    return TopRows(weights.traits(frame, top, cluster=unit), len(top))


def _ratio_of(store: Store, key: str) -> NDArray[np.float64]:
    ratio = store.artifact(key).ratio()
    if ratio is None:
        raise ValueError("This model was stored without its weights; train it again.")
    return np.asarray(ratio, dtype=np.float64)


@lru_cache(maxsize=500)
def _related(
    store: Store,
    key: str,
    reference: str,
    dataset_id: str,
    seed: int,
    subgroups: Subgroups,
) -> tuple[pd.DataFrame, weights.Correlation]:
    rows = rows_trained_on(store, dataset_id, seed, key, subgroups)
    ratio = _ratio_of(store, key)
    predictions = rows.predictions(reference)
    about: Any = {**rows.groups, "cluster": rows.sampling["cluster"]}
    table = weights.ratio_by_subgroup(ratio, predictions, **about)
    return table, weights.ratio_correlation(ratio, predictions, **about)
