"""A small table of people, and specifications to train on it in a moment."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fairdash.datasets import Roles

ROLES = Roles(
    target="hired",
    positive="yes",
    sensitive_feature="origin",
    features=("age", "skill", "branch"),
    subgroup_columns=("age", "branch"),
)


@dataclass(frozen=True)
class Question:
    """A trial as the store takes it."""

    key: str
    method: str = "road"
    params: dict = field(default_factory=lambda: {"tau": 0.5})
    seed: int = 0


WEIGHTS = {
    "method": "road",
    "params": {"fairness_weight": [0, 1, 3], "tau": [0.3, 0.7]},
}


def people(n=600, seed=0):
    """Return applicants whose origin counts in one branch more than in the other."""
    rng = np.random.default_rng(seed)
    origin = rng.choice(["here", "there"], n)
    branch = rng.choice(["office", "works"], n)
    skill = rng.normal(size=n).round(3)
    unfair = np.where(branch == "works", 1.5, 0.2) * (origin == "there")
    hired = skill - unfair + rng.logistic(size=n) > -0.5
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "skill": skill,
            "branch": branch,
            "origin": origin,
            "hired": np.where(hired, "yes", "no"),
        }
    )


def people_csv(n=600, seed=0):
    """Return the applicants as an uploaded file."""
    return people(n, seed).to_csv(index=False).encode()


def specification(path, *, methods=None, **more):
    """Return a specification on the applicants that trains in a moment."""
    from fairdash.sweep import SweepSpec

    quick = {"n_epochs": 4, "batch_size": 128}
    if methods is None:
        methods = [
            {"method": "unconstrained", "params": quick},
            {"method": "road", "params": {**quick, "fairness_weight": [0.5, 2.0]}},
        ]
    data = {"path": str(path), "roles": ROLES, "name": "People"}
    subgroups = {"columns": ["branch"], "min_size": 20}
    return SweepSpec.model_validate(
        {"data": data, "methods": methods, "subgroups": subgroups, **more}
    )


def trials(*methods, key="data", **more):
    """Return the trials of methods on the applicants."""
    from fairdash.sweep import expand

    return expand(specification("people.csv", methods=list(methods), **more), key)


def train_sweep(store, frame, name, roles=ROLES, subgroups=("branch",)):
    """Train ROAD at four settings beside the plain model, here; return the run."""
    from fairdash.jobs import queue, run_open
    from fairdash.sweep import SweepSpec

    quick = {"n_epochs": 3, "batch_size": 128}
    axes = {"fairness_weight": [0.5, 2.0], "tau": [0.2, 0.6]}
    table = store.add_table(frame.to_csv(index=False).encode(), "people.csv")
    spec = {
        "data": {"table": table, "roles": roles, "name": name},
        "methods": [
            {"method": "unconstrained", "params": quick},
            {"method": "road", "params": {**quick, **axes}},
        ],
        "seeds": [0, 1],
        "subgroups": {"columns": subgroups, "min_size": 20},
    }
    run = queue(store, SweepSpec.model_validate(spec), name=name)
    run_open(store)
    return run


QUICK = {"n_epochs": 3, "batch_size": 128}
TWO_METHODS = [
    {"method": "unconstrained", "params": QUICK},
    {"method": "road", "params": {**QUICK, "fairness_weight": [0.5, 2.0]}},
    {"method": "adversarial", "params": {**QUICK, "fairness_weight": [0.5, 2.0, 4.0]}},
]


def sweep_of(record, methods=TWO_METHODS, **more):
    """Return a sweep over methods on a stored table, as the default one is."""
    from fairdash.sweep import SweepSpec

    return SweepSpec.model_validate(
        {
            "data": {"table": record.table_sha256, "roles": record.roles, "name": "P"},
            "methods": methods,
            "seeds": [0, 1],
            "subgroups": record.subgroups,
            **more,
        }
    )


def prisoners(n=1200, seed=0):
    """Return offenders rated by deciles that are higher in one group without cause."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["Caucasian", "African-American"], n)
    risk = rng.normal(size=n)
    seen = risk + rng.normal(0, 0.7, n) + 0.8 * (race == "African-American")
    return pd.DataFrame(
        {
            "age_cat": rng.choice(["Less than 25", "25 - 45"], n),
            "race": race,
            "priors_count": rng.poisson(np.exp(risk / 2)),
            "decile_score": pd.qcut(seen, 10, labels=False) + 1,
            "two_year_recid": (risk + rng.logistic(size=n) > 0).astype(int),
        }
    )


NUMBERS = ["age", "skill"]
WORDS = ["branch", "origin"]
MODELS = {
    "logistic": LogisticRegression(),
    "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
}


@cache
def pipeline(kind="logistic"):
    """Return a pipeline that also reads the sensitive column, origin."""
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), NUMBERS), ("words", OneHotEncoder(), WORDS)],
        sparse_threshold=0,
    )
    frame = people()
    model = make_pipeline(columns, MODELS[kind])
    return model.fit(frame[[*NUMBERS, *WORDS]], frame["hired"])


@cache
def pipeline_as_onnx(kind="logistic"):
    """Return what skl2onnx makes of it."""
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    types = [
        (name, (FloatTensorType if name in NUMBERS else StringTensorType)([None, 1]))
        for name in [*NUMBERS, *WORDS]
    ]
    return to_onnx(pipeline(kind), initial_types=types).SerializeToString()


def simulate_noise(groups, level, random_state=None):
    """Groups of which a share is another group, uniformly: the noise of the paper."""
    rng = np.random.default_rng(random_state)
    names, codes = np.unique(groups, return_inverse=True)
    rows = rng.permutation(len(codes))[: round(level * len(codes))]
    codes[rows] = (codes[rows] + rng.integers(1, len(names), len(rows))) % len(names)
    return names[codes]
