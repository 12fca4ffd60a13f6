"""Checks for whoever writes a method: the contract that every method here keeps."""

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from fairdash.methods import Method, scorer_of

__all__ = ["check_method", "with_groups"]

# of scikit-learn: they ask that `predict` be the likelier class
_LIKELIER = ("check_classifiers_train", "check_classifiers_classes")


class _MadeUpGroups:
    """An estimator with made-up groups, so that scikit-learn's checks can call it."""

    def fit(self, X: Any, y: Any, **rows: Any) -> Any:
        groups = _made_up_groups(X, y, rows.get("sample_weight"))
        return super().fit(X, y, sensitive_features=groups, **rows)  # type: ignore[misc]


class _Weighted(_MadeUpGroups):
    """The same for one that counts weights: scikit-learn looks for their name."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **rows: Any) -> Any:
        return super().fit(X, y, sample_weight=sample_weight, **rows)


class _OneGroup:
    """A model that predicts with groups: all rows are of the first."""

    def predict(self, X: Any) -> Any:
        return super().predict(X, sensitive_features=self._first(X))  # type: ignore[misc]

    def predict_proba(self, X: Any, sensitive_features: Any = None) -> Any:
        groups = self._first(X)
        return super().predict_proba(X, sensitive_features=groups)  # type: ignore[misc]

    def decision_function(self, X: Any, sensitive_features: Any = None) -> Any:
        groups = self._first(X)
        return super().decision_function(X, sensitive_features=groups)  # type: ignore[misc]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return np.average(self.predict(X) == y, weights=sample_weight)

    def _first(self, X: Any) -> Any:
        check_is_fitted(self)
        return np.zeros(_num_samples(X), dtype=int)


def _made_up_groups(X: Any, y: Any, sample_weight: Any) -> NDArray[np.int64]:
    """Return groups that alternate among the distinct rows of each outcome.

    So each group has both outcomes, and a row that counts twice is of the same group as
    two rows that hold the same. Rows that nothing can be read from alternate in pairs.
    """
    n_rows = _num_samples(X)
    groups = np.arange(n_rows) // 2 % 2
    rows = np.asarray(X)
    outcome = np.asarray(y).ravel()
    if rows.ndim != 2 or rows.dtype.kind not in "biuf" or len(outcome) != n_rows:
        return groups
    counts = np.ones(n_rows, bool)
    if sample_weight is not None and np.asarray(sample_weight).shape == (n_rows,):
        counts = np.asarray(sample_weight) > 0
    for value in np.unique(outcome):
        members = counts & (outcome == value)
        _, place = np.unique(rows[members], axis=0, return_inverse=True)
        groups[members] = place % 2
    return groups


def with_groups(estimator: Any) -> Any:
    """Return an estimator whose ``fit`` makes up the groups of its rows.

    scikit-learn's `check_estimator` knows no ``sensitive_features``; this lets it call
    a method that needs them.
    """
    cls = type(estimator)
    name = f"Plain{cls.__name__}"
    takes_weights = "sample_weight" in inspect.signature(cls.fit).parameters
    bases: tuple[type, ...] = (_Weighted if takes_weights else _MadeUpGroups, cls)
    if _predicts_with_groups(cls):
        bases = (_OneGroup, *bases)
    kind = type(name, bases, {})
    kind.__module__, kind.__qualname__ = __name__, name
    globals()[name] = kind  # so that it can be pickled
    return kind(**estimator.get_params(deep=False))


def _predicts_with_groups(cls: Any) -> bool:
    return "sensitive_features" in inspect.signature(cls.predict).parameters


def check_method(method: Any, **params: Any) -> None:
    """Raise AssertionError unless a method keeps what fairdash promises of its methods.

    Checked are scikit-learn's `check_estimator` with made-up groups, ``fit_many``
    against ``fit``, the same result for the same ``random_state``, probabilities, what
    is stored of a model, and, of a catalog entry, the ranges of its form. A random
    mixture may fail `check_classifiers_train`, which asks that ``predict`` be the
    likelier class. A method that draws while it trains may fail the check that a row of
    weight two is two rows.

    Parameters
    ----------
    method : Method or class
        The catalog entry, or an estimator's class.
    **params
        Parameters that make its training short.
    """
    cls = method.estimator_class() if isinstance(method, Method) else method
    estimator = cls(**params)
    limits = {"check_sample_weight_equivalence_on_dense_data": "training may draw"}
    if get_tags(estimator).mixture:
        drawn = "`predict` draws, so it is not the likelier"
        limits |= dict.fromkeys(_LIKELIER, drawn)
    check_estimator(
        with_groups(estimator),
        on_fail="raise",
        on_skip=None,
        expected_failed_checks=limits,
    )
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=240)
    X = rng.normal(size=(240, 4))
    X[:, 0] += group
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=240) > 0.5).astype(int)
    names = np.array(["a", "b"])[group]
    seeded = clone(estimator).set_params(random_state=0)
    routed = {"sensitive_features": names} if _predicts_with_groups(cls) else {}

    def scores(model: Any) -> Any:
        return model.predict_proba(X, **routed)[:, 1]

    model = clone(seeded).fit(X, y, sensitive_features=names)
    positive = scores(model)
    assert positive.shape == (240,)
    assert ((positive >= 0) & (positive <= 1)).all(), "probabilities outside [0, 1]"
    again = clone(seeded).fit(X, y, sensitive_features=names)
    assert np.array_equal(scores(again), positive), "`random_state` decides not all"
    (single,) = seeded.fit_many([{}], X, y, sensitive_features=names)
    assert np.array_equal(scores(single), positive), "`fit_many` differs from `fit`"
    assert "epoch" in model.history_, "`history_` has no epochs"
    if arrays := model.network_.arrays():
        again_scored = scorer_of(arrays).positive(X, group)
        np.testing.assert_allclose(
            again_scored, positive, atol=1e-5, err_msg="what is stored"
        )
    if isinstance(method, Method):
        _check_entry(method)


def _check_entry(method: Method) -> None:
    for param in method.params:
        for value in (param.default, *param.options):
            assert param.fits(value), f"`{param.name}` refuses {value!r}"
        if param.kind in ("int", "float"):
            ends = [type(param.default)(end) for end in (param.low, param.high)]
            for end in ends:
                assert param.fits(end), f"`{param.name}` refuses {end!r} of its range"
    for effort in method.efforts:
        method.estimator(method.settings({}, effort), 0)
