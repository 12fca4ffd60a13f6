"""BROAD: ROAD's weights in closed form, without a ratio network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairdash.methods.adversarial.road import ReweightedTrainer
from fairdash.methods.adversarial.zhang import AdversarialDebiasing
from fairdash.methods.declare import Method, vary
from fairdash.methods.network import Batch
from fairdash.methods.params import FAST, NORMALISATION, PAPER, TAU

if TYPE_CHECKING:
    from torch import Tensor


class BroadTrainer(ReweightedTrainer):
    """Adversarial training with Boltzmann weights of the adversary's loss."""

    def fit_ratio(self, group_loss: Tensor, batch: Batch) -> Tensor:
        """Return log r = -L_S / tau, normalised within the batch's groups."""
        return self.normalisation_groups(batch).log_weights(-group_loss / self.tau)

    def ratios(self, rows: Batch) -> Tensor:
        """Return r of all ``rows``, of mean one over the whole of each group."""
        return self.fit_ratio(self.group_loss(rows), rows).exp()


class BROAD(AdversarialDebiasing):
    r"""Boltzmann ROAD: each row weighted by how well the adversary does on it.

    As :class:`ROAD`, with the unrestricted minimiser in place of a network,

    .. math:: r_i = n_{s_i} e^{-L_{S,i}/\tau} \Big/ \sum_{s_j = s_i} e^{-L_{S,j}/\tau} .

    Held fixed, these weights give f the gradient of :math:`E[L_Y] - \lambda \sum_s p(s)
    (-\tau \log E[e^{-L_S/\tau} | s])`.

    Source: Grari et al., *On the fairness ROAD* (ICLR 2024), section 3.2.1.

    Attributes
    ----------
    history_, ratio_, ratio_history_
        As in :class:`ROAD`.
    """

    _trainer_class = BroadTrainer

    tau: float = vary(
        TAU, doc="Temperature of the weights, above 0; at 0 they are undefined."
    )
    normalisation: str = NORMALISATION


METHOD = Method.of(
    BROAD,
    key="broad",
    label="BROAD",
    title="Boltzmann ROAD",
    summary="ROAD with weights in closed form from the adversary's own loss.",
    source="Grari et al., On the fairness ROAD (ICLR 2024), section 3.2.1",
    efforts={
        "fast": {**FAST, "n_adversary_steps": 3},
        "paper": {**PAPER, "n_epochs": 175, "n_adversary_steps": 50},
    },
    gives_weights=True,
)
