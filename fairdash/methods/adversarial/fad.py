"""FAD: an adversary that reads the predictor's last hidden layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairdash.methods.adversarial.zhang import AdversarialDebiasing, AdversarialTrainer
from fairdash.methods.declare import Method
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch, binary_cross_entropy
from fairdash.methods.params import FAST, PAPER, hidden_layers

if TYPE_CHECKING:
    from torch import Tensor


class FadTrainer(AdversarialTrainer):
    """Predictor f against an adversary g of its last hidden layer."""

    def width_read(self) -> int:
        """Return the width of f's last hidden layer."""
        return self.predictor.sizes[-2]

    def fit_predictor(
        self, logits: Tensor, slope: Tensor, log_ratio: Tensor | None, batch: Batch
    ) -> Tensor:
        """Let f descend mean L_Y - lambda mean L_S; return L_Y row by row."""
        loss, gradient = binary_cross_entropy(logits, batch.y)
        read = self.adversary.input_gradient(slope)[..., : self.predictor.sizes[-2]]
        weight = self.fairness_weight[..., None] / len(batch)
        self.predictor.backward(
            gradient[..., None] / len(batch), at_hidden=-weight * read
        )
        self.predictor.step()
        return loss

    def _adversary_inputs(self, logits: Tensor, batch: Batch) -> Tensor:
        hidden = self.predictor.hidden
        if not self.knows_target:
            return hidden
        target = batch.y.expand_as(logits)[..., None]
        return torch.cat([hidden, target], dim=-1)


class FAD(AdversarialDebiasing):
    r"""Network whose last hidden layer an adversary cannot tell the group from.

    As :class:`AdversarialDebiasing`, with :math:`g` reading the last hidden layer
    :math:`h` of the predictor instead of its output,

    .. math:: \min_f \max_g \; E[L_Y] - \lambda E[L_S(g(h(x)), s)] .

    With ``constraints="equalized_odds"`` g reads the target as well. A linear predictor
    has no hidden layer to read.

    Source: Adel, Valera, Ghahramani and Weller, *One-network adversarial fairness*
    (AAAI 2019), as compared by Grari et al., *On the fairness ROAD* (ICLR 2024).

    Attributes
    ----------
    As in :class:`AdversarialDebiasing`.
    """

    _trainer_class = FadTrainer

    def _check_params(self) -> None:
        super()._check_params()
        if not hidden_layers(self.predictor_layers):
            raise ValueError(
                "`predictor_layers` has no hidden layer, which is what FAD's adversary "
                "reads; use 'medium' or more, or AdversarialDebiasing."
            )


METHOD = Method.of(
    FAD,
    key="fad",
    label="FAD",
    title="Fair adversarial debiasing of the hidden layer",
    summary="Hides the group from an adversary that reads the network's last hidden "
    "layer instead of its output.",
    source="Adel, Valera, Ghahramani and Weller, One-network adversarial fairness "
    "(AAAI 2019)",
    efforts={
        "fast": {**FAST, "n_adversary_steps": 3},
        "paper": {**PAPER, "n_adversary_steps": 10},
    },
)
