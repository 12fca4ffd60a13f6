"""Adam's steps, taken by a kernel that is no public function of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairdash.methods.lazy import torch

if TYPE_CHECKING:
    from torch import Tensor

# Numbers that the kernel takes at once, or a multiple of them.
LANES = 64


class Adam:
    """Adam's one kernel, without the bookkeeping of ``torch.optim``.

    That takes as long again as the kernel, for each of the many small steps. The kernel
    is no public function of torch 2.13, and no public one goes without the bookkeeping;
    ``tests/methods/test_stacked.py`` compares its steps with those of
    ``torch.optim.Adam``.

    The number of entries should be a multiple of `LANES`: the kernel rounds the last
    few otherwise, so that they would depend on what lies before them.
    """

    def __init__(
        self,
        place: Tensor,
        gradient: Tensor,
        learning_rate: float,
        *,
        uphill: bool = False,
    ) -> None:
        self.place = place
        self.gradient = gradient
        self._mean = torch.zeros_like(place)
        self._square = torch.zeros_like(place)
        self._steps = torch.zeros((), device=place.device)
        self._learning_rate = learning_rate
        self._uphill = uphill

    def step(self) -> None:
        """Move ``place`` along ``gradient``."""
        self._steps += 1
        torch._fused_adam_(
            [self.place],
            [self.gradient],
            [self._mean],
            [self._square],
            [],
            [self._steps],
            lr=self._learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=self._uphill,
        )
