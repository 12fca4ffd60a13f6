"""CLP: counterfactual logit pairing (Garg et al., AIES 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.callback import with_callbacks

from fairdash.methods.declare import Method
from fairdash.methods.individual.classifier import (
    LONG,
    SENSEI_PAPER,
    PairTrainer,
    WeightedPairs,
)
from fairdash.methods.lazy import torch
from fairdash.methods.network import Batch, Groups
from fairdash.methods.params import FAST
from fairdash.methods.scorers import Float32

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class PairedBatch(Batch):
    """Rows with the counterfactuals of each, (n_rows, n_counterfactuals, d)."""

    others: Tensor

    def __getitem__(self, rows: Tensor) -> PairedBatch:
        return PairedBatch(
            self.X[rows], self.y[rows], self.groups[rows], self.others[rows]
        )


class ClpTrainer(PairTrainer):
    """A predictor whose output is pulled towards that at a random counterfactual."""

    def prepare(self, rows: Batch) -> None:
        """Seed the draws; find the free directions where no counterfactuals are."""
        self.weight = self.each("fairness_weight")
        self._generator = torch.Generator().manual_seed(self.seeds[1])
        if not isinstance(rows, PairedBatch):
            free = self.share_metric(rows).basis.astype("float32")
            basis = torch.as_tensor(free, device=self.device)
            self.free = basis @ basis.T

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Draw counterfactuals and move the predictor; return losses."""
        n = len(batch)
        if isinstance(batch, PairedBatch):
            drawn = torch.randint(
                batch.others.shape[1], (n,), generator=self._generator
            )
            others = batch.others[torch.arange(n), drawn.to(batch.X.device)]
        else:
            drawn = torch.randperm(n, generator=self._generator)
            other_rows = batch.X[drawn.to(batch.X.device)]
            others = batch.X + (other_rows - batch.X) @ self.free
        n_models = self.predictor.n_models
        return self.pair_step(batch, others.expand(n_models, -1, -1), self.weight)


class CLP(WeightedPairs):
    r"""Network whose logits agree for a person and a given counterfactual.

    .. math:: \min_\theta E[\ell(y, h(x))] + \rho E[d_Y(h(x), h(\tilde{x}))]

    with :math:`\tilde{x}` drawn anew for every row and minibatch: one of the given
    ``counterfactuals``, or the row moved to another one along sensitive directions,
    :math:`x + P (x_j - x)` with the projector P on the free directions. For the levels
    of a column this is another person's value.

    Source: Garg et al., *Counterfactual fairness in text classification through
    robustness* (AIES 2019), section 4.3; :math:`d_Y` as in :class:`SenSeI`.

    Attributes
    ----------
    classes_, groups_, network_, ratio_, ratio_history_
        As in :class:`SenSeI`.
    history_ : DataFrame
        Means of each epoch: ``loss`` and ``fair_loss`` (d_Y).
    """

    _trainer_class = ClpTrainer

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
        counterfactuals: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        counterfactuals : array-like of shape (n_rows, d) or (n_rows, m, d), optional
            Counterfactuals of each row.
        """
        self._others = None if counterfactuals is None else _aligned(X, counterfactuals)
        try:
            self._fit_models([self], X, y, sensitive_features)
        finally:
            del self._others
        return self

    def _training_rows(self, X: Tensor, y: Tensor, groups: Groups) -> Batch:
        others = getattr(self, "_others", None)
        if others is None:
            return super()._training_rows(X, y, groups)
        return PairedBatch(X, y, groups, torch.as_tensor(others, device=X.device))


def _aligned(X: ArrayLike, counterfactuals: ArrayLike) -> Float32:
    rows, others = np.asarray(X), np.asarray(counterfactuals, np.float32)
    if others.ndim == 2:
        others = others[:, None]
    if others.ndim != 3 or (len(others), others.shape[2]) != rows.shape:
        raise ValueError(
            "Counterfactual pairs do not align: X has shape "
            f"{rows.shape}, `counterfactuals` {np.shape(counterfactuals)}. Give, for "
            "each row of X, one or more rows of the same columns."
        )
    if not np.isfinite(others).all():
        raise ValueError("`counterfactuals` must be finite numbers.")
    return others


METHOD = Method.of(
    CLP,
    key="clp",
    label="CLP",
    title="Counterfactual logit pairing",
    summary="Pulls the output of a person towards that of the same person moved to "
    "somebody else's place along the sensitive directions.",
    source=f"Garg et al. (AIES 2019), as in {SENSEI_PAPER}, section 4",
    efforts={"fast": FAST, "paper": LONG},
    needs_names=True,
)
