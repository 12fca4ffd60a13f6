"""ROAD: adversarial debiasing whose adversary leans on locally unfair rows."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fairdash._validation import check_one_of, check_positive, check_whole
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._groups import Groups
from fairdash.methods._training import Batch
from fairdash.methods.adversarial import AdversarialDebiasing, AdversarialTrainer

NORMALISATIONS = ("conditional", "global")


class ReweightedTrainer(AdversarialTrainer):
    """Adversarial training with weights of mean one within groups (or overall)."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        super().__init__(models, rows, seeds=seeds, device=device)
        self.tau = torch.tensor([[float(model.tau)] for model in models], device=device)
        self.conditional = models[0].normalisation == "conditional"

    def normalisation_groups(self, batch: Batch) -> Groups:
        """Return the groups within which r averages to one."""
        if self.conditional:
            return batch.groups
        return Groups(torch.zeros_like(batch.groups.codes), 1)


class RoadTrainer(ReweightedTrainer):
    """Algorithm 1 of the paper: predictor f, adversary g, ratio network r."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        super().__init__(models, rows, seeds=seeds, device=device)
        first = models[0]
        self.n_ratio_steps = first.n_ratio_steps
        inputs = self.ratio_inputs(rows)
        self.ratio = self.make_network(
            (inputs.shape[1], *hidden_layers(first.ratio_layers), 1),
            models,
            seed=seeds[2],
            device=device,
            like=inputs,
        )

    def fit_ratio(self, group_loss: Tensor, batch: Batch) -> Tensor:
        r"""Let r descend mean(r L_S) + tau mean(r log r), L_S held fixed.

        With :math:`c_i = r_i (L_{S,i} + \tau (\log r_i + 1))` the derivative in the
        network's output :math:`h_i` is :math:`c_i - r_i \bar c_{s_i}`, over the rows.
        """
        inputs = self.ratio.prepare(self.ratio_inputs(batch))
        groups = self.normalisation_groups(batch)
        for _ in range(self.n_ratio_steps):
            log_ratio = groups.log_weights(self.ratio.forward(inputs)[..., 0])
            ratio = log_ratio.exp()
            cost = ratio * (group_loss + self.tau * (log_ratio + 1))
            slope = cost - ratio * groups.mean(cost)
            self.ratio.backward(slope[..., None] / len(batch))
            self.ratio.step()
        return groups.log_weights(self.ratio.forward(inputs)[..., 0])

    def ratios(self, rows: Batch) -> Tensor:
        """Return r of all ``rows``, of mean one over the whole of each group."""
        logits = self.ratio.predict(self.ratio_inputs(rows))[..., 0]
        return self.normalisation_groups(rows).log_weights(logits).exp()

    def ratio_inputs(self, batch: Batch) -> Tensor:
        """Return what r sees: features, group, and the target if g sees it."""
        indicator = batch.groups.indicator
        group = indicator[:, 1:] if batch.groups.n_groups == 2 else indicator
        target = [batch.y[:, None]] if self.knows_target else []
        return torch.cat([batch.X, group, *target], dim=1)


class ROAD(AdversarialDebiasing):
    r"""Robust Optimisation for Adversarial Debiasing: fair in unknown subgroups.

    Weights :math:`r(x, s)`, of mean one within each group, move the adversary's
    attention to the rows whose group the predictor still gives away:

    .. math::

        \min_f \max_g \; E[L_Y] - \lambda E[r L_S]
        \quad\text{with}\quad
        r = \arg\min_r E[r L_S] + \tau E[r \log r] .

    Small :math:`\tau` concentrates on few rows (local), large :math:`\tau` gives
    :math:`r = 1`, that is :class:`AdversarialDebiasing` (global). One step: g descends
    unweighted :math:`L_S` several times; r, a network with exact normalisation
    :math:`\log r_i = h_i - \log\sum_{s_j = s_i} e^{h_j} + \log n_{s_i}`, descends its
    objective several times; f takes one step.

    Source: Grari, Laugel, Hashimoto, Lamprier and Detyniecki, *On the fairness ROAD:
    robust optimization for adversarial debiasing* (ICLR 2024), Eq. 6 and Algorithm 1.

    Parameters
    ----------
    constraints, fairness_weight, predictor_layers, adversary_layers, \
n_adversary_steps, n_epochs, batch_size, learning_rate, device, random_state
        As in :class:`AdversarialDebiasing`.
    tau : float, default=0.3
        The :math:`\tau` above, above 0.
    ratio_layers : str or tuple of int, default=(64, 32)
        Hidden widths of the ratio network.
    n_ratio_steps : int, default=3
        Steps of r per step of f.
    normalisation : {"conditional", "global"}
        Whether r averages to one within each group or over all rows (the ablation of
        the paper's appendix A.2).

    Attributes
    ----------
    history_ : DataFrame
        As in :class:`AdversarialDebiasing`, and ``divergence``, mean r log r.
    ratio_ : ndarray of shape (n_samples,)
        Weights of the training rows, in their order.
    ratio_history_ : dict
        ``"epoch"`` (n_snapshots,) and ``"ratio"`` (n_snapshots, n_samples).
    """

    _stackable = ("fairness_weight", "tau")
    _trainer_class = RoadTrainer

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        fairness_weight: float = 1.0,
        tau: float = 0.3,
        predictor_layers: str | Sequence[int] = (64, 32),
        adversary_layers: str | Sequence[int] = (64, 32, 16),
        ratio_layers: str | Sequence[int] = (64, 32),
        n_adversary_steps: int = 3,
        n_ratio_steps: int = 3,
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
        self.ratio_layers = ratio_layers
        self.n_ratio_steps = n_ratio_steps
        self.normalisation = normalisation

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("tau", self.tau)
        check_whole("n_ratio_steps", self.n_ratio_steps, at_least=1)
        check_one_of("normalisation", self.normalisation, NORMALISATIONS)
        hidden_layers(self.ratio_layers, name="ratio_layers")
