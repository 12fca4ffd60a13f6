"""Methods of other packages: the base class to write one, and where they are found."""

import warnings
from abc import abstractmethod
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from fairdash._arrays import FloatArray
from fairdash.methods.base import TrainingRows
from fairdash.methods.classical.plain import OneByOne, OneModel
from fairdash.methods.declare import Method

GROUP = "fairdash.methods"  # of entry points, each a `Method`


class FairClassifier(OneByOne, OneModel):
    """Base class of a method that is not part of fairdash.

    A subclass declares its parameters in its body and trains a model in ``train``::

        class Mine(FairClassifier):
            strength: float = param(1.0, "Strength", trade_off=True, high=5.0)

            def train(self, rows):
                ...
                return model

        METHOD = Method.of(Mine, key="mine", label="Mine", title=..., summary=...,
                           source=...)

    A package offers it by an entry point of the group ``fairdash.methods`` that names
    ``METHOD``. Catalog, form, sweep, command line and workers then have the method.
    `fairdash.testing.check_method` tells whether it keeps its promises.
    """

    @abstractmethod
    def train(self, rows: TrainingRows) -> Any:
        """Return a model of the training rows.

        Parameters
        ----------
        rows : TrainingRows
            ``X`` (n_rows, n_features), ``target`` of 0 and 1, ``codes``, the index of
            each row's group in ``self.groups_``, and ``weight``, which is None.

        Returns
        -------
        object with ``predict_proba(X)``, columns for 0 and 1
            Logistic regression, gradient boosting and random forests of scikit-learn
            are kept whole, so that other people can be scored; of other models a run
            keeps the scores of its rows.
        """

    def _learn(self, rows: TrainingRows) -> FloatArray:
        return self._keep(self.train(rows), rows)


def plugged(taken: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods that installed packages offer, by key.

    A package that cannot be loaded, or whose key is taken, is excluded with a warning:
    it must not keep others from their work.
    """
    methods: dict[str, Method] = {}
    for entry in entry_points(group=GROUP):
        try:
            method = entry.load()
            if not isinstance(method, Method):
                raise TypeError("it is no `Method`")
            if method.key in {**taken, **methods}:
                raise ValueError(f"another method has the key {method.key!r}")
        except Exception as error:  # whatever somebody else's module raises
            warnings.warn(
                f"The method {entry.name!r} of {entry.value} is excluded: {error}.",
                stacklevel=2,
            )
        else:
            methods[method.key] = method
    return methods
