"""The catalog: every method with its parameters, described without loading torch.

Forms, the command line, sweeps, the documentation's table and the estimator checks are
made from these entries. A new method is one file and one entry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, Literal

from fairdash._validation import check_one_of

Scalar = str | int | float
Effort = Literal["fast", "paper"]


@dataclass(frozen=True)
class Param:
    """One parameter of a method, as a form shows it.

    Attributes
    ----------
    name, label, letter : str
        In code, on screen, in the paper.
    kind : {"float", "int", "choice"}
    default : str, int or float
    low, high, step : float
        Range of a form's slider; the estimator may take more.
    options : dict of str to str
        Values of a choice and their words.
    stackable : bool
        Whether models that differ in it can train in one stack.
    advanced : bool
        Whether a form shows it only on request.
    help : str
        One sentence: what changes when it grows.
    """

    name: str
    label: str
    kind: Literal["float", "int", "choice"]
    default: Scalar
    letter: str = ""
    low: float = 0.0
    high: float = 1.0
    step: float = 0.01
    options: Mapping[str, str] = field(default_factory=dict)
    stackable: bool = False
    advanced: bool = False
    help: str = ""

    @property
    def title(self) -> str:
        """Name with the paper's letter, e.g. ``"Fairness weight (λ)"``."""
        return f"{self.label} ({self.letter})" if self.letter else self.label


@dataclass(frozen=True)
class Method:
    """One method: what it is, where it is from, how it is set.

    Attributes
    ----------
    key, label, title : str
        In configuration, on screen, in full.
    class_name, module : str
        The estimator and where it stands.
    summary, source : str
        One sentence each: what it does; paper and equation.
    colour_role : str
        Which of the fixed colours it has in every figure.
    params : tuple of Param
    efforts : dict of str to dict
        Training settings by effort, over the estimator's defaults.
    gives_weights : bool
        Whether a fitted model has ``ratio_``.
    needs_groups : bool
        Whether its ``predict`` takes ``sensitive_features``, as its ``fit`` does.
    """

    key: str
    label: str
    title: str
    class_name: str
    module: str
    summary: str
    source: str
    colour_role: str
    params: tuple[Param, ...]
    efforts: Mapping[Effort, Mapping[str, Scalar]]
    gives_weights: bool = False
    needs_groups: bool = False

    def estimator_class(self) -> type[Any]:
        """Return the estimator's class; loads torch if it must."""
        cls: type[Any] = getattr(import_module(self.module), self.class_name)
        return cls

    def estimator(self, params: Mapping[str, Scalar], random_state: int) -> Any:
        """Return an unfitted estimator with ``params`` set."""
        self.check_names(params)
        return self.estimator_class()(**params, random_state=random_state)

    def settings(
        self, params: Mapping[str, Scalar], effort: Effort = "fast"
    ) -> dict[str, Scalar]:
        """Return every parameter's value: defaults, then effort, then ``params``."""
        self.check_names(params)
        check_one_of("effort", effort, list(self.efforts))
        defaults = {param.name: param.default for param in self.params}
        return {**defaults, **self.efforts[effort], **params}

    def check_names(self, params: Mapping[str, Scalar]) -> None:
        """Raise ValueError for a parameter that the method does not have."""
        known = [param.name for param in self.params]
        for name in params:
            if name not in known:
                message = f"{self.label} has no parameter `{name}`; it has {known}."
                raise ValueError(message)

    def stackable(self) -> tuple[str, ...]:
        """Return the names of the parameters that may differ within a stack."""
        return tuple(param.name for param in self.params if param.stackable)


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


def _layers(name: str, label: str, default: str) -> Param:
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


def _steps(name: str, label: str) -> Param:
    return Param(
        name, label, "int", 2, low=1, high=50, step=1, advanced=True, help=STEPS_HELP
    )


STEPS_HELP = "Steps for every step of the predictor; more is steadier and slower."
PREDICTOR = _layers("predictor_layers", "Predictor network", "standard")
TRAINING = (
    Param(
        "n_epochs", "Epochs", "int", 60, low=1, high=500, step=1, advanced=True,
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
    _layers("adversary_layers", "Adversary network", "complex"),
    _steps("n_adversary_steps", "Adversary steps"),
    *TRAINING,
)
FAST = {"n_epochs": 60, "batch_size": 512, "learning_rate": 1e-3}
PAPER = {"n_epochs": 100, "batch_size": 1024, "learning_rate": 1e-4}
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
            "fast": {**FAST, "n_adversary_steps": 2},
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
            _layers("ratio_layers", "Ratio network", "standard"),
            _steps("n_ratio_steps", "Ratio steps"),
            *ADVERSARIAL,
        ),
        efforts={
            "fast": {
                **FAST,
                "n_epochs": 40,
                "n_adversary_steps": 3,
                "n_ratio_steps": 3,
            },
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
            "fast": {**FAST, "n_adversary_steps": 2},
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
