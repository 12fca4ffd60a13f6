"""SenSR: sensitive subspace robustness (Yurochkin, Bower and Sun, ICLR 2020)."""

from collections.abc import Sequence
from typing import Any, ClassVar

from torch import Tensor

from fairdash.methods._individual import FairMetricClassifier, TargetLoss
from fairdash.methods._training import Batch
from fairdash.methods.sensei import AttackTrainer, check_attack
from fairdash.metrics import FairMetric


class SensrTrainer(AttackTrainer):
    """A predictor that descends its loss at the worst counterparts."""

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Find counterparts, move the predictor and λ; return losses."""
        loss = TargetLoss(batch.y)
        counterparts, distance = self.attack(batch.X, lambda _: loss, self.multiplier)
        outputs = self.predictor.forward(counterparts)
        losses = {"loss": loss.value(outputs).mean(1)}
        self.predictor.backward(loss.slope(outputs) / len(batch))
        self.predictor.step()
        return losses | self.move_multiplier(distance)


class SenSR(FairMetricClassifier):
    r"""Network that is as accurate for the worst counterpart of each person.

    .. math::

        \min_\theta \inf_{\lambda \geq 0} \lambda \epsilon + E \sup_{x'}
        [\ell(y, h(x')) - \lambda d_X(x, x')]

    Fairness has no weight of its own: as free moves cost nothing, even
    :math:`\epsilon = 0` asks for the same output along the free directions.

    Source: Yurochkin, Bower and Sun, *Training individually fair ML models with
    sensitive subspace robustness* (ICLR 2020).

    Parameters
    ----------
    metric, columns, feature_names
        As in :class:`SenSeI`.
    fair_radius : float, default=0.1
        The :math:`\epsilon` above.
    n_subspace_steps, n_full_steps, subspace_learning_rate, full_learning_rate
        As in :class:`SenSeI`.
    initial_multiplier, multiplier_learning_rate : float
        First :math:`\lambda` and the step of
        :math:`\lambda \leftarrow \max(0, \lambda - \eta (\epsilon - \bar d_X))`.
    batches, predictor_layers, n_epochs, batch_size, learning_rate, device, random_state
        As in :class:`SenSeI`.

    Attributes
    ----------
    As in :class:`SenSeI`; ``loss`` of ``history_`` is that of the counterparts.
    """

    _stackable: ClassVar[tuple[str, ...]] = ("fair_radius",)
    _trainer_class = SensrTrainer

    def __init__(
        self,
        metric: str | FairMetric = "group_direction",
        *,
        columns: str | Sequence[str] = "",
        feature_names: Sequence[str] | None = None,
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
        self.metric = metric
        self.columns = columns
        self.feature_names = feature_names
        self.fair_radius = fair_radius
        self.n_subspace_steps = n_subspace_steps
        self.subspace_learning_rate = subspace_learning_rate
        self.n_full_steps = n_full_steps
        self.full_learning_rate = full_learning_rate
        self.initial_multiplier = initial_multiplier
        self.multiplier_learning_rate = multiplier_learning_rate
        self.batches = batches
        self.predictor_layers = predictor_layers
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.device = device
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        check_attack(self)
