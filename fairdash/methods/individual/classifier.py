"""Parts that SenSeI, SenSR and CLP share: a metric, and losses on counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairdash._validation import check_one_of
from fairdash.methods.declare import param, positional, vary
from fairdash.methods.lazy import torch
from fairdash.methods.network import (
    Batch,
    StackedClassifier,
    Trainer,
    binary_cross_entropy,
    sigmoid,
)
from fairdash.methods.params import EPOCHS, FAIRNESS_WEIGHT, LEARNING_RATE, PAPER
from fairdash.metrics import (
    N_DIRECTIONS,
    FairMetric,
    comparable_directions,
    group_directions,
    ignore_columns,
)

if TYPE_CHECKING:
    from torch import Tensor

COMPARABLE = "comparable"  # of `METRICS`: a run names the column of these rows
METRICS = {
    "group_direction": "what predicts the group",
    "columns": "columns, named below",
    "both": "both",
    COMPARABLE: "what comparable rows differ in",
}
LONG = {**PAPER, "batch_size": 1000, "n_epochs": 325, "batches": "balanced"}
# d_Y is the mean of squared differences over two logits. A single logit s stands for
# -s/2 and s/2, so it is (s/2)^2, a quarter of s^2.
_SHARE = 0.25
SENSEI_PAPER = "Yurochkin and Sun, SenSeI (ICLR 2021)"


def _check_metric(name: str, value: object) -> None:
    if not isinstance(value, FairMetric):
        check_one_of(name, value, METRICS)


@dataclass(frozen=True)
class TargetLoss:
    """The cross-entropy of one logit; outputs are (n_models, n_rows, 1)."""

    y: Tensor

    def value(self, outputs: Tensor) -> Tensor:
        """Return the loss of every row, (n_models, n_rows)."""
        return binary_cross_entropy(outputs[..., 0], self.y)[0]

    def slope(self, outputs: Tensor) -> Tensor:
        """Return its gradient in the outputs."""
        return sigmoid(outputs).sub_(self.y[:, None])


@dataclass(frozen=True)
class OutputDistance:
    """d_Y to the outputs ``targets``, see `fairdash.metrics.output_distance`."""

    targets: Tensor

    def value(self, outputs: Tensor) -> Tensor:
        """Return the distance of every row, (n_models, n_rows)."""
        difference = outputs - self.targets
        squared: Tensor = torch.linalg.vecdot(difference, difference)
        return squared * _SHARE

    def slope(self, outputs: Tensor) -> Tensor:
        """Return its gradient in the outputs."""
        return (outputs - self.targets).mul_(2 * _SHARE)


class PairTrainer(Trainer):
    """A predictor that can descend its loss at x plus the weighed d_Y of x and x'."""

    def pair_step(
        self, batch: Batch, counterparts: Tensor, weight: Tensor
    ) -> dict[str, Tensor]:
        """Move the predictor one step; return its two losses, one value per model."""
        rows = batch.X.expand_as(counterparts)
        outputs = self.predictor.forward(torch.cat([rows, counterparts], dim=1))
        at_rows, at_counterparts = outputs.split(len(batch), dim=1)
        loss = TargetLoss(batch.y)
        distance = OutputDistance(at_rows)
        losses = {
            "loss": loss.value(at_rows).mean(1),
            "fair_loss": distance.value(at_counterparts).mean(1),
        }
        pull = distance.slope(at_counterparts) * weight[..., None]
        slope = torch.cat([loss.slope(at_rows) - pull, pull], dim=1)
        self.predictor.backward(slope / len(batch))
        self.predictor.step()
        return losses

    def share_metric(self, rows: Batch) -> FairMetric:
        """Return the metric of the training rows, which all models keep."""
        metric: FairMetric = self.first.fit_metric(rows)
        for model in self.models:
            model.fair_metric_ = metric
        return metric


METRIC: Any = param(
    "group_direction",
    "Sensitive directions",
    options=METRICS,
    check=_check_metric,
    help="People who differ only in this are alike. It is the direction of a "
    "logistic regression that predicts the group, columns, or both; or it is learned "
    "from rows that a column says are comparable.",
    doc="Sensitive directions: that of a logistic regression that predicts "
    "the group, the values of ``columns``, both, or what comparable rows differ in "
    "(see `fairdash.metrics.comparable_directions`); or a metric of "
    "`fairdash.metrics`.",
    accepts='{"group_direction", "columns", "both", "comparable"} or FairMetric',
)


class LearnedMetric:
    """The metric of `FairMetricClassifier`, given or learned."""

    fair_metric_: FairMetric


class FairMetricClassifier(LearnedMetric, StackedClassifier):
    """Network classifier with a fair metric given or learned.

    A subclass's ``_trainer_class`` calls `share_metric`.
    """

    metric: str | FairMetric = positional(default=METRIC, kw_only=False)
    columns: str | Sequence[str] = param(
        "",
        "Columns that do not count",
        help="Features, with commas between them: race, marital_status.",
        doc='Columns whose values do not count, such as "race, sex"; with a one-hot '
        'encoding, all levels "race=...".',
        accepts="str or sequence of str",
    )
    comparable: str = param(
        "",
        "Column of comparable rows",
        only_with={"metric": COMPARABLE},
        added=True,
        help="Rows with the same value differ in nothing that should count: a pair, or "
        "one text with another name in it.",
        doc='Of a run: the column of the table that says which rows are "comparable". '
        "In Python give ``comparable_rows``.",
    )
    n_directions: int = param(
        N_DIRECTIONS,
        "Directions of comparable rows",
        high=50,
        advanced=True,
        only_with={"metric": COMPARABLE},
        added=True,
        help="Most directions in which comparable rows may differ for free.",
    )
    comparable_rows: Any = param(
        None,
        doc="Which training rows are comparable: those of one value.",
        accepts="array-like of shape (n_samples,) or None",
    )
    feature_names: Sequence[str] | None = param(
        None,
        doc="Names of the columns of X where it has none of its own.",
        accepts="sequence of str or None",
    )
    batches: str = param(
        "shuffled",
        "Minibatches",
        options={"shuffled": "as rows come", "balanced": "classes balanced"},
        advanced=True,
        help="Balanced: each outcome has half of the rows, for balanced accuracy.",
        doc="Balanced: each class has the same number of rows in a minibatch.",
    )
    n_epochs: int = vary(EPOCHS, high=1000)
    learning_rate: float = vary(LEARNING_RATE, low=1e-5, step=1e-5)

    def fit_metric(self, rows: Batch) -> FairMetric:
        """Return the metric of these training rows."""
        names = self._names()
        if isinstance(self.metric, FairMetric):
            metric_names = self.metric.feature_names
            # Names can only be compared where X has some.
            named = self.feature_names is not None or hasattr(self, "feature_names_in_")
            if len(metric_names) != len(names) or (named and metric_names != names):
                raise ValueError(
                    f"`metric` is of the {len(metric_names)} columns "
                    f"{', '.join(metric_names[:3])}, ..., "
                    f"X has {len(names)}, {', '.join(names[:3])}, .... Make it from "
                    "the columns of X, in their order."
                )
            return self.metric
        if self.metric == COMPARABLE:
            return comparable_directions(
                rows.X.cpu().numpy(),
                self.comparable_rows,
                names,
                columns=self._columns(),
                n_directions=self.n_directions,
            )
        columns = self._columns()
        if self.metric == "columns":
            return ignore_columns(columns, names)
        return group_directions(
            rows.X.cpu().numpy(),
            rows.groups.codes.cpu().numpy(),
            names,
            columns=columns if self.metric == "both" else (),
        )

    def _check_params(self) -> None:
        super()._check_params()
        if self.metric == COMPARABLE and self.comparable_rows is None:
            raise ValueError(
                "`metric` is 'comparable', and nothing says which rows are. Name the "
                "`comparable` column of a run, or give `comparable_rows` in Python."
            )
        if self.metric in ("columns", "both") and not self._columns():
            raise ValueError(
                "There is no sensitive direction: `metric` is "
                f"{self.metric!r} and `columns` names none. Name the columns that "
                "should not count, such as 'race, sex'."
            )

    def _names(self) -> tuple[str, ...]:
        names = self.feature_names
        if names is None:
            numbered = [f"x{i}" for i in range(self.n_features_in_)]
            names = getattr(self, "feature_names_in_", numbered)
        if len(names) != self.n_features_in_:
            message = f"`feature_names` has {len(names)} names for"
            raise ValueError(f"{message} {self.n_features_in_} columns.")
        return tuple(map(str, names))

    def _columns(self) -> list[str]:
        if isinstance(self.columns, str):
            return [name.strip() for name in self.columns.split(",") if name.strip()]
        return list(self.columns)


class WeightedPairs(FairMetricClassifier):
    """A fair metric classifier that weighs the distance of outputs of a pair."""

    fairness_weight: float = vary(
        FAIRNESS_WEIGHT,
        default=5.0,
        letter="ρ",
        high=100.0,
        step=0.5,
        help="How much it counts that people who are alike get the same output.",
        doc="The :math:`\\rho` above; 0 leaves the predictor alone.",
    )
