"""Parameters that several methods share, and the training settings by effort."""

from dataclasses import replace

from fairdash.methods._method import Param

CONSTRAINT = Param(
    "constraints",
    "Constraint",
    "choice",
    "demographic_parity",
    options={"demographic_parity": "Parity", "equalized_odds": "Equalized odds"},
    help="Parity: the prediction says nothing about the group. Equalized odds: nothing "
    "beyond what the outcome says.",
)
CLASSIC_CONSTRAINT = replace(
    CONSTRAINT,
    options={**CONSTRAINT.options, "true_positive_rate_parity": "Equal opportunity"},
    help=f"{CONSTRAINT.help} Equal opportunity: the same for positive outcomes alone.",
)
RIDGE = Param(
    "alpha",
    "Ridge penalty",
    "float",
    0.005,
    letter="α",
    low=0.001,
    high=0.5,
    step=0.001,
    help="Larger: smaller coefficients.",
)
TOLERANCE = Param(
    "tolerance",
    "Tolerance",
    "float",
    0.01,
    letter="ε",
    low=0.001,
    high=0.2,
    step=0.001,
    help="Violation that the training rows may show.",
)
FAIRNESS_WEIGHT = Param(
    "fairness_weight",
    "Fairness weight",
    "float",
    1.0,
    letter="λ",
    high=10.0,
    step=0.1,
    stackable=True,
    help="How much fairness counts beside accuracy; 0 is the unconstrained model.",
)
TAU = Param(
    "tau",
    "Locality",
    "float",
    0.3,
    letter="τ",
    low=0.01,
    high=2.0,
    step=0.01,
    stackable=True,
    help="Small: attention goes to few, locally unfair rows. Large: every row counts "
    "alike, as in plain adversarial debiasing.",
)
NORMALISATION = Param(
    "normalisation",
    "Weights average to one",
    "choice",
    "conditional",
    options={"conditional": "in each group", "global": "over all rows"},
    advanced=True,
    help="Over all rows lets one group take the weight of another.",
)


def layers(name: str, label: str, default: str) -> Param:
    """Return the choice of a network's hidden layers."""
    return Param(
        name,
        label,
        "choice",
        default,
        options={
            "simple": "linear",
            "medium": "one hidden layer of 32",
            "standard": "64 and 32",
            "complex": "64, 32 and 16",
        },
        advanced=True,
        help="Hidden layers; more can follow finer patterns.",
    )


def steps(name: str, label: str) -> Param:
    """Return how many steps a network takes for each of the predictor."""
    return Param(
        name, label, "int", 3, low=1, high=50, step=1, advanced=True, help=STEPS_HELP
    )


STEPS_HELP = "Steps for every step of the predictor; more is steadier and slower."
PREDICTOR = layers("predictor_layers", "Predictor network", "standard")
TRAINING = (
    Param(
        "n_epochs", "Epochs", "int", 40, low=1, high=500, step=1, advanced=True,
        help="Passes over the training rows.",
    ),
    Param(
        "batch_size", "Batch size", "int", 512, low=16, high=4096, step=16,
        advanced=True, help="Rows a step.",
    ),
    Param(
        "learning_rate", "Learning rate", "float", 1e-3, low=1e-4, high=1e-2,
        step=1e-4, advanced=True, help="Adam's step size.",
    ),
)  # fmt: skip
ADVERSARIAL = (
    PREDICTOR,
    layers("adversary_layers", "Adversary network", "complex"),
    steps("n_adversary_steps", "Adversary steps"),
    *TRAINING,
)
FAST = {"n_epochs": 40, "batch_size": 512, "learning_rate": 1e-3}
PAPER = {"n_epochs": 100, "batch_size": 1024, "learning_rate": 1e-4}
