"""A network without a fairness term, and with an adversary of its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted, column_or_1d

from fairdash._arrays import FloatArray
from fairdash.methods.declare import Method, positional, vary
from fairdash.methods.lazy import torch
from fairdash.methods.network import (
    Batch,
    StackedClassifier,
    Trainer,
    binary_cross_entropy,
    group_cross_entropy,
    group_slope,
)
from fairdash.methods.params import (
    ADVERSARY_EFFORTS,
    CONSTRAINT,
    FAIRNESS_WEIGHT,
    FAST,
    PAPER,
    WARM_UP,
    layers,
    steps,
)

if TYPE_CHECKING:
    from torch import Tensor

    from fairdash.methods.scorers import Network


class PlainTrainer(Trainer):
    """A predictor on its own, in descent of its cross-entropy."""

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Move the predictor one step; return its loss, one value per model."""
        logits = self.predictor.forward(batch.X)[..., 0]
        loss, slope = binary_cross_entropy(logits, batch.y)
        self.predictor.backward(slope[..., None] / len(batch))
        self.predictor.step()
        return {"loss": loss.mean(1)}


class Unconstrained(StackedClassifier):
    r"""Network classifier that minimises :math:`E[L_Y]` and nothing else.

    With the same ``random_state`` it starts from the weights, and sees the rows in the
    order, of the debiased networks.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    history_ : DataFrame
        ``epoch`` and mean ``loss`` of each.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = PlainTrainer
    _ignores_groups = True


UNCONSTRAINED = Method.of(
    Unconstrained,
    key="unconstrained",
    label="Unconstrained",
    title="Network without a fairness term",
    summary="Minimises only the prediction loss. Others are compared with it.",
    source="Grari et al., On the fairness ROAD (ICLR 2024), section 5, λ = 0",
    efforts={"fast": FAST, "paper": PAPER},
)


class AdversarialTrainer(Trainer):
    """Predictor f against adversary g, with weights r on the rows: here r = 1.

    ROAD and BROAD differ in ``fit_ratio`` alone, FAD in what g reads.
    """

    def prepare(self, rows: Batch) -> None:
        """Make the adversary."""
        self.knows_target = self.first.constraints == "equalized_odds"
        self.final_weight = self.per_model("fairness_weight")
        self.fairness_weight = self.final_weight
        self.warm_up = self.per_model("warm_up")
        self.adversary = self.network(
            self.width_read() + self.knows_target,
            self.first.adversary_layers,
            rows.groups.n_groups,
            seed=self.seeds[1],
        )

    def begin_epoch(self, done: float) -> None:
        """Let the fairness weight rise in a line while the warm-up lasts."""
        rising = self.warm_up > done
        share = torch.where(rising, done / self.warm_up, torch.ones_like(self.warm_up))
        self.fairness_weight = self.final_weight * share

    def width_read(self) -> int:
        """Return the number of outputs of f that the adversary reads."""
        return 1

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Take one pass of Algorithm 1 of ROAD's paper; return the players' losses.

        Adversary, weights and predictor move in turn, each against what the last one
        has become.
        """
        logits = self.predictor.forward(batch.X)[..., 0]
        # g descends mean L_S, unweighted; then L_S is computed once and held fixed.
        group_loss, slope = self.fit_adversary(logits, batch)
        # r descends mean(r L_S) + tau mean(r log r), without lambda.
        log_ratio = self.fit_ratio(group_loss, batch)
        # f descends mean L_Y - lambda mean(r L_S), r held fixed.
        loss = self.fit_predictor(logits, slope, log_ratio, batch)
        losses = {"loss": loss, "adversary_loss": group_loss, "weighted": group_loss}
        if log_ratio is not None:
            ratio = log_ratio.exp()
            losses["weighted"] = group_loss * ratio
            losses["divergence"] = ratio * log_ratio
        return {name: values.mean(1) for name, values in losses.items()}

    def fit_adversary(self, logits: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Let g descend mean L_S; return its loss afterwards, row by row, and slope."""
        inputs = self._adversary_inputs(logits, batch)
        for _ in range(self.first.n_adversary_steps):
            outputs = self.adversary.forward(inputs)
            self.adversary.backward(group_slope(outputs, batch.groups) / len(batch))
            self.adversary.step()
        return group_cross_entropy(self.adversary.forward(inputs), batch.groups)

    def fit_ratio(self, group_loss: Tensor, batch: Batch) -> Tensor | None:
        """Return log r of the batch, given L_S; None stands for r = 1."""
        return None

    def fit_predictor(
        self, logits: Tensor, slope: Tensor, log_ratio: Tensor | None, batch: Batch
    ) -> Tensor:
        """Let f descend mean L_Y - lambda mean(r L_S); return L_Y row by row."""
        loss, gradient = binary_cross_entropy(logits, batch.y)
        # The first input of g is f's logit; the others, such as y, do not move f.
        through_adversary = self.adversary.input_gradient(slope)[..., 0]
        if log_ratio is not None:
            through_adversary = through_adversary * log_ratio.exp()
        gradient = gradient - self.fairness_weight * through_adversary
        self.predictor.backward(gradient[..., None] / len(batch))
        self.predictor.step()
        return loss

    def group_loss(self, rows: Batch) -> Tensor:
        """Return L_S of all ``rows`` under the present f and g."""
        logits = self.predictor.predict(rows.X)[..., 0]
        outputs = self.adversary.predict(self._adversary_inputs(logits, rows))
        return group_cross_entropy(outputs, rows.groups)[0]

    def finish(self) -> None:
        """Let each model keep its adversary."""
        adversaries = self.adversary.networks()
        for model, adversary in zip(self.models, adversaries, strict=True):
            model.adversary_ = adversary

    def _adversary_inputs(self, logits: Tensor, batch: Batch) -> Tensor:
        # The logit, as in the public code of ROAD; its paper says the probability.
        if not self.knows_target:
            return logits[..., None]
        return torch.stack([logits, batch.y.expand_as(logits)], dim=-1)


class LearnedAdversary:
    """The adversary that a fit leaves behind, which is no parameter of it."""

    adversary_: Network


class AdversarialDebiasing(LearnedAdversary, StackedClassifier):
    r"""Network whose output an adversary cannot tell the group from.

    With predictor :math:`f`, adversary :math:`g` and cross-entropies
    :math:`L_Y(f(x), y)` and :math:`L_S(g(f(x)), s)`, training seeks

    .. math:: \min_f \max_g \; E[L_Y] - \lambda E[L_S] .

    Every minibatch moves g several steps on :math:`L_S`, then f one step. g reads the
    logit of f, and with ``constraints="equalized_odds"`` the target as well. More than
    two groups get an adversary with one output each.

    Source: Zhang, Lemoine and Mitchell, *Mitigating unwanted biases with adversarial
    learning* (2018), as the "globally fair" comparison of Grari et al., *On the
    fairness ROAD* (2024), section 3.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
        The predictor; its logit is the log odds of ``classes_[1]``.
    adversary_ : Network
        g as training left it: see `guess_groups`.
    history_ : DataFrame
        Mean losses per epoch: ``epoch``, ``loss`` (L_Y), ``adversary_loss`` (L_S).
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = AdversarialTrainer

    constraints: str = positional(default=CONSTRAINT, kw_only=False)
    fairness_weight: float = vary(
        FAIRNESS_WEIGHT, doc="The :math:`\\lambda` above; 0 leaves the predictor alone."
    )
    warm_up: float = WARM_UP
    adversary_layers: str | Sequence[int] = layers("complex", "Adversary network")
    n_adversary_steps: int = steps("Adversary steps", "Steps of g per step of f.")

    def guess_groups(self, X: ArrayLike, y: ArrayLike | None = None) -> FloatArray:
        """Return the adversary's probability of each group, (n_samples, n_groups).

        It is a function of what g reads alone: two samples of one output (and of one
        outcome, under equalized odds) get the same guess.

        Parameters
        ----------
        y : array-like of shape (n_samples,), optional
            Outcomes, which g reads with ``constraints="equalized_odds"``.

        Raises
        ------
        ValueError
            Under equalized odds without outcomes.
        """
        check_is_fitted(self, "adversary_")
        inputs = self._read_by_adversary(self._rows(X))
        if self.constraints == "equalized_odds":
            if y is None:
                raise ValueError(
                    "Under equalized odds the adversary reads outcomes: give `y`."
                )
            target = column_or_1d(y) == self.classes_[1]
            inputs = np.column_stack([inputs, target])
        outputs = self.adversary_.outputs(inputs)
        if outputs.shape[1] > 1:
            return np.asarray(softmax(outputs, axis=1))
        second = expit(outputs[:, 0])
        return np.column_stack([1 - second, second])

    def _read_by_adversary(self, rows: FloatArray) -> FloatArray:
        return self.network_.logits(rows)[:, None]


METHOD = Method.of(
    AdversarialDebiasing,
    key="adversarial",
    label="Zhang",
    title="Adversarial debiasing",
    summary="Hides the group from an adversary that reads the model's output; fair "
    "on the whole, not in every subgroup.",
    source="Zhang, Lemoine and Mitchell (2018), as in Grari et al., On the fairness "
    "ROAD (ICLR 2024), section 3",
    efforts=ADVERSARY_EFFORTS,
)
