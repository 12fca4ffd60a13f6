"""CLP: counterfactual logit pairing (Garg et al., AIES 2019)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.callback import with_callbacks
from torch import Tensor

from fairdash._validation import check_non_negative
from fairdash.methods._individual import (
    FairMetricClassifier,
    PairTrainer,
    each,
    share_metric,
)
from fairdash.methods.network import Batch, Groups
from fairdash.methods.plain_network import Float32
from fairdash.metrics import FairMetric


@dataclass(frozen=True)
class PairedBatch(Batch):
    """Rows with the counterfactuals of each, (n_rows, n_counterfactuals, d)."""

    others: Tensor

    def __getitem__(self, rows: Tensor) -> "PairedBatch":
        return PairedBatch(
            self.X[rows], self.y[rows], self.groups[rows], self.others[rows]
        )


class ClpTrainer(PairTrainer):
    """A predictor whose output is pulled towards that at a random counterfactual."""

    def __init__(
        self,
        models: Sequence[Any],
        rows: Batch,
        *,
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        super().__init__(models, rows, seeds=seeds, device=device)
        self.weight = each(models, "fairness_weight", device)
        self._generator = torch.Generator().manual_seed(seeds[1])
        if not isinstance(rows, PairedBatch):
            metric = share_metric(models, rows)
            basis = torch.as_tensor(metric.basis.astype("float32"), device=device)
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


class CLP(FairMetricClassifier):
    r"""Network whose logits agree for a person and a given counterfactual.

    .. math:: \min_\theta E[\ell(y, h(x))] + \rho E[d_Y(h(x), h(\tilde{x}))]

    with :math:`\tilde{x}` drawn anew for every row and minibatch: one of the given
    ``counterfactuals``, or the row with what does not count taken from another row,
    :math:`x + P (x_j - x)` with the projector P on the free directions. For the levels
    of a column this is another person's value.

    Source: Garg et al., *Counterfactual fairness in text classification through
    robustness* (AIES 2019), section 4.3; :math:`d_Y` as in :class:`SenSeI`.

    Parameters
    ----------
    metric, columns, feature_names
        What does not count, as in :class:`SenSeI`; unused with ``counterfactuals``.
    fairness_weight : float, default=5.0
        The :math:`\rho` above; 0 leaves the predictor alone.
    batches, predictor_layers, n_epochs, batch_size, learning_rate, device, random_state
        As in :class:`SenSeI`.

    Attributes
    ----------
    classes_, groups_, network_, ratio_, ratio_history_
        As in :class:`SenSeI`.
    history_ : DataFrame
        Means of each epoch: ``loss`` and ``fair_loss`` (d_Y).
    """

    _stackable: ClassVar[tuple[str, ...]] = ("fairness_weight",)
    _trainer_class = ClpTrainer

    def __init__(
        self,
        metric: str | FairMetric = "group_direction",
        *,
        columns: str | Sequence[str] = "",
        feature_names: Sequence[str] | None = None,
        fairness_weight: float = 5.0,
        batches: str = "shuffled",
        predictor_layers: str | Sequence[int] = (64, 32),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.columns = columns
        self.feature_names = feature_names
        self.fairness_weight = fairness_weight
        self.batches = batches
        self.predictor_layers = predictor_layers
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state

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
        X, y, sensitive_features
            As in the other methods.
        counterfactuals : array-like of shape (n_rows, d) or (n_rows, m, d), optional
            Counterfactuals of each row.
        """
        self._others = None if counterfactuals is None else _aligned(X, counterfactuals)
        try:
            self._fit_models([self], X, y, sensitive_features)
        finally:
            del self._others
        return self

    def _check_params(self) -> None:
        super()._check_params()
        check_non_negative("fairness_weight", self.fairness_weight)

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
