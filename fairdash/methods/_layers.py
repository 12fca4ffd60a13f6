"""The products of a layer of stacked networks, and where its parameters lie."""

import torch
from torch import Tensor

from fairdash.methods._sparse_rows import SparseRows

# Products with a matrix of one row or one column, as at either end of the adversary,
# take a quarter of the time or less when not written as the general product.


def affine(
    inputs: Tensor | SparseRows, weight: Tensor, bias: Tensor, *, out: Tensor
) -> None:
    """Write inputs x weight + bias."""
    if isinstance(inputs, SparseRows):
        inputs.affine(weight, bias, out=out)
    elif weight.shape[1] == 1:
        torch.addcmul(bias, inputs, weight, out=out)
    elif weight.shape[2] == 1:
        torch.baddbmm(bias, weight.mT, inputs.mT, out=out.mT)
    else:
        torch.baddbmm(bias, inputs, weight, out=out)


def gradients(
    inputs: Tensor | SparseRows, delta: Tensor, *, weight: Tensor, bias: Tensor
) -> None:
    """Write the gradients in weight and bias, given that in the layer's outputs."""
    if isinstance(inputs, SparseRows):
        inputs.gradients(delta, weight=weight, bias=bias)
        return
    torch.sum(delta, 1, keepdim=True, out=bias)
    if delta.shape[2] == 1:
        torch.bmm(delta.mT, inputs, out=weight.mT)
    else:
        torch.bmm(inputs.mT, delta, out=weight)


def input_gradient(delta: Tensor, weight: Tensor, *, out: Tensor) -> None:
    """Write the gradient in the layer's inputs, given that in its outputs."""
    if delta.shape[2] == 1:
        torch.mul(delta, weight.mT, out=out)
    else:
        torch.bmm(delta, weight.mT, out=out)


def views(
    flat: Tensor, lengths: list[int], shapes: list[tuple[int, int]], n_models: int
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights and the biases that lie one after the other in ``flat``."""
    views = [
        part.view(n_models, *shape)
        for part, shape in zip(flat.split(lengths), shapes, strict=True)
    ]
    return views[::2], views[1::2]
