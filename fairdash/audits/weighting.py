"""What Weights shows: the weights r of one trial at one epoch, and who has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._wording import (
    Kpi,
    alike_words,
    count,
    interval,
    number,
    percent,
    plural,
)
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.brief import brief
from fairdash.audits.groups.measured import constant
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import Rows, rows_trained_on
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import (
    Correlation,
    effective_rows,
    ratio_by_subgroup,
    ratio_correlation,
    ratio_quantiles,
    top_rows,
    traits,
)
from fairdash.store import Store, TrialRecord

EVERYBODY = "All"
_LISTED = 10
_EQUAL = 1e-3
_NEARLY_EQUAL = 0.99  # effective rows over rows: a design effect of 1.01
_HOW_RELATED = """
Each dot is a **subgroup** of the training rows, its area the number of rows. Right: the
other model treats its groups more differently. Up: this model gave its rows more
weight. A rising line means that the weights went where the gap was. No model was told
of these subgroups.
"""
_HOW_EPOCHS = """
The line is the median of r among the rows of a group, the bands hold 50% and 90% of the
rows. All weights start near 1 and the mean stays 1, so attention to some rows is taken
from others.
"""
_HOW_TRAITS = """
For each column the value that the rows with the largest weights have more often than
all training rows. The tick is its share among all rows, the dot its share among the top
rows with a 95% Wilson interval. Numbers are cut at their quartiles.
"""


@dataclass(frozen=True)
class Weighted:
    """A trial that has weights, and the model whose gaps they are held to.

    ``reference`` is the unconstrained model on the same split, or the trial itself.
    """

    store: Store
    model: Setting
    trial: TrialRecord
    reference: TrialRecord
    dataset_id: str

    @property
    def colour_role(self) -> str:
        """Which of the fixed colours the model has."""
        return CATALOG[self.model.method].colour_role

    @property
    def reference_name(self) -> str:
        """Whose local DI the weights are held to."""
        alone = self.reference.key == self.trial.key
        return "this model" if alone else "the unconstrained model"

    @property
    def n_rows(self) -> int:
        """How many training rows have weights."""
        return len(_history(self.store, self.trial.key)[1][0])

    @property
    def constant(self) -> bool:
        """Whether the model decides alike for everyone, on the rows it learned on."""
        return constant(_training_rows(self), self.trial.key) > 0

    def facts(self, name: str) -> tuple[str, ...]:
        """Return the context line: data set, rows, model, seed."""
        rows = plural(self.n_rows, "training row")
        return name, rows, self.model.label, f"seed {self.trial.seed}"

    def epochs(self) -> list[int]:
        """Return the epochs at which the weights were kept, the last one included."""
        return [int(epoch) for epoch in _history(self.store, self.trial.key)[0]]

    def ratio(self, epoch: int) -> NDArray[np.float64]:
        """Return the weights of the training rows after ``epoch``."""
        ratio: NDArray[np.float64] = _history(self.store, self.trial.key)[1]
        return np.asarray(ratio[self.epochs().index(epoch)])

    def quantiles(self) -> pd.DataFrame:
        """Return the table of `fairdash.metrics.ratio_quantiles`."""
        return _quantiles(self.store, self.trial.key, self.dataset_id, self.trial.seed)

    def answer(
        self, dataset: Dataset, epoch: int, subgroups: Subgroups, top: "TopRows"
    ) -> Answer:
        """Return which rows carry weight, after an epoch.

        Raises ValueError where the subgroups cannot be made.
        """
        ratio = self.ratio(epoch)
        table, related = self.by_subgroup(epoch, subgroups)
        arguments = {
            "colour_role": self.colour_role,
            "related": related,
            "reference": self.reference_name,
        }
        return Answer(
            weights_brief(self, related, top, ratio),
            weight_kpis(self, ratio, related),
            Drawing("plot_ratio_against_di", table, arguments),
            facts=self.facts(dataset.name),
            details=weights_verdict(self, related, top),
            how=_HOW_RELATED,
        )

    def epochs_answer(self, dataset: Dataset) -> Answer:
        """Return how the weights of the groups changed while the model learned."""
        arguments = {
            "groups": dataset.group_names,
            "feature": dataset.roles.sensitive_feature,
        }
        figure = Drawing("plot_ratio_by_epoch", self.quantiles(), arguments)
        return Answer("", figure=figure, how=_HOW_EPOCHS)

    def by_subgroup(
        self, epoch: int, subgroups: Subgroups
    ) -> tuple[pd.DataFrame, Correlation]:
        """Return mean weights beside local DI of the reference, and how they relate."""
        keys = self.trial.key, self.reference.key, self.dataset_id, self.trial.seed
        return _related(self.store, *keys, epoch, subgroups)


@dataclass(frozen=True)
class TopRows:
    """The rows with the largest weights, of all groups or of one.

    ``traits`` are held to all training rows of the same groups; ``listed`` are rows as
    they were read.
    """

    traits: pd.DataFrame
    listed: pd.DataFrame
    n_rows: int
    share: float
    colour_role: str

    def answer(self) -> Answer:
        """Return what the rows have in common."""
        arguments = {
            "colour_role": self.colour_role,
            "share": self.share,
            "n_rows": self.n_rows,
        }
        figure = Drawing("plot_traits", self.traits, arguments)
        return Answer("", figure=figure, how=_HOW_TRAITS)


def weighted_models(models: Sequence[Setting]) -> list[Setting]:
    """Return the models whose method gives weights; scores that came alone do not."""
    giving = {name for name, method in CATALOG.items() if method.gives_weights}
    return [model for model in models if model.method in giving]


def instead_words(chosen: str | None, models: Sequence[Setting], shown: Setting) -> str:
    """Say whose weights are shown when the model chosen elsewhere gives none.

    ``chosen`` is the `Setting.id` in the selection.
    """
    for model in models:
        if model.id == chosen and not weighted_models([model]):
            return f"{model.label} gives rows no weights; these are {shown.label}'s. "
    return ""


def weight_kpis(
    weighted: Weighted, ratio: NDArray[np.float64], correlation: Correlation
) -> list[Kpi]:
    """Return correlation, largest weight, effective rows and mean weight by group."""
    n_rows, effective = len(ratio), effective_rows(ratio)
    groups = _training_rows(weighted).groups["sensitive_features"]
    means = pd.Series(ratio).groupby(groups).mean()
    equal = float(means.max() - means.min()) < _EQUAL
    return [
        Kpi(
            "Weights and gaps",
            number(correlation.value, 2),
            interval(correlation.low, correlation.high, _short) or "too few subgroups",
            help="Correlation over subgroups of mean weight and local DI, with a 95% "
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
            help="As many rows of equal weight say as much as all rows with these "
            "weights: the square of the sum over the sum of squares.",
        ),
        Kpi(
            "Mean r by group",
            number(float(means.mean()), 2),
            "in every group" if equal else interval(means.min(), means.max(), _short),
        ),
    ]


def weights_brief(
    weighted: Weighted,
    correlation: Correlation,
    top: TopRows,
    ratio: NDArray[np.float64],
) -> str:
    """Say where the weights went, in at most 20 words.

    Weights that leave nearly as many effective rows as there are say nothing, whatever
    they correlate with.
    """
    if weighted.constant:
        return f"{weighted.model.label} decides alike for nearly everyone."
    effective = effective_rows(ratio) / len(ratio)
    if effective > _NEARLY_EQUAL:
        share = percent(effective)
        return f"The weights are practically equal: {share} effective rows."
    first = top.traits[top.traits["ci_low"] > top.traits["share_all"]].head(1)
    rows = ""
    for row in first.to_dict("records"):
        shares = percent(row["share_top"], 0), percent(row["share_all"], 0)
        rows = f"The heaviest rows: {shares[0]} {row['trait']}, of all {shares[1]}."
    if correlation.low > 0 or correlation.high < 0:
        size = "more" if correlation.value > 0 else "less"
        return brief(f"Subgroups with larger gaps got {size} weight.", rows)
    return brief("Weights are not clearly related to gaps.", rows)


def weights_verdict(weighted: Weighted, correlation: Correlation, top: TopRows) -> str:
    """Say whether weights went where gaps are, and who the rows at the top are.

    Either is a finding only where its 95% interval excludes no relation: a correlation
    of 0, or the share among all training rows.
    """
    label = weighted.model.label
    if weighted.constant:
        return alike_words(label)
    where = "are not clearly related to the gaps of subgroups"
    if correlation.low > 0 or correlation.high < 0:
        size = "larger" if correlation.value > 0 else "smaller"
        where = (
            f"are {size} in subgroups where {weighted.reference_name} treats groups "
            "more differently"
        )
    ends = interval(correlation.low, correlation.high, _short)
    how = f"correlation {number(correlation.value, 2)}, {ends}"
    how = how if ends else "correlation not estimable"
    first = top.traits[top.traits["ci_low"] > top.traits["share_all"]].head(1)
    words = "No value is clearly more frequent among them than among all."
    for row in first.to_dict("records"):
        ends = interval(row["ci_low"], row["ci_high"], percent)
        words = (
            f"{percent(row['share_top'])} of them ({ends}) have {row['trait']}, of all "
            f"rows {percent(row['share_all'])}."
        )
    return (
        f"Weights of {label} {where} "
        f"({how}; {plural(weighted.n_rows, 'training row')}). "
        f"The top {percent(top.share)} are {plural(top.n_rows, 'row')}: {words}"
    )


def find_top_rows(
    weighted: Weighted, ratio: NDArray[np.float64], share: float, group: str
) -> TopRows:
    """Return the rows with the largest ``share`` of weights and what they share.

    ``group`` is a name, or `EVERYBODY`.
    """
    dataset = weighted.store.dataset(weighted.dataset_id)
    rows = _training_rows(weighted)
    names = rows.groups["sensitive_features"]
    inside = np.flatnonzero((names == group) | (group == EVERYBODY))
    top = top_rows(ratio[inside], share)
    roles = dataset.roles
    columns = dict.fromkeys(
        [roles.sensitive_feature, *roles.subgroup_columns, *roles.features]
    )
    frame = dataset.frame.iloc[rows.where[inside]][list(columns)]
    listed = frame.iloc[top[:_LISTED]]
    at = inside[top[:_LISTED]]
    scores = rows.scores(weighted.trial.key)[at]
    facts = {"r": ratio[at], "y": rows.y[at], "P(ŷ = 1)": scores}
    front = pd.DataFrame(facts, index=listed.index)
    listed = listed.rename(columns={name: f"{name} (column)" for name in facts})
    listed = front.join(listed)
    role = weighted.colour_role
    return TopRows(traits(frame, top), listed, len(top), share, role)


def _training_rows(weighted: Weighted) -> Rows:
    store, trial = weighted.store, weighted.trial
    data = weighted.dataset_id
    return rows_trained_on(store, data, trial.seed, trial.key, Subgroups())


def _short(value: float) -> str:
    return number(value, 2)


@lru_cache(maxsize=32)
def _history(store: Store, key: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the epochs and the weights (epochs, rows) that a trial kept."""
    artifact = store.artifact(key)
    history, last = artifact.ratio_history(), artifact.ratio()
    if history is not None:
        epochs = np.asarray(history["epoch"], dtype=np.int64)
        return epochs, np.asarray(history["ratio"], dtype=np.float64)
    if last is None:
        raise ValueError("This model was stored without its weights; train it again.")
    return np.array([0]), np.asarray(last, dtype=np.float64)[None]


@lru_cache(maxsize=500)
def _quantiles(store: Store, key: str, dataset_id: str, seed: int) -> pd.DataFrame:
    rows = rows_trained_on(store, dataset_id, seed, key, Subgroups())
    return ratio_quantiles(*_history(store, key), rows.groups["sensitive_features"])


@lru_cache(maxsize=500)
def _related(
    store: Store,
    key: str,
    reference: str,
    dataset_id: str,
    seed: int,
    epoch: int,
    subgroups: Subgroups,
) -> tuple[pd.DataFrame, Correlation]:
    rows = rows_trained_on(store, dataset_id, seed, key, subgroups)
    epochs, history = _history(store, key)
    ratio = history[list(epochs).index(epoch)]
    predictions = rows.predictions(reference)
    table = ratio_by_subgroup(ratio, predictions, **rows.groups)
    return table, ratio_correlation(ratio, predictions, **rows.groups)
