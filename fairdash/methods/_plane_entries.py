"""Catalog entries of planes: one network for all settings of a method."""

from dataclasses import replace

from fairdash.methods._method import Effort, Method, Param, Scalar
from fairdash.methods._params import (
    CONSTRAINT,
    FAIRNESS_WEIGHT,
    NORMALISATION,
    TAU,
    TRAINING,
    layers,
    steps,
)

_MAX_WEIGHT = Param(
    "max_fairness_weight",
    "Largest fairness weight",
    "float",
    20.0,
    low=0.5,
    high=40.0,
    step=0.5,
    advanced=True,
    help="The network is trained for weights from 0 to this; it is part of the result.",
)
_TAUS = tuple(
    Param(
        name,
        label,
        "float",
        default,
        low=0.01,
        high=2.0,
        step=0.01,
        advanced=True,
        help="The network is trained for localities between the smallest and the "
        "largest; they are part of the result.",
    )
    for name, label, default in (
        ("min_tau", "Smallest locality", 0.05),
        ("max_tau", "Largest locality", 1.0),
    )
)
_N_SETTINGS = Param(
    "n_settings",
    "Settings a step",
    "int",
    16,
    low=4,
    high=64,
    step=4,
    advanced=True,
    help="Settings drawn for each minibatch; more is steadier and slower.",
)
_EPOCHS, _BATCH, _RATE = TRAINING
_PLANE_TRAINING = (
    _N_SETTINGS,
    replace(_EPOCHS, default=200),
    _BATCH,
    replace(_RATE, default=5e-4),
    replace(
        _RATE,
        name="adversary_learning_rate",
        label="Opponents' learning rate",
        default=2e-3,
        help="Adam's step size for all networks but the predictor.",
    ),
)


def _deep(name: str, label: str, default: str) -> Param:
    """Return the choice of hidden layers without the linear network."""
    known = layers(name, label, default)
    some = {key: words for key, words in known.options.items() if key != "simple"}
    return replace(known, options=some)


def _steps(name: str, label: str) -> Param:
    return replace(steps(name, label), default=8)


_COMMON = (
    _deep("predictor_layers", "Predictor network", "standard"),
    _deep("adversary_layers", "Adversary network", "complex"),
    _steps("n_adversary_steps", "Adversary steps"),
    *_PLANE_TRAINING,
)
_ANY: dict[Effort, dict[str, Scalar]] = {"fast": {}, "paper": {}, "plane": {}}

PLANE_METHODS = (
    Method(
        key="adversarial_plane",
        label="Zhang (plane)",
        title="Adversarial debiasing for all fairness weights at once",
        class_name="AdversarialPlane",
        module="fairdash.methods.plane",
        summary="One network that takes λ as an input: an approximation of Zhang at "
        "every λ.",
        source="Our own, after Dosovitskiy and Djolonga (ICLR 2020)",
        colour_role="adversarial_plane",
        params=(CONSTRAINT, FAIRNESS_WEIGHT, _MAX_WEIGHT, *_COMMON),
        efforts=_ANY,
        approximates="adversarial",
    ),
    Method(
        key="road_plane",
        label="ROAD (plane)",
        title="ROAD for the whole plane of λ and τ at once",
        class_name="ROADPlane",
        module="fairdash.methods.plane",
        summary="One network that takes λ and τ as inputs: an approximation of ROAD "
        "at every setting.",
        source="Our own, after Dosovitskiy and Djolonga (ICLR 2020)",
        colour_role="road_plane",
        params=(
            CONSTRAINT,
            FAIRNESS_WEIGHT,
            TAU,
            _MAX_WEIGHT,
            *_TAUS,
            NORMALISATION,
            _deep("ratio_layers", "Ratio network", "standard"),
            _steps("n_ratio_steps", "Ratio steps"),
            *_COMMON,
        ),
        efforts=_ANY,
        gives_weights=True,
        approximates="road",
    ),
)
