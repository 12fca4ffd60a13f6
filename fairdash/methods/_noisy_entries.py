"""Catalog entries of linear models under noisy groups."""

from dataclasses import replace

from fairdash.methods._params import CONSTRAINT
from fairdash.methods.declare import Effort, Method, Param, Scalar

PAPER = "Wang et al., Robust optimization for fairness with noisy groups (NeurIPS 2020)"
FOLDER = "fairdash.methods.noisy_groups"
NOISY_CONSTRAINT = replace(
    CONSTRAINT,
    default="true_positive_rate_parity",
    options={
        "true_positive_rate_parity": "Equal opportunity",
        "false_positive_rate_parity": "False positives",
        "equalized_odds": "Equalized odds",
        "demographic_parity": "Parity",
    },
    help="Which rate of a group must not be worse than that of all rows.",
)
SIMULATED_NOISE = Param(
    "simulated_noise",
    "Simulated noise",
    "float",
    0.0,
    letter="η",
    high=0.6,
    step=0.05,
    help="Share of the training rows whose group is replaced at random.",
)
TV_RADIUS = Param(
    "tv_radius",
    "TV radius",
    "float",
    0.1,
    letter="γ",
    step=0.01,
    stackable=True,
    help="How far a true group may be from its noisy one.",
)
NOISE_LEVEL = Param(
    "noise_level",
    "Noise level",
    "float",
    0.1,
    letter="ν",
    high=0.6,
    step=0.01,
    stackable=True,
    help="Assumed share of wrong groups, the same for all groups.",
)
SLACK = Param(
    "slack",
    "Slack",
    "float",
    0.05,
    letter="α",
    high=0.3,
    step=0.01,
    stackable=True,
    help="By how much a rate may be worse.",
)
LEARNING_RATE = Param(
    "learning_rate", "Learning rate", "float", 0.01, low=1e-3, high=0.1, step=1e-3,
    stackable=True, advanced=True, help="Adam's step size for the model.",
)  # fmt: skip
MULTIPLIER_RATE = Param(
    "multiplier_rate", "Multiplier rate", "float", 0.5, low=0.05, high=2.0, step=0.05,
    stackable=True, advanced=True, help="Adam's step size for the multipliers.",
)  # fmt: skip
ADVERSARY_RATE = Param(
    "adversary_rate", "Adversary rate", "float", 0.01, low=1e-3, high=0.1, step=1e-3,
    stackable=True, advanced=True, help="Adam's step size for the memberships.",
)  # fmt: skip
ITERATIONS = Param(
    "max_iter", "Iterations", "int", 750, low=25, high=3000, step=25, advanced=True,
    help="Passes over the training rows.",
)  # fmt: skip
MODE = Param(
    "mode",
    "Opponent",
    "choice",
    "paper",
    options={"paper": "as in the paper", "exact": "exact"},
    help="As in the paper: climbs by gradients, without a guarantee. Exact: the true "
    "worst case, which at larger noise leaves only a model that decides alike for all.",
)
EFFORTS: dict[Effort, dict[str, Scalar]] = {
    "fast": {"max_iter": 300},
    "paper": {"max_iter": 750},
}

ROBUST = (
    SIMULATED_NOISE,
    MODE,
    SLACK,
    LEARNING_RATE,
    MULTIPLIER_RATE,
    ADVERSARY_RATE,
    ITERATIONS,
)

NOISY_METHODS = (
    Method(
        key="hinge",
        label="Hinge",
        title="Linear model with the hinge loss, no constraint",
        class_name="NoisyGroupsUnconstrained",
        module=f"{FOLDER}.estimators",
        summary="What the methods for noisy groups are held to.",
        source=f"{PAPER}, section 7",
        colour_role="noisy_unconstrained",
        params=(LEARNING_RATE, ITERATIONS),
        efforts=EFFORTS,
    ),
    Method(
        key="noisy_naive",
        label="Naive",
        title="Constraints on the noisy groups as given",
        class_name="NoisyGroupsNaive",
        module=f"{FOLDER}.estimators",
        summary="Takes noisy groups at their word; on true groups it is the reference.",
        source=f"{PAPER}, Eq. 2",
        colour_role="noisy_naive",
        params=(
            NOISY_CONSTRAINT,
            SIMULATED_NOISE,
            SLACK,
            LEARNING_RATE,
            MULTIPLIER_RATE,
            ITERATIONS,
        ),
        efforts=EFFORTS,
    ),
    Method(
        key="noisy_dro",
        label="DRO",
        title="Distributionally robust constraints",
        class_name="NoisyGroupsDRO",
        module=f"{FOLDER}.dro",
        summary="Asks the constraints of every distribution within a total variation "
        "radius of the noisy groups.",
        source=f"{PAPER}, Eq. 3 and Algorithm 2",
        colour_role="noisy_dro",
        params=(NOISY_CONSTRAINT, TV_RADIUS, *ROBUST),
        efforts=EFFORTS,
    ),
    Method(
        key="noisy_soft",
        label="Soft",
        title="Constraints under soft group assignments",
        class_name="NoisyGroupsSoft",
        module=f"{FOLDER}.soft_method",
        summary="Asks the constraints of all memberships that agree with what is known "
        "of each noisy group.",
        source=f"{PAPER}, Eq. 7 and Algorithm 4",
        colour_role="noisy_soft",
        params=(NOISY_CONSTRAINT, NOISE_LEVEL, *ROBUST),
        efforts=EFFORTS,
    ),
    Method(
        key="noisy_ideal",
        label="Soft ideal",
        title="Soft group assignments with a guarantee",
        class_name="NoisyGroupsIdeal",
        module=f"{FOLDER}.ideal",
        summary="A random choice among many models, as the theorem asks for.",
        source=f"{PAPER}, Algorithms 1 and 3",
        colour_role="noisy_ideal",
        params=(
            NOISY_CONSTRAINT,
            replace(NOISE_LEVEL, stackable=False),
            SIMULATED_NOISE,
            replace(SLACK, stackable=False),
            Param(
                "n_rounds", "Rounds", "int", 20, letter="T", low=2, high=200, step=1,
                advanced=True, help="Steps of the multipliers.",
            ),
            Param(
                "n_responses", "Responses", "int", 10, letter="Q", low=1, high=100,
                step=1, advanced=True, help="Models in each round.",
            ),
            Param(
                "tolerance", "Tolerance", "float", 0.01, letter="τ", high=0.1,
                step=0.005, advanced=True,
                help="By how much memberships may miss the known shares.",
            ),
            replace(LEARNING_RATE, stackable=False),
        ),
        efforts={"fast": {"n_rounds": 10, "n_responses": 5}, "paper": {}},
    ),
)  # fmt: skip
