"""Rows of a training set: features, outcomes, groups, and means of groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdash.methods.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Groups:
    """The group of each row.

    Values of rows have shape (n_models, n_rows), of groups (n_models, n_groups). A
    group without rows in sight is skipped: nothing is divided by its size.

    ``n_groups`` counts those seen here and those not. ``weight`` says how much each
    row counts in a mean; without, each counts once.
    """

    codes: Tensor
    n_groups: int
    weight: Tensor | None = None

    @cached_property
    def indicator(self) -> Tensor:
        """1 where a row belongs to a group; shape (n_rows, n_groups)."""
        one_hot = torch.nn.functional.one_hot(self.codes, self.n_groups)
        return one_hot.to(torch.get_default_dtype())

    @cached_property
    def sizes(self) -> Tensor:
        """Rows per group, at least 1; shape (n_groups,)."""
        return self.indicator.sum(0).clamp(min=1)

    @cached_property
    def _shares(self) -> tuple[Tensor, Tensor]:
        """Weight of each row in each group, and the sums of these by group."""
        if self.weight is None:
            return self.indicator.T, self.sizes
        counted = self.indicator.T * self.weight
        sums = counted.sum(-1)
        # A group that weighs nothing counts each of its rows once.
        counted = torch.where(sums[:, None] > 0, counted, self.indicator.T)
        return counted, torch.where(sums > 0, sums, self.sizes)

    @cached_property
    def _outside(self) -> Tensor:
        """Minus infinity where a row is not of a group, 0 elsewhere."""
        return torch.where(self.indicator.T == 1, 0.0, -torch.inf)

    def __getitem__(self, rows: Tensor) -> Groups:
        # Rows of a minibatch are drawn by their weight, so that each counts once.
        return Groups(self.codes[rows], self.n_groups)

    def mean(self, values: Tensor) -> Tensor:
        """Return each row's group mean of ``values``."""
        # A product of matrices would round by the number of models.
        counted, totals = self._shares
        sums = (values[:, None] * counted).sum(-1)
        return (sums / totals)[:, self.codes]

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


@dataclass(frozen=True)
class Batch:
    """Rows of the training set: features, target in {0, 1} as floats, groups."""

    X: Tensor
    y: Tensor
    groups: Groups

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: Tensor) -> Batch:
        return Batch(self.X[rows], self.y[rows], self.groups[rows])

    def weighing(self, weight: NDArray[np.float64] | None) -> Batch:
        """Return the same rows, of which means of groups are weighted."""
        if weight is None:
            return self
        relative = torch.as_tensor(weight / weight.mean(), dtype=self.y.dtype)
        groups = replace(self.groups, weight=relative.to(self.y.device))
        return replace(self, groups=groups)
