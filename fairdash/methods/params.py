"""Parameters that several methods share, and the training settings by effort."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from fairdash._validation import (
    check_non_negative,
    check_one_of,
    check_positive,
    check_share_below_one,
)
from fairdash.methods.declare import Effort, Scalar, at_least_one, param, vary

LAYERS = {
    "simple": (),
    "medium": (32,),
    "wide": (100,),
    "standard": (64, 32),
    "complex": (64, 32, 16),
}
at_least_two = partial(at_least_one, at_least=2)


def hidden_layers(
    layers: str | Sequence[int], *, name: str = "predictor_layers"
) -> tuple[int, ...]:
    """Return hidden widths given as such or by the name of a capacity."""
    if isinstance(layers, str):
        check_one_of(name, layers, LAYERS)
        return LAYERS[layers]
    for width in layers:
        at_least_one(name, width)
    return tuple(int(width) for width in layers)


def _check_layers(name: str, layers: str | Sequence[int]) -> None:
    """Raise ValueError unless these are hidden layers."""
    hidden_layers(layers, name=name)


def layers(default: str | tuple[int, ...], label: str) -> Any:
    """Declare the hidden layers of a network."""
    return param(
        default,
        label,
        options={
            name: ", ".join(map(str, widths)) or "linear"
            for name, widths in LAYERS.items()
        },
        advanced=True,
        check=_check_layers,
        help="Hidden layers; more can follow finer patterns.",
        doc='Hidden widths, or "simple" (), "medium" (32,), "wide" (100,), '
        '"standard" (64, 32), "complex" (64, 32, 16).',
        accepts="str or tuple of int",
    )


def steps(label: str, doc: str) -> Any:
    """Declare how many steps a network takes for each of the predictor."""
    return param(
        3,
        label,
        high=50,
        advanced=True,
        help="Steps for every step of the predictor; more is steadier and slower.",
        doc=doc,
    )


CONSTRAINT: Any = param(
    "demographic_parity",
    "Constraint",
    options={
        "demographic_parity": "Demographic parity",
        "equalized_odds": "Equalized odds",
    },
    help="Demographic parity: the prediction says nothing about the group. Equalized "
    "odds: nothing beyond what the outcome says.",
    doc="What the prediction is to be independent of the group given: nothing, or y.",
)
CLASSIC_CONSTRAINT: Any = vary(
    CONSTRAINT,
    options={**CONSTRAINT.options, "true_positive_rate_parity": "Equal opportunity"},
    help=f"{CONSTRAINT.help} Equal opportunity: the same for positive outcomes only.",
    doc="What the groups have alike: positive predictions of all rows, of those with "
    "each outcome, or of those with the positive outcome.",
)
RIDGE: Any = param(
    0.005,
    "Ridge penalty",
    letter="α",
    low=0.001,
    high=0.5,
    step=0.001,
    axis="log",
    check=check_positive,
    help="Larger: smaller coefficients.",
    doc="Ridge penalty on the coefficients beside the mean loss, above 0.",
)
TOLERANCE: Any = param(
    0.01,
    "Tolerance",
    letter="ε",
    low=0.001,
    high=0.2,
    step=0.001,
    axis="log",
    trade_off=True,
    check=check_positive,
    help="Violation that the training rows may show.",
    doc="Violation that the training rows may show, above 0.",
)
FAIRNESS_WEIGHT: Any = param(
    1.0,
    "Fairness weight",
    letter="λ",
    high=10.0,
    step=0.1,
    stackable=True,
    trade_off=True,
    check=check_non_negative,
    help="How much fairness counts beside accuracy; 0 is the unconstrained model.",
)
WARM_UP: Any = param(
    0.0,
    "Warm-up of λ",
    high=0.9,
    step=0.05,
    stackable=True,
    advanced=True,
    added=True,
    check=check_share_below_one,
    help="Share of the epochs in which λ rises from 0 to its value; 0 is as in the "
    "paper. Fewer models with a large λ then decide alike for everyone.",
    doc="Share of the epochs over which the fairness weight rises in a line from 0 to "
    "its value, in [0, 1); at 0, as in the paper, it is constant.",
)
TAU: Any = param(
    0.3,
    "Locality",
    letter="τ",
    low=0.01,
    high=2.0,
    step=0.01,
    axis="log",
    stackable=True,
    check=check_positive,
    help="Small: attention goes to few, locally unfair rows. Large: every row counts "
    "alike, as in plain adversarial debiasing.",
)
NORMALISATION: Any = param(
    "conditional",
    "Weights average to one",
    options={"conditional": "in each group", "global": "over all rows"},
    advanced=True,
    help="Over all rows lets one group take the weight of another.",
    doc="Whether r averages to one within each group or over all rows (the ablation "
    "of the paper's appendix A.2).",
)
PREDICTOR: Any = layers("standard", "Predictor network")
EPOCHS: Any = param(
    40, "Epochs", high=500, advanced=True, help="Passes over the training rows."
)
BATCH_SIZE: Any = param(
    512, "Batch size", low=16, high=4096, step=16, advanced=True, help="Rows a step."
)
LEARNING_RATE: Any = param(
    1e-3,
    "Learning rate",
    low=1e-4,
    high=1e-2,
    step=1e-4,
    axis="log",
    advanced=True,
    check=check_positive,
    help="Adam's step size.",
)
DEVICE: Any = param(
    "auto",
    options={name: name for name in ("auto", "cpu", "cuda")},
    doc="Where to train.",
)
RANDOM_STATE: Any = param(
    None,
    doc="Seed of weights and of the order of rows.",
    accepts="int, RandomState instance or None",
)
NO_RANDOM_STATE: Any = vary(
    RANDOM_STATE, doc="Ignored: present because all methods of the catalog take one."
)
# Quick training has ten times the paper's rate, and fewer epochs.
FAST = {"n_epochs": 40, "batch_size": 512, "learning_rate": 1e-3}
PAPER = {"n_epochs": 100, "batch_size": 1024, "learning_rate": 1e-4}
ADVERSARY_EFFORTS: dict[Effort, dict[str, Scalar]] = {
    "fast": {**FAST, "n_adversary_steps": 3},
    "paper": {**PAPER, "n_adversary_steps": 10},
}
