"""Rows most of whose columns hold one value: their products with a stack's weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fairdash.methods.lazy import torch
from fairdash.methods.network.products import product

if TYPE_CHECKING:
    from torch import Tensor

# The first rows decide which columns are sparse; no result depends on the decision.
INSPECTED_ROWS = 4096
# Share of other than the common value up to which a column is sparse.
RARE = 0.25
# Sparse columns from which to treat them separately pays.
WORTH = 16


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
    def _by_column(self) -> Bags:
        # Made for gradients only: a prediction needs none.
        return Bags(self._rest.T, self.n_models)

    def affine(self, weight: Tensor, bias: Tensor, *, out: Tensor) -> None:
        """Write inputs x weight + bias."""
        columns = self.columns
        common = columns.common.expand(self.n_models, 1, -1)
        # b + W'c, which the ones of D meet.
        level = product(common, weight, plus=bias)
        dense_weight = torch.cat([weight[:, columns.dense], level], dim=1)
        product(self.dense, dense_weight, out=out)
        out += self._by_row.sums(weight)

    def gradients(self, delta: Tensor, *, weight: Tensor, bias: Tensor) -> None:
        """Write the gradients in weight and bias, given that in the outputs."""
        dense_gradient = product(self.dense.mT, delta)
        # The last column of D is of ones.
        bias.copy_(dense_gradient[:, -1:])
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
