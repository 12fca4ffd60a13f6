"""SenSeI: sensitive set invariance (Yurochkin and Sun, ICLR 2021)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from fairdash._validation import check_non_negative
from fairdash.methods._individual import OutputDistance, each
from fairdash.methods._search import AttackClassifier, AttackTrainer
from fairdash.methods.network import Batch
from fairdash.metrics import FairMetric


class SenseiTrainer(AttackTrainer):
    """Algorithm 1 of the paper."""

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

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        counterparts, distance = self.attack(batch.X, OutputDistance, self.multiplier)
        losses = self.pair_step(batch, counterparts, self.weight)
        return losses | self.move_multiplier(distance, self.weight)


class SenSeI(AttackClassifier):
    r"""Network whose output does not change between people who are alike.

    .. math::

        \min_\theta \inf_{\lambda \geq 0} E[\ell(y, h(x))] + \rho \Bigl( \lambda
        \epsilon + E \sup_{x'} [d_Y(h(x), h(x')) - \lambda d_X(x, x')] \Bigr)

    with :math:`d_Y = \frac{1}{K} \lVert h(x) - h(x') \rVert^2` on logits (one logit s
    stands for -s/2 and s/2) and the fair metric :math:`d_X = (x-x')^T \Sigma (x-x')`.
    Each minibatch finds x' in two phases (see ``Attack``), then moves
    :math:`\lambda \leftarrow \max(0, \lambda - \eta \rho (\epsilon - \bar d_X))` and
    the network.

    Source: Yurochkin and Sun, *SenSeI: Sensitive set invariance for enforcing
    individual fairness* (ICLR 2021), Eq. 2.7 and Algorithm 1.

    Parameters
    ----------
    metric : {"group_direction", "columns", "both"} or FairMetric
        What does not count: the direction of a logistic regression that predicts the
        group, the values of ``columns``, or both; or a metric of `fairdash.metrics`.
    columns : str or sequence of str
        Columns whose values do not count, such as "race, sex"; with a one-hot
        encoding, all levels "race=...".
    feature_names : sequence of str, optional
        Names of the columns of X where it has none of its own.
    fairness_weight : float, default=5.0
        The :math:`\rho` above; 0 leaves the predictor alone.
    fair_radius : float, default=0.1
        The :math:`\epsilon` above: squared fair distance allowed on average.
    n_subspace_steps, n_full_steps : int
        Steps of the search along the free directions and in all.
    subspace_learning_rate, full_learning_rate : float
        Step sizes of the search, in units of the encoded columns.
    initial_multiplier, multiplier_learning_rate : float
        First :math:`\lambda` and its step size :math:`\eta`.
    batches : {"shuffled", "balanced"}
        Balanced: each class has the same number of rows in a minibatch.
    predictor_layers : str or tuple of int, default=(64, 32)
        Hidden widths, or "simple" (), "medium" (32,), "standard" (64, 32), "complex".
    n_epochs, batch_size, learning_rate : int, int, float
        Passes over the rows, rows a minibatch, Adam's step size.
    device : {"auto", "cpu", "cuda"}
    random_state : int, RandomState instance or None
        Seed of weights, of the order of rows and of the search.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Network
        One logit, or one for each of more than two classes.
    fair_metric_ : FairMetric
    history_ : DataFrame
        Means of each epoch: ``loss``, ``fair_loss`` (d_Y at the counterparts),
        ``distance`` (d_X), ``multiplier`` and ``free_sensitivity``, the norm of
        :math:`A^T W_1`, which is 0 when free moves are not seen.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _stackable: ClassVar[tuple[str, ...]] = ("fairness_weight", "fair_radius")
    _trainer_class = SenseiTrainer

    def __init__(
        self,
        metric: str | FairMetric = "group_direction",
        *,
        columns: str | Sequence[str] = "",
        feature_names: Sequence[str] | None = None,
        fairness_weight: float = 5.0,
        fair_radius: float = 0.1,
        n_subspace_steps: int = 10,
        subspace_learning_rate: float = 0.5,
        n_full_steps: int = 5,
        full_learning_rate: float = 0.02,
        initial_multiplier: float = 2.0,
        multiplier_learning_rate: float = 0.01,
        batches: str = "shuffled",
        predictor_layers: str | Sequence[int] = (64, 32),
        n_epochs: int = 40,
        batch_size: int = 512,
        learning_rate: float = 1e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            metric,
            columns=columns,
            feature_names=feature_names,
            fair_radius=fair_radius,
            n_subspace_steps=n_subspace_steps,
            subspace_learning_rate=subspace_learning_rate,
            n_full_steps=n_full_steps,
            full_learning_rate=full_learning_rate,
            initial_multiplier=initial_multiplier,
            multiplier_learning_rate=multiplier_learning_rate,
            batches=batches,
            predictor_layers=predictor_layers,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            random_state=random_state,
        )
        self.fairness_weight = fairness_weight

    def _check_params(self) -> None:
        super()._check_params()
        check_non_negative("fairness_weight", self.fairness_weight)
