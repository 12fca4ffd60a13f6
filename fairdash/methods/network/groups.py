"""Sums, means and exponential weights within groups of rows, for a stack of models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fairdash.methods.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Groups:
    """Which group each row belongs to.

    Values of rows have shape (n_models, n_rows), of groups (n_models, n_groups). A
    group without rows in sight is skipped: nothing is divided by its size.

    Parameters
    ----------
    codes : Tensor of shape (n_rows,)
        Index of each row's group.
    n_groups : int
        How many groups there are, seen here or not.
    """

    codes: Tensor
    n_groups: int

    @cached_property
    def indicator(self) -> Tensor:
        """1 where a row belongs to a group; shape (n_rows, n_groups)."""
        return torch.nn.functional.one_hot(self.codes, self.n_groups).to(
            torch.get_default_dtype()
        )

    @cached_property
    def sizes(self) -> Tensor:
        """Rows per group, at least 1; shape (n_groups,)."""
        return self.indicator.sum(0).clamp(min=1)

    @cached_property
    def _outside(self) -> Tensor:
        """-inf where a row does not belong to a group, else 0; (n_groups, n_rows)."""
        return torch.where(self.indicator.T == 1, 0.0, -torch.inf)

    def __getitem__(self, rows: Tensor) -> Groups:
        return Groups(self.codes[rows], self.n_groups)

    def mean(self, values: Tensor) -> Tensor:
        """Return each row's group mean of ``values``."""
        # a product of matrices would round by the number of models
        sums = (values[:, None] * self.indicator.T).sum(-1)
        return (sums / self.sizes)[:, self.codes]

    def log_weights(self, logits: Tensor) -> Tensor:
        r"""Return log weights whose exponentials average to one within each group.

        .. math::

            \log r_i = h_i - \log \sum_{j: s_j = s_i} e^{h_j} + \log n_{s_i}

        Exact for logits :math:`h` of any size, since each group's largest is taken
        out before the exponential.
        """
        largest = (logits[:, None] + self._outside).amax(-1)[:, self.codes]
        centred = logits - largest
        return centred - self.mean(centred.exp()).log()


def binary_cross_entropy(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return loss and its derivative in ``logits`` row by row; target 0 or 1."""
    loss = logits.abs().neg_().exp_().log1p() + logits.relu() - logits * target
    return loss, sigmoid(logits) - target


def sigmoid(logits: Tensor) -> Tensor:
    """Return the logistic function, rounded alike wherever a number stands.

    torch's own (and its softplus) round the last few numbers of a tensor in another
    way than the others, so that a row's value would depend on the models beside it.
    """
    return logits.neg().exp_().add(1).reciprocal_()


def group_cross_entropy(outputs: Tensor, groups: Groups) -> tuple[Tensor, Tensor]:
    """Return the loss of guessing each row's group and its gradient in ``outputs``.

    ``outputs``, of shape (n_models, n_rows, n_outputs), are the logits of the second
    of two groups (one output), or of every group of more. The loss has shape
    (n_models, n_rows), the gradient the shape of ``outputs``.
    """
    if groups.n_groups == 2:
        loss, slope = binary_cross_entropy(outputs[..., 0], groups.indicator[:, 1])
        return loss, slope[..., None]
    loss = -(outputs.log_softmax(-1) * groups.indicator).sum(-1)
    return loss, group_slope(outputs, groups)


def group_slope(outputs: Tensor, groups: Groups) -> Tensor:
    """Return the gradient of `group_cross_entropy` alone."""
    if groups.n_groups == 2:
        return sigmoid(outputs) - groups.indicator[:, 1:]
    return outputs.softmax(-1) - groups.indicator
