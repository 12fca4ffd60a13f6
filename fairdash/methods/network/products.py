"""Products of stacked networks: alike for one model and many, quick for sparse rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

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
    if n_inner == 1:  # a column with a row: nothing is added up, so nothing rounds
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
        left = torch.randn(1, n_rows, 41, generator=random)
        right = torch.randn(1, 41, n_columns, generator=random)
        products = torch.bmm(left.expand(4, -1, -1), right.expand(4, -1, -1))
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
    shared = right.stride(0) == 0
    padded = torch.nn.functional.pad(right[:1] if shared else right, extra)
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
        left = torch.empty_strided(left_shape, left_stride, dtype=torch.float32)
        right = torch.empty_strided(right_shape, right_stride, dtype=torch.float32)
        left.normal_(generator=random)
        right.normal_(generator=random)
        plus = None
        if not bare:
            plus = torch.ones(1, left_shape[1], right_shape[2], dtype=torch.float32)
        expected = doubled_product(left, right, plus, None)
        if not torch.equal(plain_product(left, right, plus, None), expected):
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


INSPECTED_ROWS = 4096  # the first, which decide; no result depends on the decision
RARE = 0.25  # share of other than the common value up to which a column is sparse
WORTH = 16  # sparse columns from which to treat them apart pays


@dataclass(frozen=True)
class SparseColumns:
    """Columns of a training set that hold one value in most rows.

    Parameters
    ----------
    dense : Tensor of shape (n_dense,)
        Indices of the other columns.
    common : Tensor of shape (n_features,)
        The commonest value of each sparse column; 0 for a dense one.
    sparse : Tensor of shape (n_features,)
        Whether a column is sparse.
    """

    dense: Tensor
    common: Tensor
    sparse: Tensor


def find_sparse(X: Tensor) -> SparseColumns | None:
    """Return the columns of ``X`` to treat as sparse; None where that would not pay."""
    if X.device.type != "cpu":
        return None
    rows = X[:INSPECTED_ROWS].numpy()
    # A value in more than half of the rows, as a sparse column has, is the median.
    commonest = np.median(rows, axis=0)
    rare = (rows != commonest).mean(axis=0) <= RARE
    if rare.sum() < WORTH:
        return None
    is_sparse = torch.as_tensor(rare)
    common = torch.where(is_sparse, torch.as_tensor(commonest), 0).to(X)
    dense = torch.nonzero(~is_sparse)[:, 0]
    return SparseColumns(dense, common, is_sparse)


class SparseRows:
    r"""A minibatch as :math:`X = D + 1 c^\top + S`.

    D has the dense columns, c the common values, and S few entries other than 0. So

    .. math::

        X W + 1 b^\top = D W + 1 (b + W^\top c)^\top + S W ,\qquad
        X^\top \delta = D^\top \delta + c (\delta^\top 1)^\top + S^\top \delta

    where only :math:`D` enters a product of matrices, with a column of ones for the
    middle term. Sums over the entries of S, for all models at once, are bags of rows.
    """

    def __init__(self, rows: Tensor, columns: SparseColumns, n_models: int) -> None:
        self.shape = rows.shape
        self.n_models = n_models
        self.columns = columns
        ones = rows.new_ones(len(rows), 1)
        dense = torch.cat([rows[:, columns.dense], ones], dim=1)
        self.dense = dense.expand(n_models, *dense.shape)
        self._rest = (rows - columns.common).mul_(columns.sparse)

    @cached_property
    def _by_row(self) -> Bags:
        return Bags(self._rest, self.n_models)

    @cached_property
    def _by_column(self) -> Bags:  # for gradients: a prediction needs none
        return Bags(self._rest.T, self.n_models)

    def affine(self, weight: Tensor, bias: Tensor, *, out: Tensor) -> None:
        """Write inputs x weight + bias."""
        columns = self.columns
        common = columns.common.expand(self.n_models, 1, -1)
        level = product(common, weight, plus=bias)  # b + W'c, met by the ones of D
        dense_weight = torch.cat([weight[:, columns.dense], level], dim=1)
        product(self.dense, dense_weight, out=out)
        out += self._by_row.sums(weight)

    def gradients(self, delta: Tensor, *, weight: Tensor, bias: Tensor) -> None:
        """Write the gradients in weight and bias, given that in the outputs."""
        dense_gradient = product(self.dense.mT, delta)
        bias.copy_(dense_gradient[:, -1:])  # from the column of ones
        sums = self._by_column.sums(delta)
        torch.addcmul(sums, self.columns.common[:, None], bias, out=weight)
        weight[:, self.columns.dense] = dense_gradient[:, :-1]


class Bags:
    """The product of a sparse matrix, the same for all models, with one of each.

    ``matrix``, (n, m), is nearly all 0.
    """

    def __init__(self, matrix: Tensor, n_models: int) -> None:
        row, column = torch.nonzero(matrix, as_tuple=True)
        model = torch.arange(n_models)[:, None]
        self._entries = (model * matrix.shape[1] + column).flatten()
        self._values = matrix[row, column].repeat(n_models)
        sizes = row.bincount(minlength=len(matrix)).repeat(n_models)
        self._starts = sizes.cumsum(0) - sizes

    def sums(self, factors: Tensor) -> Tensor:
        """Return matrix x factors; (n_models, m, k) becomes (n_models, n, k)."""
        total = torch.nn.functional.embedding_bag(
            self._entries,
            factors.reshape(-1, factors.shape[2]),
            self._starts,
            mode="sum",
            per_sample_weights=self._values,
        )
        return total.view(len(factors), -1, factors.shape[2])
