"""Catalog entries of plain classifiers, the base models of post-processing."""

from fairdash.methods._method import Method, Param
from fairdash.methods._params import FAST, PAPER, TRAINING

_PAPER = "Base model of Alabdulmohsin and Lucic (NeurIPS 2021)"
_MODULE = "fairdash.methods.base_models"

BASE_MODELS = (
    Method(
        key="forest",
        label="Random forest",
        title="Random forest of depth 10",
        class_name="RandomForest",
        module=_MODULE,
        summary="Trees that each see some rows and features; no fairness term.",
        source=f"{_PAPER}, by scikit-learn",
        colour_role="forest",
        params=(
            Param(
                "max_depth",
                "Depth",
                "int",
                10,
                low=1,
                high=30,
                step=1,
                help="Deeper trees follow finer patterns.",
            ),
            Param(
                "n_estimators",
                "Trees",
                "int",
                100,
                low=10,
                high=500,
                step=10,
                advanced=True,
                help="More are steadier and slower.",
            ),
        ),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="neighbours",
        label="Nearest neighbours",
        title="Ten nearest neighbours",
        class_name="NearestNeighbours",
        module=_MODULE,
        summary="The share of positive outcomes among the most similar training rows.",
        source=f"{_PAPER}, by scikit-learn",
        colour_role="neighbours",
        params=(
            Param(
                "n_neighbors",
                "Neighbours",
                "int",
                10,
                low=1,
                high=100,
                step=1,
                help="More: smoother scores.",
            ),
        ),
        efforts={"fast": {}, "paper": {}},
    ),
    Method(
        key="wide_network",
        label="Network of 128",
        title="Network with one hidden layer of 128",
        class_name="WideNetwork",
        module=_MODULE,
        summary="The unconstrained network with one wide layer.",
        source=_PAPER,
        colour_role="wide_network",
        params=TRAINING,
        efforts={"fast": FAST, "paper": PAPER},
    ),
    Method(
        key="logistic_cv",
        label="Logistic, C by folds",
        title="Logistic regression with cross-validated C",
        class_name="LogisticCV",
        module=_MODULE,
        summary="The linear model whose ridge penalty has the smallest log loss on "
        "folds of the training rows.",
        source=f"{_PAPER}, by scikit-learn",
        colour_role="logistic_cv",
        params=(
            Param(
                "cv",
                "Folds",
                "int",
                5,
                low=2,
                high=20,
                step=1,
                advanced=True,
                help="More: slower, and a steadier choice.",
            ),
        ),
        efforts={"fast": {}, "paper": {}},
    ),
)
