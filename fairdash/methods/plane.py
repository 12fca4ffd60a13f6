"""ROAD and adversarial debiasing for every setting at once: one conditioned network."""

from collections.abc import Sequence
from typing import Any, ClassVar

from fairdash._validation import check_positive, check_whole
from fairdash.methods._base import StackedClassifier
from fairdash.methods._capacity import hidden_layers
from fairdash.methods._plane import Plane, SettingRange
from fairdash.methods._plane_trainer import PlaneTrainer, RoadPlaneTrainer
from fairdash.methods.adversarial import AdversarialDebiasing
from fairdash.methods.road import ROAD


class _Conditioned(StackedClassifier):
    """What planes share: one training for all points, kept as ``plane_``."""

    _all_in_one_stack = True

    plane_: Plane
    max_fairness_weight: float
    n_settings: int
    adversary_learning_rate: float

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("max_fairness_weight", self.max_fairness_weight)
        check_positive("adversary_learning_rate", self.adversary_learning_rate)
        check_whole("n_settings", self.n_settings, at_least=1)
        for name in ("predictor_layers", "adversary_layers", "ratio_layers"):
            given = getattr(self, name, "standard")
            if not hidden_layers(given, name=name):
                message = f"`{name}` of a plane needs a hidden layer to scale and shift"
                raise ValueError(f"{message}, got {given!r}.")
        self._setting_range().check(self._setting())

    def _setting_range(self) -> SettingRange:
        return SettingRange(float(self.max_fairness_weight))

    def _setting(self) -> tuple[float, ...]:
        return tuple(float(getattr(self, name)) for name in self._stackable)

    def _keep_trainer(self, trainer: Any) -> None:
        self.plane_ = trainer.plane()


class AdversarialPlane(_Conditioned, AdversarialDebiasing):
    r"""Adversarial debiasing for all fairness weights by one network: approximate.

    Predictor and adversary take the setting :math:`c = \lambda` as well: a small
    network of c scales and shifts every layer. With :math:`\lambda` drawn anew for each
    minibatch, training seeks for all of them together

    .. math::

        \min_f \max_g \; E_\lambda \Big[ \frac{1}{1 + \lambda}
        \big( E[L_Y(f(x, \lambda), y)] - \lambda E[L_S(g(f, \lambda), s)] \big) \Big] .

    Any :math:`\lambda` of the range is then a network of the usual kind. The result
    depends on the range and the training settings, not on the settings asked for;
    ``fit_many`` trains once for all its points.

    Source: our own, in the manner of networks conditioned on their loss (Dosovitskiy
    and Djolonga, *You only train once*, ICLR 2020).

    Parameters
    ----------
    constraints, fairness_weight, n_epochs, batch_size, device, random_state
        As in :class:`AdversarialDebiasing`.
    max_fairness_weight : float, default=20.0
        The network is trained for weights from 0 to this.
    predictor_layers, adversary_layers : str or tuple of int
        As in :class:`AdversarialDebiasing`, with at least one hidden layer.
    n_adversary_steps : int, default=8
        Steps of g per step of f.
    n_settings : int, default=16
        Settings drawn for each minibatch.
    learning_rate, adversary_learning_rate : float
        Adam's step size for f, and for its opponents; both fall to 0 along a cosine.

    Attributes
    ----------
    plane_ : Plane
        The networks for every setting.
    network_ : Network
        That of ``fairness_weight``.
    history_ : DataFrame
        Mean losses per epoch over the settings drawn.
    """

    _trainer_class: ClassVar[Any] = PlaneTrainer

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        fairness_weight: float = 1.0,
        max_fairness_weight: float = 20.0,
        predictor_layers: str | Sequence[int] = (64, 32),
        adversary_layers: str | Sequence[int] = (64, 32, 16),
        n_adversary_steps: int = 8,
        n_settings: int = 16,
        n_epochs: int = 200,
        batch_size: int = 512,
        learning_rate: float = 5e-4,
        adversary_learning_rate: float = 2e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            constraints,
            fairness_weight=fairness_weight,
            predictor_layers=predictor_layers,
            adversary_layers=adversary_layers,
            n_adversary_steps=n_adversary_steps,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            random_state=random_state,
        )
        self.max_fairness_weight = max_fairness_weight
        self.n_settings = n_settings
        self.adversary_learning_rate = adversary_learning_rate


class ROADPlane(_Conditioned, ROAD):
    r"""ROAD for all :math:`\lambda` and :math:`\tau` by one network: approximate.

    Predictor, adversary and ratio network take the setting :math:`c = (\lambda, \tau)`
    as well: a small network of c scales and shifts every layer. Each minibatch draws
    settings, :math:`\lambda` uniform and :math:`\tau` uniform in log, and the game of
    :class:`ROAD` is played at all of them, f's loss divided by :math:`1 + \lambda`.

    Any setting of the range is then a network of the usual kind. The result depends on
    the range and the training settings, not on the settings asked for; ``fit_many``
    trains once for all its points.

    Source: our own, see :class:`AdversarialPlane`, on Grari et al., *On the fairness
    ROAD* (ICLR 2024).

    Parameters
    ----------
    constraints, fairness_weight, tau, ratio_layers, normalisation, n_epochs, \
batch_size, device, random_state
        As in :class:`ROAD`.
    max_fairness_weight, predictor_layers, adversary_layers, n_adversary_steps, \
n_settings, learning_rate, adversary_learning_rate
        As in :class:`AdversarialPlane`.
    min_tau, max_tau : float
        The network is trained for :math:`\tau` between them.
    n_ratio_steps : int, default=8
        Steps of r per step of f.

    Attributes
    ----------
    plane_ : Plane
        The networks for every setting.
    network_ : Network
        That of ``fairness_weight`` and ``tau``.
    history_ : DataFrame
        Mean losses per epoch over the settings drawn.
    ratio_, ratio_history_
        As in :class:`ROAD`.
    """

    _trainer_class: ClassVar[Any] = RoadPlaneTrainer

    def __init__(
        self,
        constraints: str = "demographic_parity",
        *,
        fairness_weight: float = 1.0,
        tau: float = 0.3,
        max_fairness_weight: float = 20.0,
        min_tau: float = 0.05,
        max_tau: float = 1.0,
        predictor_layers: str | Sequence[int] = (64, 32),
        adversary_layers: str | Sequence[int] = (64, 32, 16),
        ratio_layers: str | Sequence[int] = (64, 32),
        n_adversary_steps: int = 8,
        n_ratio_steps: int = 8,
        normalisation: str = "conditional",
        n_settings: int = 16,
        n_epochs: int = 200,
        batch_size: int = 512,
        learning_rate: float = 5e-4,
        adversary_learning_rate: float = 2e-3,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        super().__init__(
            constraints,
            fairness_weight=fairness_weight,
            tau=tau,
            predictor_layers=predictor_layers,
            adversary_layers=adversary_layers,
            ratio_layers=ratio_layers,
            n_adversary_steps=n_adversary_steps,
            n_ratio_steps=n_ratio_steps,
            normalisation=normalisation,
            n_epochs=n_epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            device=device,
            random_state=random_state,
        )
        self.max_fairness_weight = max_fairness_weight
        self.min_tau = min_tau
        self.max_tau = max_tau
        self.n_settings = n_settings
        self.adversary_learning_rate = adversary_learning_rate

    def _check_params(self) -> None:
        check_positive("min_tau", self.min_tau)
        check_positive("max_tau", self.max_tau)
        if self.min_tau >= self.max_tau:
            raise ValueError(
                f"`min_tau` must be below `max_tau`, got {self.min_tau:g} and "
                f"{self.max_tau:g}."
            )
        super()._check_params()

    def _setting_range(self) -> SettingRange:
        taus = float(self.min_tau), float(self.max_tau)
        return SettingRange(float(self.max_fairness_weight), taus)
