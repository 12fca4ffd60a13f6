"""Products of stacked networks, which round alike for one model and for many."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from fairdash.methods.lazy import torch

LANE = 4  # numbers of 16 bytes

if TYPE_CHECKING:
    from torch import Tensor

    ProductFunction = Callable[[Tensor, Tensor, Tensor | None, Tensor | None], Tensor]


def product(
    left: Tensor,
    right: Tensor,
    *,
    plus: Tensor | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return left x right (+ plus), for each model the same bits in any stack.

    A single product with one row or one column may take another kernel than several,
    which rounds otherwise: see `choose_single_product`.
    """
    n_models, n_rows, n_inner = left.shape
    n_columns = right.shape[2]
    # A column with a row: nothing is added up, so nothing rounds.
    if n_inner == 1:
        if plus is None:
            return torch.mul(left, right, out=out)
        return torch.addcmul(plus, left, right, out=out)
    if n_columns > LANE and right.stride(2) == 1 and not is_steady():
        if n_columns % LANE:
            return padded_product(left, right, plus, out)
        # The result must begin at a lane: in fresh memory it does.
        if out is not None and out.data_ptr() % (LANE * out.element_size()):
            return out.copy_(product(left, right, plus=plus))
    if n_models == 1 and (n_rows == 1 or n_columns == 1):
        single_product = choose_single_product(
            left.shape, left.stride(), right.shape, right.stride(), plus is None
        )
        return single_product(left, right, plus, out)
    return plain_product(left, right, plus, out)


@cache
def is_steady() -> bool:
    """Return whether products round alike wherever in memory their results begin.

    On some processors one that begins between two lanes of 16 bytes is rounded in
    another way, so in a stack where odd widths put it, at another bit than alone.
    """
    random = torch.Generator().manual_seed(0)
    for n_rows, n_columns in ((1, 37), (2, 37), (3, 7), (90, 37)):
        left_factor = torch.randn(1, n_rows, 41, generator=random)
        right = torch.randn(1, 41, n_columns, generator=random)
        products = torch.bmm(left_factor.expand(4, -1, -1), right.expand(4, -1, -1))
        if not (products == products[:1]).all():
            return False
    return True


def padded_product(
    left: Tensor, right: Tensor, plus: Tensor | None, out: Tensor | None
) -> Tensor:
    """Return left x right + plus, with columns of zeros up to a whole lane between."""
    n_models, _, n_columns = right.shape
    extra = (0, -n_columns % LANE)
    # Where all models share one matrix, it is padded once.
    is_shared = right.stride(0) == 0
    padded = torch.nn.functional.pad(right[:1] if is_shared else right, extra)
    padded = padded.expand(n_models, -1, -1)
    if plus is not None and plus.shape[-1] == n_columns:
        plus = torch.nn.functional.pad(plus, extra)
    result = product(left, padded, plus=plus)[:, :, :n_columns]
    if out is None:
        return result.contiguous()
    return out.copy_(result)


@cache
def choose_single_product(
    left_shape: tuple[int, ...],
    left_stride: tuple[int, ...],
    right_shape: tuple[int, ...],
    right_stride: tuple[int, ...],
    bare: bool,
) -> ProductFunction:
    """Return a function for a single product that rounds like one of several.

    `doubled_product` always does. Whether `plain_product` does depends on the processor
    and on how numbers lie in memory, so it is tried, once, with operands of these
    shapes and strides. ``bare`` products have nothing added.
    """
    random = torch.Generator().manual_seed(0)
    for _ in range(4):
        left_factor = torch.empty_strided(left_shape, left_stride, dtype=torch.float32)
        right = torch.empty_strided(right_shape, right_stride, dtype=torch.float32)
        left_factor.normal_(generator=random)
        right.normal_(generator=random)
        plus = None
        if not bare:
            plus = torch.ones(1, left_shape[1], right_shape[2], dtype=torch.float32)
        expected = doubled_product(left_factor, right, plus, None)
        if not torch.equal(plain_product(left_factor, right, plus, None), expected):
            return doubled_product
    return plain_product


def plain_product(
    left: Tensor, right: Tensor, plus: Tensor | None, out: Tensor | None
) -> Tensor:
    """Return left x right + plus."""
    if plus is None:
        return torch.bmm(left, right, out=out)
    return torch.baddbmm(plus, left, right, out=out)


def doubled_product(
    left: Tensor, right: Tensor, plus: Tensor | None, out: Tensor | None
) -> Tensor:
    """Return left x right + plus as the first of two equal products."""
    left = left.expand(2, *left.shape[1:])
    right = right.expand(2, *right.shape[1:])
    if plus is not None:
        plus = plus.expand(2, *plus.shape[1:])
    result = plain_product(left, right, plus, None)[:1]
    if out is None:
        return result
    return out.copy_(result)
