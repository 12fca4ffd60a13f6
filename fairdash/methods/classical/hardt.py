"""Thresholds by group on the scores of a base model (Hardt, Price and Srebro 2016)."""

from typing import Any

import numpy as np

from fairdash._arrays import Codes, FloatArray
from fairdash.methods.base import TrainingRows, Weighted
from fairdash.methods.classical.bases import as_scorer, fit_base
from fairdash.methods.classical.plain import CarriesBase
from fairdash.methods.declare import Method, param, positional
from fairdash.methods.mixture import GroupedMixture
from fairdash.methods.noisy_groups.inputs import check_share
from fairdash.methods.params import CLASSIC_CONSTRAINT
from fairdash.methods.scorers import GroupThresholds, Scorer
from fairdash.postprocessing import HardtThreshold, Thresholds


class HardtLogistic(Weighted, CarriesBase, GroupedMixture):
    """The most accurate thresholds of one base model that meet a constraint.

    Each group has a mixture of two thresholds, those of
    `fairdash.postprocessing.HardtThreshold` on the training rows; ``predict_proba`` is
    the probability of a positive decision.

    Attributes
    ----------
    network_ : GroupThresholds
        Base model and thresholds as plain arrays.

    References
    ----------
    Hardt, Price and Srebro, Equality of opportunity in supervised learning (NeurIPS
    2016).
    """

    constraints: str = positional(default=CLASSIC_CONSTRAINT, kw_only=False)
    tolerance: float = param(
        0.0,
        "Tolerance",
        letter="ε",
        high=0.2,
        step=0.005,
        trade_off=True,
        added=True,
        check=check_share,
        help="By how much the rates of groups may differ on the training rows.",
    )

    def _learn(self, rows: TrainingRows) -> FloatArray:
        self.solver_ = fit_base(self._base(rows), rows.X, rows.target, rows.weight)
        base = as_scorer(self.solver_)
        corrected = HardtThreshold(self.constraints, tolerance=self.tolerance).fit(
            base.positive(rows.X, rows.codes),
            rows.target,
            sensitive_features=self.groups_[rows.codes],
            sample_weight=rows.weight,
        )
        self.network_ = as_arrays(base, corrected.thresholds())
        return self._positive(rows.X, rows.codes)

    def _positive(self, rows: Any, group: Codes) -> FloatArray:
        network: GroupThresholds = self.network_
        return network.positive(rows, group)


def as_arrays(base: Scorer, by_group: Thresholds) -> GroupThresholds:
    """Return staircases of at most two steps, by group, as plain arrays."""
    rules = list(by_group.rules.values())
    thresholds = np.full((len(rules), 2), np.inf)
    shares = np.zeros((len(rules), 2))
    for code, rule in enumerate(rules):
        # Two knots at the same score are a jump.
        steps = rule.score[1::2]
        levels = np.array(rule.probability)
        # A rule accepts from a knot on, a threshold only above it.
        thresholds[code, : len(steps)] = np.nextafter(steps, -np.inf)
        shares[code, : len(steps)] = np.diff(levels)[::2]
    constants = np.array([rule.probability[0] for rule in rules])
    return GroupThresholds(base, thresholds, np.ones_like(shares), shares, constants)


HARDT = Method.of(
    HardtLogistic,
    key="hardt",
    label="Hardt",
    title="Random thresholds by group",
    summary="A base model with a mixture of two thresholds in each group. It must know "
    "the group to predict.",
    source="Hardt, Price and Srebro (NeurIPS 2016)",
    needs_groups=True,
    former={"rates": "all"},  # models of 1,001 rates keep keys and results of their own
)
