"""Catalog entries of individual fairness: SenSeI, SenSR and CLP."""

from dataclasses import replace

from fairdash.methods._params import (
    FAIRNESS_WEIGHT,
    FAST,
    PAPER,
    PREDICTOR,
    TRAINING,
)
from fairdash.methods.declare import Method, Param, Scalar

Settings = dict[str, Scalar]
SENSEI_PAPER = "Yurochkin and Sun, SenSeI (ICLR 2021)"
_METRIC = Param(
    "metric",
    "Sensitive directions",
    "choice",
    "group_direction",
    options={
        "group_direction": "what predicts the group",
        "columns": "columns, named below",
        "both": "both",
    },
    help="People who differ in this alone are alike: the direction of a logistic "
    "regression that predicts the group, the values of columns, or both.",
)
_COLUMNS = Param(
    "columns",
    "Columns that do not count",
    "text",
    "",
    help="Features, with commas between them: race, marital_status.",
)
_WEIGHT = replace(
    FAIRNESS_WEIGHT,
    default=5.0,
    letter="ρ",
    high=100.0,
    step=0.5,
    help="How much it counts that people who are alike get the same output.",
)
_RADIUS = Param(
    "fair_radius",
    "Fair radius",
    "float",
    0.1,
    letter="ε",
    low=0.0,
    high=1.0,
    step=0.001,
    stackable=True,
    help="How far apart people may be, on average, to count as alike.",
)
_SEARCH = (
    Param(
        "n_subspace_steps", "Free steps", "int", 10, low=0, high=100, step=1,
        advanced=True, help="Steps of the search along what does not count.",
    ),
    Param(
        "subspace_learning_rate", "Size of a free step", "float", 0.5, low=0.01,
        high=20.0, step=0.01, advanced=True,
        help="In standard deviations of a column.",
    ),
    Param(
        "n_full_steps", "Full steps", "int", 5, low=0, high=100, step=1,
        advanced=True, help="Steps of the search in all directions.",
    ),
    Param(
        "full_learning_rate", "Size of a full step", "float", 0.02, low=1e-4,
        high=1.0, step=1e-4, advanced=True, help="In standard deviations of a column.",
    ),
)  # fmt: skip
_BATCHES = Param(
    "batches",
    "Minibatches",
    "choice",
    "shuffled",
    options={"shuffled": "as rows come", "balanced": "classes balanced"},
    advanced=True,
    help="Balanced: each outcome has half of the rows, for balanced accuracy.",
)
_LONG: Settings = {**PAPER, "batch_size": 1000, "n_epochs": 325, "batches": "balanced"}
_FAST_SEARCH: Settings = {
    "n_subspace_steps": 10,
    "subspace_learning_rate": 0.5,
    "n_full_steps": 5,
    "full_learning_rate": 0.02,
}
_PAPER_SEARCH: Settings = {
    "n_subspace_steps": 50,
    "subspace_learning_rate": 10.0,
    "n_full_steps": 40,
    "full_learning_rate": 1e-4,
    "fair_radius": 0.001,
}

INDIVIDUAL_METHODS = (
    Method(
        key="sensei",
        label="SenSeI",
        title="Sensitive set invariance",
        class_name="SenSeI",
        module="fairdash.methods.sensei",
        summary="Gives people who are alike the same output: what does not count is "
        "changed as badly as it can be, and the change of the output is made small.",
        source=f"{SENSEI_PAPER}, Eq. 2.7 and Algorithm 1",
        colour_role="sensei",
        params=(_METRIC, _COLUMNS, _WEIGHT, _RADIUS, *_SEARCH, _BATCHES,
                PREDICTOR, *TRAINING),
        efforts={"fast": {**FAST, **_FAST_SEARCH}, "paper": {**_LONG, **_PAPER_SEARCH}},
        needs_names=True,
    ),
    Method(
        key="sensr",
        label="SenSR",
        title="Sensitive subspace robustness",
        class_name="SenSR",
        module="fairdash.methods.sensr",
        summary="Learns from the worst counterpart of each person. Fairness and "
        "accuracy come as one: there is no weight between them.",
        source="Yurochkin, Bower and Sun (ICLR 2020)",
        colour_role="sensr",
        params=(_METRIC, _COLUMNS, _RADIUS, *_SEARCH, _BATCHES, PREDICTOR, *TRAINING),
        efforts={"fast": {**FAST, **_FAST_SEARCH}, "paper": {**_LONG, **_PAPER_SEARCH}},
        needs_names=True,
    ),
    Method(
        key="clp",
        label="CLP",
        title="Counterfactual logit pairing",
        class_name="CLP",
        module="fairdash.methods.clp",
        summary="Pulls the output of a person towards that of the same person with "
        "what does not count taken from somebody else.",
        source=f"Garg et al. (AIES 2019), as in {SENSEI_PAPER}, section 4",
        colour_role="clp",
        params=(_METRIC, _COLUMNS, _WEIGHT, _BATCHES, PREDICTOR, *TRAINING),
        efforts={"fast": FAST, "paper": _LONG},
        needs_names=True,
    ),
)  # fmt: skip
