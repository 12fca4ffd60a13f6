"""Catalog entries of plain training, of ROAD and of the adversarial methods."""

from fairdash.methods._method import Method, Param
from fairdash.methods._params import (
    ADVERSARIAL,
    CONSTRAINT,
    FAIRNESS_WEIGHT,
    FAST,
    NORMALISATION,
    PAPER,
    PREDICTOR,
    TAU,
    TRAINING,
    layers,
    steps,
)

ROAD_PAPER = "Grari et al., On the fairness ROAD (ICLR 2024)"

ADVERSARIAL_METHODS = (
    Method(
        key="unconstrained",
        label="Unconstrained",
        title="Network without a fairness term",
        class_name="Unconstrained",
        module="fairdash.methods.unconstrained",
        summary="Minimises the prediction loss alone: what the others are held to.",
        source=f"{ROAD_PAPER}, section 5, λ = 0",
        colour_role="unconstrained",
        params=(PREDICTOR, *TRAINING),
        efforts={"fast": FAST, "paper": PAPER},
    ),
    Method(
        key="logistic",
        label="Logistic",
        title="Logistic regression without a fairness term",
        class_name="Logistic",
        module="fairdash.methods.logistic",
        summary="The linear model at its exact optimum, with a small ridge penalty.",
        source="scikit-learn, L-BFGS",
        colour_role="logistic",
        params=(
            Param(
                "alpha",
                "Ridge penalty",
                "float",
                1e-4,
                letter="α",
                low=1e-4,
                high=1.0,
                step=1e-4,
                help="Larger: smaller coefficients.",
            ),
        ),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="adversarial",
        label="Zhang",
        title="Adversarial debiasing",
        class_name="AdversarialDebiasing",
        module="fairdash.methods.adversarial",
        summary="Hides the group from an adversary that reads the model's output; fair "
        "on the whole, not in every subgroup.",
        source=f"Zhang, Lemoine and Mitchell (2018), as in {ROAD_PAPER}, section 3",
        colour_role="adversarial",
        params=(CONSTRAINT, FAIRNESS_WEIGHT, *ADVERSARIAL),
        efforts={
            "fast": {**FAST, "n_adversary_steps": 3},
            "paper": {**PAPER, "n_adversary_steps": 10},
        },
    ),
    Method(
        key="road",
        label="ROAD",
        title="Robust optimisation for adversarial debiasing",
        class_name="ROAD",
        module="fairdash.methods.road",
        summary="Adversarial debiasing that learns where the model is still unfair and "
        "turns there; no subgroups are given to it.",
        source=f"{ROAD_PAPER}, Eq. 6 and Algorithm 1",
        colour_role="road",
        params=(
            CONSTRAINT,
            FAIRNESS_WEIGHT,
            TAU,
            NORMALISATION,
            layers("ratio_layers", "Ratio network", "standard"),
            steps("n_ratio_steps", "Ratio steps"),
            *ADVERSARIAL,
        ),
        efforts={
            "fast": {**FAST, "n_adversary_steps": 3, "n_ratio_steps": 3},
            "paper": {**PAPER, "n_adversary_steps": 10, "n_ratio_steps": 10},
        },
        gives_weights=True,
    ),
    Method(
        key="broad",
        label="BROAD",
        title="Boltzmann ROAD",
        class_name="BROAD",
        module="fairdash.methods.broad",
        summary="ROAD with weights in closed form from the adversary's own loss.",
        source=f"{ROAD_PAPER}, section 4.2",
        colour_role="broad",
        params=(CONSTRAINT, FAIRNESS_WEIGHT, TAU, NORMALISATION, *ADVERSARIAL),
        efforts={
            "fast": {**FAST, "n_adversary_steps": 3},
            "paper": {**PAPER, "n_epochs": 175, "n_adversary_steps": 50},
        },
        gives_weights=True,
    ),
)
