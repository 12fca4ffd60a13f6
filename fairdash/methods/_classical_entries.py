"""Catalog entries of fair log-loss and of the classical baselines beside it."""

from dataclasses import replace

from fairdash.methods._method import Method, Param
from fairdash.methods._params import CLASSIC_CONSTRAINT, RIDGE, TOLERANCE

AGARWAL = "Agarwal et al., A reductions approach to fair classification (ICML 2018)"

CLASSICAL_METHODS = (
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
