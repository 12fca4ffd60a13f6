"""The page Weights: the weights r of one trial at one epoch, and who has them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash._counts import quantiles
from fairdash._deciding import Deciding
from fairdash._wording import (
    PEOPLE,
    ROWS,
    Kpi,
    Noun,
    count,
    headed,
    number,
    percent,
    plural,
    related,
    sentences,
)
from fairdash.audits import weight_spreads
from fairdash.audits.answer import Answer, Drawing
from fairdash.audits.gaps.evaluation import decision_facts
from fairdash.audits.trials.models import Setting
from fairdash.audits.trials.rows import TrialRows
from fairdash.audits.weight_spreads import CLOSED_FORM, WeightedTrial, with_rows
from fairdash.datasets import Dataset, Subgroups
from fairdash.methods import CATALOG
from fairdash.metrics import WeightSpread, weight_spread, weights
from fairdash.scored import USUAL, DecisionRule, ScoredModel
from fairdash.store import Store

_TOP = 0.01  # of the rows, or of the people that they stand for
_UNSURE = (
    "Gaps are measured with error, so the true ones are related more closely; the "
    "correlation has no interval."
)
_NEARLY_EQUAL = 0.99  # effective rows over rows: a design effect of 1.01
_HOW_SPREAD = """
Above: which share of each group's training {rows} has which weight **r**. Weights
average to one in each group, so a wide hill means that few {rows} get the attention.
Below: the same for every subgroup: a thin line for nine in ten {rows}, a thick line for
the middle half, a dot for the median. The slider moves through training; ▶ plays it.
"""
_HOW_GAPS = """
Each dot is a **subgroup** of the training {rows}, its area the number of {rows}. Right:
the other model treats its groups more differently. Up: this model gave its {rows} more
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
    trial: ScoredModel
    reference: ScoredModel
    dataset_id: str
    rule: DecisionRule = USUAL

    @property
    def reference_name(self) -> str:
        """Whose gaps the weights are held to."""
        if self.reference.source == self.trial.source:
            return "this model"
        return "the unconstrained model"

    @property
    def closed_form(self) -> bool:
        """Whether weights at any τ follow from those stored."""
        return self.model.method == CLOSED_FORM

    @property
    def rows(self) -> TrialRows:
        """The training rows, in the order of the weights."""
        return self.on(Subgroups()).rows

    @property
    def noun(self) -> Noun:
        """The noun of the count: rows, or the people that rows of counts stand for."""
        return ROWS if self.rows.people is None else PEOPLE

    @property
    def how_gaps(self) -> str:
        """How to read the figure of `gaps`."""
        return _HOW_GAPS.format(rows=self.noun.several)

    def on(self, subgroups: Subgroups) -> WeightedTrial:
        """Return the trial with the subgroups that are asked about."""
        return WeightedTrial(self.store, self.trial, self.dataset_id, subgroups)

    def ratio(self) -> NDArray[np.float64]:
        """Return the weights of the training rows after the last epoch."""
        return self.on(Subgroups()).ratio()

    def answer(self, dataset: Dataset, subgroups: Subgroups, top: "TopRows") -> Answer:
        """Return which rows carry weight.

        Raises ValueError where the subgroups cannot be made.
        """
        ratio = self.ratio()
        people = self.rows.people
        label = self.model.label
        _, related = self.by_subgroup(subgroups)
        deciding = Deciding.of(
            decision_facts(self.rows, self.trial.decided_by(self.rule))
        )
        # The weights of a model that does not decide are no remedy of anything.
        if deciding.idle:
            brief = deciding.brief(label)
            details = deciding.details(label)
        else:
            brief = weights_brief(related, top, ratio, people)
            details = weights_details(related, top, ratio, people)
        facts = (
            dataset.name,
            self.noun.counted(_n_people(ratio, people), "training"),
            label,
            f"seed {self.trial.seed}",
            f"decided 1: {self.rule.words()}",
        )
        return Answer(
            brief,
            weight_kpis(ratio, related, people),
            self._drawn(weight_spreads.by_epoch(self.on(subgroups)), dataset),
            facts=facts,
            details=details,
            how=_HOW_SPREAD.format(rows=self.noun.several),
        )

    def gaps(self, subgroups: Subgroups) -> Drawing:
        """Return the figure of mean weights against gaps, a dot a subgroup."""
        table, related = self.by_subgroup(subgroups)
        arguments = {
            "colour_role": CATALOG[self.model.method].colour_role,
            "related": related,
            "reference": self.reference_name,
            "noun": self.noun,
        }
        return Drawing("plot_ratio_against_di", table, arguments)

    def has_taus(self, models: Sequence[Setting]) -> bool:
        """Return whether `taus` has more than the τ of the model."""
        return self.closed_form or len(self._stops(models)) > 1

    def taus(
        self, models: Sequence[Setting], dataset: Dataset, subgroups: Subgroups
    ) -> Drawing:
        """Return the figure of the weights at other values of τ.

        Of BROAD those that its adversary gives, beside those it was trained with; of
        other methods those of ``models`` that differ in τ only.
        """
        trained = float(self.trial.params["tau"])
        if self.closed_form:
            within = self.trial.params.get("normalisation") != "global"
            spread = weight_spreads.at_other_taus(self.on(subgroups), trained, within)
            density = spread.density_table()
            return self._drawn(
                spread,
                dataset,
                "τ",
                trained,
                beside=density[density["step"] == trained],
                beside_words=f"the weights it was trained with, at τ {trained:.4g}",
            )
        stops = [
            (tau, replace(self, trial=trial).on(subgroups))
            for tau, trial in self._stops(models)
        ]
        spread = weight_spreads.over_trained_taus(tuple(stops))
        return self._drawn(spread, dataset, "τ", trained)

    def _stops(self, models: Sequence[Setting]) -> list[tuple[float, ScoredModel]]:
        pairs = weight_spreads.siblings(models, self.model, self.trial.seed)
        stored = with_rows(self.store, [trial for _, trial in pairs])
        return [(tau, trial) for tau, trial in pairs if trial in stored]

    def _drawn(
        self,
        spread: WeightSpread,
        dataset: Dataset,
        step_name: str = "epoch",
        step: float | None = None,
        **more: Any,
    ) -> Drawing:
        arguments = {
            "density": spread.density_table(),
            "groups": dataset.group_names,
            "feature": dataset.roles.group_prefix(),
            "step_name": step_name,
            "step": step,
            "noun": self.noun,
        }
        return Drawing(
            "plot_weight_spread", spread.quantile_table(), {**arguments, **more}
        )

    def by_subgroup(
        self, subgroups: Subgroups
    ) -> tuple[pd.DataFrame, weights.Correlation]:
        """Return mean weights beside the gaps of the reference, and how they relate."""
        reference = self.reference.decided_by(self.rule)
        return _related(self.on(subgroups), reference)


@dataclass(frozen=True)
class TopRows:
    """The rows with the largest weights; of counts, ``n`` of their people.

    ``traits`` are held to all training rows.
    """

    traits: pd.DataFrame
    n: int
    noun: Noun = ROWS

    @property
    def clear(self) -> pd.DataFrame:
        """The first trait that is more frequent beyond its interval, if any."""
        return self.traits[self.traits["ci_low"] > self.traits["share_all"]].head(1)

    def readable(self) -> pd.DataFrame:
        """Return the traits for a reader."""
        rows = self.noun.several
        return headed(
            self.traits,
            ("trait", "share_top", "ci_low", "ci_high", "share_all"),
            trait="Value",
            share_top=f"Share of these {rows}",
            share_all=f"Share of all {rows}",
        )


def weighted_models(models: Sequence[Setting]) -> list[Setting]:
    """Return the models whose method gives weights; scores that came alone do not."""
    giving = {name for name, method in CATALOG.items() if method.gives_weights}
    return [model for model in models if model.method in giving]


def without_weights(model: Setting, shown: Setting) -> str:
    """Say that a model has no weights, and of which one they are shown instead."""
    return f"{model.label} has no weights. Shown are those of {shown.label}."


def weight_kpis(
    ratio: NDArray[np.float64],
    correlation: weights.Correlation,
    people: NDArray[np.float64] | None = None,
) -> list[Kpi]:
    """Return correlation, largest weight, effective rows and rows with half of it.

    ``people`` says how many each row stands for, where rows are counts.
    """
    noun = ROWS if people is None else PEOPLE
    n = _n_people(ratio, people)
    effective = weights.effective_rows(ratio, people)
    (heavy,) = quantiles(ratio, (0.99,), people)
    over = f"over {plural(correlation.n_subgroups, 'subgroup')}"
    if isnan(correlation.value):
        over = "too few subgroups"
    return [
        Kpi(
            "Weights and gaps",
            number(correlation.value, 2),
            over,
            help="Correlation over subgroups of mean weight and measured gap. It has "
            "no interval: see “how sure?”.",
        ),
        Kpi(
            "Largest r",
            number(float(ratio.max()), 1),
            f"99th percentile {number(float(heavy), 1)}",
        ),
        Kpi(
            f"Effective {noun.several}",
            count(round(effective)),
            f"{percent(effective / n)} of {count(n)}",
            help=f"So many {noun.several} of equal weight say as much as all "
            f"{noun.several} with these weights. Kish: (sum of weights)² / sum of "
            "squares.",
        ),
        Kpi(
            "Half of the weight",
            percent(weight_spread.rows_with_half(ratio, people), 0),
            f"of the {noun.several}",
            help=f"The smallest share of {noun.several} that has half of all weight. "
            f"It is 50% where all {noun.several} weigh the same.",
        ),
    ]


def weights_brief(
    correlation: weights.Correlation,
    top: TopRows,
    ratio: NDArray[np.float64],
    people: NDArray[np.float64] | None = None,
) -> str:
    """Say where the weights went.

    Weights that leave nearly as many effective rows as there are say nothing, whatever
    they correlate with.
    """
    several = top.noun.several
    effective = _effective_share(ratio, people)
    if effective > _NEARLY_EQUAL:
        share = percent(effective)
        return f"The weights are practically equal: {share} effective {several}."
    share = percent(weight_spread.rows_with_half(ratio, people), 0)
    half = f"Half of the weight lies on {share} of {several}."
    heaviest = ""
    for trait in top.clear.to_dict("records"):
        heaviest = (
            f"{percent(trait['share_top'], 0)} of the heaviest {several} have "
            f"{trait['trait']}, {percent(trait['share_all'], 0)} of all."
        )
    return sentences(half, heaviest, _relation(correlation))


def _relation(correlation: weights.Correlation) -> str:
    if isnan(correlation.value):
        return "Too few subgroups to relate weights to gaps."
    value = number(correlation.value, 2)
    sign = related(correlation.value)
    if not sign:
        return f"Weights do not follow measured gaps (correlation {value})."
    size = "more" if sign > 0 else "less"
    return (
        f"Subgroups with larger measured gaps got {size} weight (correlation {value})."
    )


def weights_details(
    correlation: weights.Correlation,
    top: TopRows,
    ratio: NDArray[np.float64],
    people: NDArray[np.float64] | None = None,
) -> str:
    """Say what the relation of weights and gaps is of, and how many are at the top.

    Nothing is said of the relation of weights that are practically equal.
    """
    rows = f"The top {percent(_TOP)} are {top.noun.counted(top.n)}."
    if _effective_share(ratio, people) > _NEARLY_EQUAL:
        return rows
    return f"{_relation(correlation)} {_UNSURE} {rows}"


def _effective_share(
    ratio: NDArray[np.float64], people: NDArray[np.float64] | None
) -> float:
    return weights.effective_rows(ratio, people) / _n_people(ratio, people)


def _n_people(ratio: NDArray[np.float64], people: NDArray[np.float64] | None) -> int:
    """Return how many rows there are, or how many people they stand for."""
    return len(ratio) if people is None else int(people.sum())


def find_top_rows(weighted: Weighted, ratio: NDArray[np.float64]) -> TopRows:
    """Return the rows with the largest weights and what they share."""
    dataset = weighted.store.dataset(weighted.dataset_id)
    rows = weighted.rows
    top = weights.top_rows(ratio, _TOP, rows.people)
    roles = dataset.roles
    columns = dict.fromkeys(
        [*roles.sensitive_columns(), *roles.subgroup_columns, *roles.features]
    )
    frame = dataset.frame.iloc[rows.where][list(columns)]
    traits = weights.traits(frame, top, **rows.sampling)
    return TopRows(traits, top.n, weighted.noun)


@lru_cache(maxsize=500)
def _related(
    weighted: WeightedTrial, reference: ScoredModel
) -> tuple[pd.DataFrame, weights.Correlation]:
    rows = weighted.rows
    table = weights.ratio_by_subgroup(
        weighted.ratio(),
        rows.predictions(reference),
        **rows.groups,
        **rows.sampling,
    )
    return table, weights.correlation_of(table)
