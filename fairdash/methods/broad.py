"""BROAD: ROAD's weights in closed form, without a ratio network."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from fairdash._validation import check_one_of, check_positive
from fairdash.methods._training import Batch
from fairdash.methods.adversarial import AdversarialDebiasing
from fairdash.methods.road import NORMALISATIONS, ReweightedTrainer


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

    Source: Grari et al., *On the fairness ROAD* (ICLR 2024), section 4.2.

    Parameters
    ----------
    constraints, fairness_weight, predictor_layers, adversary_layers, \
n_adversary_steps, n_epochs, batch_size, learning_rate, device, random_state
        As in :class:`AdversarialDebiasing`.
    tau : float, default=0.3
        Temperature of the weights, above 0; at 0 they are undefined.
    normalisation : {"conditional", "global"}
        Whether r averages to one within each group or over all rows.

    Attributes
    ----------
    history_, ratio_, ratio_history_
        As in :class:`ROAD`.
    """

    _stackable = ("fairness_weight", "tau")
    _trainer_class = BroadTrainer

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        fairness_weight: float = 1.0,
        tau: float = 0.3,
        predictor_layers: str | Sequence[int] = (64, 32),
        adversary_layers: str | Sequence[int] = (64, 32, 16),
        n_adversary_steps: int = 3,
        normalisation: str = "conditional",
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            constraints,
            fairness_weight=fairness_weight,
            predictor_layers=predictor_layers,
            adversary_layers=adversary_layers,
            n_adversary_steps=n_adversary_steps,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            random_state=random_state,
        )
        self.tau = tau
        self.normalisation = normalisation

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("tau", self.tau)
        check_one_of("normalisation", self.normalisation, NORMALISATIONS)
