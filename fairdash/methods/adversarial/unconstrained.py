"""A network classifier without a fairness term: what the others are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairdash.methods.declare import Method, vary
from fairdash.methods.network import (
    Batch,
    StackedClassifier,
    Trainer,
    binary_cross_entropy,
)
from fairdash.methods.params import FAST, PAPER, PREDICTOR

if TYPE_CHECKING:
    from torch import Tensor


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
    network_ : Network
    history_ : DataFrame
        ``epoch`` and mean ``loss`` of each.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = PlainTrainer


class WideNetwork(Unconstrained):
    """One hidden layer of 128, trained as :class:`Unconstrained` is."""

    predictor_layers: str | Sequence[int] = vary(PREDICTOR, default=(128,), label="")


METHOD = Method.of(
    Unconstrained,
    key="unconstrained",
    label="Unconstrained",
    title="Network without a fairness term",
    summary="Minimises the prediction loss alone: what the others are held to.",
    source="Grari et al., On the fairness ROAD (ICLR 2024), section 5, λ = 0",
    efforts={"fast": FAST, "paper": PAPER},
)
WIDE_NETWORK = Method.of(
    WideNetwork,
    key="wide_network",
    label="Network of 128",
    title="Network with one hidden layer of 128",
    summary="The unconstrained network with one wide layer.",
    source="Base model of Alabdulmohsin and Lucic (NeurIPS 2021)",
    efforts={"fast": FAST, "paper": PAPER},
)
