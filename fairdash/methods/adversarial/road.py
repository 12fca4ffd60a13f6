"""ROAD and BROAD: adversarial debiasing that leans on locally unfair rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairdash.methods.adversarial.zhang import AdversarialDebiasing, AdversarialTrainer
from fairdash.methods.declare import Method, vary
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch, Groups
from fairdash.methods.params import FAST, NORMALISATION, PAPER, TAU, layers, steps

if TYPE_CHECKING:
    from torch import Tensor


class ReweightedTrainer(AdversarialTrainer):
    """Adversarial training with weights of mean one within groups (or overall)."""

    def prepare(self, rows: Batch) -> None:
        """Make the adversary; keep the settings of the weights."""
        super().prepare(rows)
        self.tau = self.per_model("tau")
        self.conditional = self.first.normalisation == "conditional"

    def normalisation_groups(self, batch: Batch) -> Groups:
        """Return the groups within which r averages to one."""
        if self.conditional:
            return batch.groups
        # The ablation of appendix A.2: one constraint over the whole batch.
        codes = torch.zeros_like(batch.groups.codes)
        return Groups(codes, 1, batch.groups.weight)


class RoadTrainer(ReweightedTrainer):
    """Algorithm 1 of the paper: predictor f, adversary g, ratio network r."""

    def prepare(self, rows: Batch) -> None:
        """Make the adversary and the ratio network."""
        super().prepare(rows)
        inputs = self.ratio_inputs(rows)
        self.ratio = self.network(
            inputs.shape[1], self.first.ratio_layers, seed=self.seeds[2], like=inputs
        )

    def fit_ratio(self, group_loss: Tensor, batch: Batch) -> Tensor:
        r"""Let r descend mean(r L_S) + tau mean(r log r), L_S held fixed.

        With :math:`c_i = r_i (L_{S,i} + \tau (\log r_i + 1))` the derivative in the
        network's output :math:`h_i` is :math:`c_i - r_i \bar c_{s_i}`, over the rows.
        """
        inputs = self.ratio.prepare(self.ratio_inputs(batch))
        groups = self.normalisation_groups(batch)
        for _ in range(self.first.n_ratio_steps):
            # Line 8 of Algorithm 1 lacks the factor n_s; section 3.2.2 has it, and
            # without it r would not average to one.
            log_ratio = groups.log_weights(self.ratio.forward(inputs)[..., 0])
            ratio = log_ratio.exp()
            cost = ratio * (group_loss + self.tau * (log_ratio + 1))
            # The second term is the derivative of the normalisation.
            slope = cost - ratio * groups.mean(cost)
            self.ratio.backward(slope[..., None] / len(batch))
            self.ratio.step()
        # The last step moved r, so its weights are computed once more.
        return groups.log_weights(self.ratio.forward(inputs)[..., 0])

    def ratios(self, rows: Batch) -> Tensor:
        """Return r of all ``rows``, of mean one over the whole of each group."""
        logits = self.ratio.predict(self.ratio_inputs(rows))[..., 0]
        return self.normalisation_groups(rows).log_weights(logits).exp()

    def ratio_inputs(self, batch: Batch) -> Tensor:
        """Return the inputs of r: features, group, and the target if g reads it."""
        group = batch.groups.indicator
        if batch.groups.n_groups == 2:
            group = group[:, 1:]  # the other column is one minus it
        columns = [batch.X, group]
        if self.knows_target:
            columns.append(batch.y[:, None])
        return torch.cat(columns, dim=1)


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

    Attributes
    ----------
    history_ : DataFrame
        As in :class:`AdversarialDebiasing`, and ``divergence``, mean r log r.
    ratio_ : ndarray of shape (n_samples,)
        Weights of the training rows, in their order.
    ratio_history_ : dict
        ``"epoch"`` (n_snapshots,) and ``"ratio"`` (n_snapshots, n_samples).
    """

    _trainer_class = RoadTrainer

    tau: float = vary(TAU, doc="The :math:`\\tau` above, above 0.")
    normalisation: str = NORMALISATION
    ratio_layers: str | Sequence[int] = layers("standard", "Ratio network")
    n_ratio_steps: int = steps("Ratio steps", "Steps of r per step of f.")


METHOD = Method.of(
    ROAD,
    key="road",
    label="ROAD",
    title="Robust optimisation for adversarial debiasing",
    summary="Adversarial debiasing that learns where the model is still unfair and "
    "turns there; no subgroups are given to it.",
    source="Grari et al., On the fairness ROAD (ICLR 2024), Eq. 6 and Algorithm 1",
    efforts={
        "fast": {**FAST, "n_adversary_steps": 3, "n_ratio_steps": 3},
        "paper": {**PAPER, "n_adversary_steps": 10, "n_ratio_steps": 10},
    },
    gives_weights=True,
)


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


BOLTZMANN = Method.of(
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
