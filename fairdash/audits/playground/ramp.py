"""The ramp of post-processing, as a method of the playground."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairdash.methods import CATALOG, Method, Param
from fairdash.postprocessing import GAMMA, RampThreshold


class RampedLogistic:
    """Logistic regression whose scores a ramp decides at random, by group.

    The ramp is learned on the rows that the regression was trained on: in the plane
    there are no others.

    Attributes
    ----------
    base_ : Logistic
    ramp_ : RampThreshold
    """

    base_: Any
    ramp_: RampThreshold

    def __init__(
        self, gamma: float = GAMMA.default, random_state: int | None = None
    ) -> None:
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, *, sensitive_features: ArrayLike) -> Self:
        """Fit the regression, then the ramp."""
        rows = {"sensitive_features": sensitive_features}
        (fitted,) = self.fit_many([{}], X, y, **rows)
        self.base_ = fitted.base_
        self.ramp_ = fitted.ramp_
        return self

    def fit_many(
        self,
        points: Iterable[Mapping[str, Any]],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sensitive_features: ArrayLike,
    ) -> list["RampedLogistic"]:
        """Fit a ramp per point on the scores of one regression."""
        base = CATALOG["logistic"].estimator({}, random_state=0).fit(X, y)
        margins = 2 * base.predict_proba(X)[:, 1] - 1
        fitted = []
        for point in points:
            model = RampedLogistic(**{"gamma": self.gamma, **point})
            model.base_ = base
            model.ramp_ = RampThreshold(model.gamma).fit(
                margins, y, sensitive_features=sensitive_features
            )
            fitted.append(model)
        return fitted

    def predict_proba(
        self, X: ArrayLike, *, sensitive_features: ArrayLike
    ) -> NDArray[np.float64]:
        """Return the chance of each decision, (n_samples, 2)."""
        margins = 2 * self.base_.predict_proba(X)[:, 1] - 1
        chance = self.ramp_.predict_proba(
            margins, sensitive_features=sensitive_features
        )
        return np.column_stack([1 - chance, chance])


RAMP = Method(
    key="ramp",
    label="Ramp",
    title="Random thresholds of post-processing",
    class_name=RampedLogistic.__name__,
    module=__name__,
    summary="Gives both groups the same rate by a ramp on the scores of a logistic "
    "regression: between two scores chance decides. It must know the group to predict.",
    source="Alabdulmohsin and Lucic (NeurIPS 2021)",
    colour_role="ramp",
    params=(
        Param(
            "gamma",
            "Ramp width",
            "float",
            GAMMA.default,
            letter="γ",
            low=GAMMA.low,
            high=GAMMA.high,
            step=GAMMA.step,
            axis="log",
            trade_off=True,
            help="Wider: chance decides for more people. Scores are from -1 to 1.",
        ),
    ),
    efforts={"fast": {}, "paper": {}},
    needs_groups=True,
    mixture=True,
)
METHODS: Mapping[str, Method] = {**CATALOG, RAMP.key: RAMP}
