"""Base models: what a remedy trains, by name, or any classifier given as an object."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import has_fit_parameter

from fairdash._arrays import FloatArray
from fairdash._validation import brief
from fairdash.methods.declare import NOT_INSTALLED, param
from fairdash.methods.lazy import ensemble
from fairdash.methods.scorers import Boosted, Forest, Linear, Scorer, Unkept

GROUP = "fairdash.estimators"  # of entry points: a classifier's class or a function
ITERATIONS = 1000  # most of L-BFGS


def ridge_logistic(alpha: float, n_rows: float) -> LogisticRegression:
    """Return scikit-learn's logistic regression at penalty ``alpha`` of a mean loss."""
    return LogisticRegression(C=1 / (alpha * n_rows), max_iter=ITERATIONS, tol=1e-6)


class Base(NamedTuple):
    """A base model by name: its words, how it is made, and whether NaN is fine."""

    label: str
    make: Callable[[], BaseEstimator]
    takes_missing: bool = True


def _optional(module: str, name: str, label: str, **settings: Any) -> Base:
    def make() -> Any:
        if find_spec(module) is None:
            raise ValueError(
                f"The base model {label} needs the package {module}; install it with "
                f"`pip install {module}`, or choose another base model."
            )
        library = __import__(module)
        # A worker has one core, and threads that share it wait for each other.
        return getattr(library, name)(n_jobs=1, **settings)

    suffix = "" if find_spec(module) else NOT_INSTALLED
    return Base(f"{label}{suffix}", make)


def _plugged(entry: EntryPoint) -> Base:
    return Base(entry.name, lambda: entry.load()())


@cache
def bases() -> Mapping[str, Base]:
    """Return base models by name: logistic regression, trees, and those of plugins."""
    named = {
        # `base_model` makes this one, since its penalty depends on the rows.
        "logistic": Base("Logistic regression", LogisticRegression, False),
        "gradient_boosting": Base(
            "Gradient boosting", lambda: ensemble.HistGradientBoostingClassifier()
        ),
        "forest": Base(
            "Random forest",
            lambda: ensemble.RandomForestClassifier(max_depth=10),
            False,
        ),
        "lightgbm": _optional("lightgbm", "LGBMClassifier", "LightGBM", verbose=-1),
        "xgboost": _optional("xgboost", "XGBClassifier", "XGBoost"),
    }
    plugged = {entry.name: _plugged(entry) for entry in entry_points(group=GROUP)}
    return plugged | named


def check_base(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` names a base model or is a classifier."""
    if isinstance(value, str):
        if value not in bases():
            raise ValueError(
                f"`{name}` must be one of {sorted(bases())} or a classifier, got "
                f"{brief(value)}."
            )
    elif not (hasattr(value, "fit") and hasattr(value, "predict_proba")):
        raise ValueError(
            f"`{name}` must have `fit` and `predict_proba`, got {brief(value)}."
        )


ESTIMATOR: Any = param(
    "logistic",
    "Base model",
    options={name: base.label for name, base in bases().items()},
    added=True,
    named=True,
    check=check_base,
    help="Gradient boosting is the strongest on most tables. Logistic regression can "
    "be read.",
    doc="Base model: a name, or an unfitted classifier whose ``fit`` takes "
    "``sample_weight`` and that has ``predict_proba``, such as a pipeline with its own "
    "encoding. A model given as an object gets X as it is, with missing values.",
    accepts='{"logistic", "gradient_boosting", "forest", "lightgbm", "xgboost"} or '
    "classifier",
)


def base_model(
    estimator: Any, *, alpha: float, n_rows: float, random_state: Any = None
) -> Any:
    """Return an unfitted base model; ``alpha`` is for logistic regression alone."""
    if not isinstance(estimator, str):
        return clone(estimator, safe=False)
    if estimator == "logistic":
        return ridge_logistic(alpha, n_rows)
    model = bases()[estimator].make()
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=random_state)
    return model


def row_checks(estimator: Any) -> dict[str, Any]:
    """Return arguments of scikit-learn's `validate_data` for rows of a base model."""
    if not isinstance(estimator, str):
        return {"skip_check_array": True}
    if bases()[estimator].takes_missing:
        return {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
    return {"dtype": np.float64}


def fit_base(model: Any, X: Any, target: Any, weight: Any) -> Any:
    """Fit a base model to weighted rows, in a pipeline its last step."""
    if weight is None:
        return model.fit(X, target)
    if hasattr(model, "steps"):
        return model.fit(X, target, **{f"{model.steps[-1][0]}__sample_weight": weight})
    if not has_fit_parameter(model, "sample_weight"):
        raise ValueError(
            f"`estimator` {type(model).__name__} takes no `sample_weight` in `fit`, "
            "which this method needs; give a classifier that does."
        )
    return model.fit(X, target, sample_weight=weight)


def as_scorer(model: Any) -> Scorer:
    """Return a fitted base model as arrays; `Unkept` where its kind has none."""
    # By name, so that scikit-learn's trees need not be imported.
    if not type(model).__module__.startswith("sklearn."):
        return Unkept(model)
    kind = type(model).__name__
    if kind == "LogisticRegression":
        return Linear(model.coef_[0], model.intercept_)
    # Arrays have no place for categories.
    if kind == "HistGradientBoostingClassifier" and model.is_categorical_ is None:
        return _boosted(model)
    if kind == "RandomForestClassifier":
        return _forest(model)
    return Unkept(model)


def _forest(model: Any) -> Forest:
    trees = [grown.tree_ for grown in model.estimators_]
    return joined_trees(trees, [tree.value[:, 0, 1] for tree in trees])


def joined_trees(trees: Sequence[Any], values: Sequence[FloatArray]) -> Forest:
    """Return trees of scikit-learn with a value for each node, one after the other."""
    sizes = [tree.node_count for tree in trees]
    first = np.cumsum([0, *sizes])[:-1]
    offset = np.repeat(first, sizes)

    def joined(part: Callable[[Any], Any]) -> Any:
        return np.concatenate([np.empty(0), *(part(tree) for tree in trees)])

    return Forest(
        roots=first.astype(np.int32),
        # scikit-learn marks a leaf by a negative feature
        features=joined(lambda tree: tree.feature).clip(-1).astype(np.int32),
        thresholds=joined(lambda tree: tree.threshold),
        values=np.concatenate([np.empty(0), *values]),
        left=(joined(lambda tree: tree.children_left) + offset).astype(np.int32),
        right=(joined(lambda tree: tree.children_right) + offset).astype(np.int32),
    )


def _boosted(model: Any) -> Boosted:
    trees = [predictor.nodes for (predictor,) in model._predictors]
    sizes = [len(nodes) for nodes in trees]
    first = np.cumsum([0, *sizes])[:-1]
    nodes = np.concatenate(trees)
    offset = np.repeat(first, sizes)
    leaf = nodes["is_leaf"] == 1
    return Boosted(
        roots=first.astype(np.int32),
        features=np.where(leaf, -1, nodes["feature_idx"]).astype(np.int32),
        thresholds=nodes["num_threshold"].copy(),
        values=nodes["value"].copy(),
        left=(nodes["left"] + offset).astype(np.int32),
        right=(nodes["right"] + offset).astype(np.int32),
        missing_left=nodes["missing_go_to_left"].astype(np.int8),
        baseline=np.ravel(model._baseline_prediction),
    )
