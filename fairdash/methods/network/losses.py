"""Losses of a stack, row by row, with their derivatives written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairdash.methods.network.rows import Groups

if TYPE_CHECKING:
    from torch import Tensor


def binary_cross_entropy(logits: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Return loss and its derivative in ``logits`` row by row; target 0 or 1."""
    # log(1 + e^f) = log(1 + e^-|f|) + max(f, 0): the exponential cannot overflow.
    loss = logits.abs().neg_().exp_().log1p_().add_(logits.relu())
    loss.sub_(logits * target)
    slope = sigmoid(logits).sub_(target)
    return loss, slope


def sigmoid(logits: Tensor) -> Tensor:
    """Return the logistic function, rounded alike wherever a number stands.

    torch's own (and its softplus) round the last few numbers of a tensor in another
    way than the others, so that a row's value would depend on the models beside it.
    """
    return logits.neg().exp_().add_(1).reciprocal_()


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
        return sigmoid(outputs).sub_(groups.indicator[:, 1:])
    return outputs.softmax(-1) - groups.indicator
