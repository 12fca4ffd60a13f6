"""The catalog: every method with its parameters, described without loading torch.

Forms, the command line, sweeps, the documentation's table and the estimator checks are
made from these entries. A new method is one file and one entry.
"""

from dataclasses import replace

from fairdash.methods._method import Method, Param
from fairdash.methods._params import (
    ADVERSARIAL,
    CLASSIC_CONSTRAINT,
    CONSTRAINT,
    FAIRNESS_WEIGHT,
    FAST,
    NORMALISATION,
    PAPER,
    PREDICTOR,
    RIDGE,
    TAU,
    TOLERANCE,
    TRAINING,
    layers,
    steps,
)

ROAD_PAPER = "Grari et al., On the fairness ROAD (ICLR 2024)"
AGARWAL = "Agarwal et al., A reductions approach to fair classification (ICML 2018)"

_METHODS = (
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
        module="fairdash.methods.unconstrained",
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
    Method(
        key="fair_log_loss",
        label="Fair log-loss",
        title="Logistic regression with fair probabilities, solved exactly",
        class_name="FairLogLoss",
        module="fairdash.methods.fair_log_loss",
        summary="Truncates probabilities by group until their means agree, at the "
        "exact optimum. It must know the group to predict.",
        source="Rezaei et al., Fairness for Robust Log Loss Classification (AAAI "
        "2020), gradient corrected",
        colour_role="fair_log_loss",
        params=(CLASSIC_CONSTRAINT, replace(RIDGE, stackable=True)),
        efforts={"fast": {}, "paper": {}},
        needs_groups=True,
    ),
    Method(
        key="reductions",
        label="Reductions",
        title="Exponentiated gradient reduction",
        class_name="Reductions",
        module="fairdash.methods.reductions",
        summary="A random choice among logistic regressions, each on rows weighted "
        "against the last ones' violation.",
        source=f"{AGARWAL}, Algorithm 1, by fairlearn",
        colour_role="reductions",
        params=(CLASSIC_CONSTRAINT, TOLERANCE, RIDGE),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="grid_reductions",
        label="Grid search",
        title="Grid search reduction",
        class_name="GridReductions",
        module="fairdash.methods.reductions",
        summary="The best of logistic regressions over a grid of fairness multipliers.",
        source=f"{AGARWAL}, section 3.2, by fairlearn",
        colour_role="grid_reductions",
        params=(
            CLASSIC_CONSTRAINT,
            Param(
                "constraint_weight",
                "Weight of the violation",
                "float",
                0.5,
                help="Share of the violation, beside the error, in choosing the best.",
            ),
            Param(
                "grid_size",
                "Grid size",
                "int",
                20,
                low=2,
                high=100,
                step=1,
                advanced=True,
                help="How many models are fitted.",
            ),
            RIDGE,
        ),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="reweighing",
        label="Reweighing",
        title="Reweighing",
        class_name="Reweighing",
        module="fairdash.methods.reweighing",
        summary="Logistic regression on rows weighted so that outcome and group look "
        "independent.",
        source="Kamiran and Calders (2012), section 5.2",
        colour_role="reweighing",
        params=(RIDGE,),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="covariance",
        label="Covariance",
        title="Covariance constraint",
        class_name="CovarianceConstraint",
        module="fairdash.methods.covariance",
        summary="Logistic regression whose margin hardly varies with the group.",
        source="Zafar et al., Fairness constraints (AISTATS 2017), Eq. 4",
        colour_role="covariance",
        params=(
            Param(
                "covariance_bound",
                "Covariance bound",
                "float",
                0.01,
                letter="c",
                low=0.001,
                high=0.5,
                step=0.001,
                help="Smaller: fairer, less accurate.",
            ),
            RIDGE,
        ),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="hardt",
        label="Hardt",
        title="Random thresholds by group",
        class_name="HardtLogistic",
        module="fairdash.methods.hardt",
        summary="Logistic regression with a mixture of two thresholds in each group. "
        "It must know the group to predict.",
        source="Hardt, Price and Srebro (NeurIPS 2016), by fairlearn",
        colour_role="hardt",
        params=(CLASSIC_CONSTRAINT, RIDGE),
        efforts={"fast": {}, "paper": {}},
        needs_groups=True,
    ),
)

CATALOG: dict[str, Method] = {method.key: method for method in _METHODS}
