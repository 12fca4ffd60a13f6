"""fairlearn's constraints and its error over rows that stand for several rows each."""

from typing import Any

import numpy as np

from fairdash._arrays import FloatArray
from fairdash.methods.lazy import reductions


class WeightedRows:
    """Mixin before a class of fairlearn, so that it counts weighted rows.

    ``weight`` says how many rows each row stands for.
    """

    tags: Any
    X: Any

    def __init__(self, weight: FloatArray, **bounds: float) -> None:
        super().__init__(**bounds)
        self.weight = weight

    @property
    def total_samples(self) -> float:
        """Number of rows, those that others stand for included."""
        return float(self.weight.sum())


class WeightedError(WeightedRows):
    """Before `fairlearn.reductions.ErrorRate`."""

    index: Any

    def gamma(self, predictor: Any) -> Any:
        """Return the weighted share of wrong decisions."""
        right = self.tags["label"] == np.squeeze(predictor(self.X))
        error = self.weight @ ~right / self.total_samples
        return right.iloc[:0].reindex(self.index, fill_value=error)

    def signed_weights(self, lambda_vec: Any = None) -> Any:
        """Return the weight of each row, negative where 0 is right."""
        plain = super().signed_weights(lambda_vec)  # type: ignore[misc]
        return plain * self.weight


class WeightedParity(WeightedRows):
    r"""Before a constraint of fairlearn, whose matrix U it weights.

    .. math::

        U_{i, (+, e, g)} = w_i \left(
        \frac{1[e_i = e]}{P_w(e)} - \frac{1[e_i = e, g_i = g]}{P_w(e, g)} \right)

    and the negative of it for the other sign, with weighted shares :math:`P_w`: its
    mean over decisions is the gap of weighted rates.
    """

    U: Any

    def load_data(self, X: Any, y: Any, *, sensitive_features: Any) -> None:
        """Read the rows, and weight what fairlearn made of them."""
        super().load_data(X, y, sensitive_features=sensitive_features)  # type: ignore[misc]
        event = self.tags["event"]
        group = self.tags["group_id"]
        # fairlearn has counted rows; count what they stand for instead.
        counted = self.tags.assign(weight=self.weight)
        shares = counted.groupby(["event", "group_id"])["weight"].sum()
        self.prob_group_event = shares / self.total_samples
        self.prob_event = self.prob_group_event.groupby("event").sum()
        if not (shares > 0).all():
            raise ValueError(
                f"`sample_weight` is 0 in all rows that the constraint compares of "
                f"group number {shares.idxmin()[1]}; leave this group out."
            )
        for sign, e, g in self.U:
            in_event = event == e
            in_cell = in_event & (group == g)
            overall = in_event / self.prob_event[e]
            of_group = in_cell / self.prob_group_event[e, g]
            gap = self.weight * (overall - of_group)
            self.U[sign, e, g] = gap if sign == "+" else -gap

    def default_objective(self) -> Any:
        """Return the weighted error."""
        return weighted(reductions.ErrorRate, WeightedError, self.weight)


def weighted(kind: type, mixin: type, weight: FloatArray, **bounds: float) -> Any:
    """Return an object of a class of fairlearn, with a mixin that weights its rows."""
    weighted_kind = type(kind.__name__, (mixin, kind), {})
    return weighted_kind(weight, **bounds)
