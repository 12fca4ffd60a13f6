"""SenSR: sensitive subspace robustness (Yurochkin, Bower and Sun, ICLR 2020)."""

from typing import ClassVar

from torch import Tensor

from fairdash.methods._individual import TargetLoss
from fairdash.methods._search import AttackClassifier, AttackTrainer
from fairdash.methods.network import Batch


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


class SenSR(AttackClassifier):
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
