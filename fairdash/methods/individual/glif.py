"""GLIF: outputs of a network smoothed over a graph of people who are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array, diags_array, eye_array
from scipy.sparse.linalg import cg
from sklearn.utils.validation import validate_data

from fairdash.methods.base import alike
from fairdash.methods.declare import Method, param, vary
from fairdash.methods.individual.classifier import (
    LONG,
    FairMetricClassifier,
    PairTrainer,
    TargetLoss,
)
from fairdash.methods.network import Batch, StackedNetwork
from fairdash.methods.params import FAIRNESS_WEIGHT, FAST, hidden_layers
from fairdash.methods.scorers import Float, Float32, Network, Smoothed

if TYPE_CHECKING:
    from torch import Tensor

_CLOSE = 1e-10  # residual of the system solved, relative to the outputs


class OneForAll(StackedNetwork):
    """One network that is shown as many, alike in all that training looks at."""

    n_shown = 1

    def predict(self, inputs: Tensor) -> Tensor:
        """Return its outputs for every model, (n_shown, n_rows, n_outputs)."""
        return super().predict(inputs).expand(self.n_shown, -1, -1)

    def networks(self) -> list[Network]:
        """Return it once a model."""
        return super().networks() * self.n_shown


class PlainTrainer(PairTrainer):
    """A predictor for all models, which differ in what comes after alone."""

    def new_predictor(self, rows: Batch) -> StackedNetwork:
        """Return one network, whatever the number of models."""
        first = self.first
        widths = rows.X.shape[1], *hidden_layers(first.predictor_layers)
        predictor = OneForAll(
            (*widths, 1),
            1,
            seed=self.seeds[0],
            learning_rate=first.learning_rate,
            device=self.device,
        )
        predictor.n_shown = len(self.models)
        return predictor

    def prepare(self, rows: Batch) -> None:
        """Learn the metric."""
        self.share_metric(rows)

    def step(self, batch: Batch) -> dict[str, Tensor]:
        """Move the predictor; return its loss, the same for every model."""
        loss = TargetLoss(batch.y)
        outputs = self.predictor.forward(batch.X[None])
        self.predictor.backward(loss.slope(outputs) / len(batch))
        self.predictor.step()
        return {"loss": loss.value(outputs).mean(1).expand(len(self.models))}


class GLIF(FairMetricClassifier):
    r"""Network whose outputs are smoothed over a graph of people who are alike.

    With the outputs h of a network trained without a fairness term, the outputs of the
    training rows become

    .. math::

        f = \arg\min_f \lVert f - h \rVert^2 + \lambda f^T L f = (I + \lambda L)^{-1} h,

    with the Laplacian L = D - W of a graph that joins every row with its k nearest
    ones under the fair metric. Another row x takes its place in the graph while the
    others stay, so that its output is :math:`(h(x) + \lambda \sum_j w_j f_j) / (1 +
    \lambda \sum_j w_j)`.

    The paper joins all rows within a radius, with weights that fall with distance at a
    given rate. Here a weight is :math:`w_j = (1 - d_j / d_{k+1}) / k` with the squared
    distances :math:`d_1, d_2, \ldots` of the nearest rows in their order: no two
    tables share a radius that gives each row neighbours, and not all rows.

    Source: Petersen, Mukherjee, Sun and Yurochkin, *Post-processing for individual
    fairness* (NeurIPS 2021), section 2.1 (Laplacian, closed form) and 2.2 (new rows).

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    groups_ : ndarray of shape (n_groups,)
    network_ : Smoothed
    history_ : DataFrame
        ``epoch`` and mean ``loss`` of each, before outputs are smoothed.
    ratio_, ratio_history_ : None
        This method does not weight rows.
    """

    _trainer_class = PlainTrainer
    network_: Any

    fairness_weight: float = vary(
        FAIRNESS_WEIGHT,
        default=5.0,
        high=100.0,
        step=0.5,
        help="How much it counts that people who are alike get the same output.",
        doc="The :math:`\\lambda` above; 0 leaves the network's outputs alone.",
    )
    n_neighbors: int = param(
        10,
        "Neighbours",
        high=100,
        stackable=True,
        help="People whose outputs are drawn together. More: smoother.",
        doc="The k above; of fewer training rows all others are neighbours.",
    )

    def _fit_models(
        self,
        models: Sequence[Self],
        X: ArrayLike,
        y: ArrayLike,
        sensitive_features: ArrayLike,
    ) -> None:
        super()._fit_models(models, X, y, sensitive_features)
        rows: Float32 = validate_data(self, X, dtype=np.float32, reset=False)
        for places in alike(models, ["fairness_weight"]):
            same = [models[i] for i in places]
            found = smoothed(
                same[0].network_,
                rows,
                same[0].fair_metric_.root,
                weights=[model.fairness_weight for model in same],
                n_neighbours=same[0].n_neighbors,
            )
            for model, network in zip(same, found, strict=True):
                model.network_ = network


def smoothed(
    network: Network,
    rows: Float32,
    root: Float,
    *,
    weights: Sequence[float],
    n_neighbours: int,
) -> list[Smoothed]:
    """Return a network smoothed over the graph of its training rows, by weight.

    ``root``, (d, r), is that of the fair metric: d(x, x') = |(x - x') root|^2.
    """
    before, n = network.outputs(rows), len(rows)
    k = max(1, min(n_neighbours, n - 2))  # one beyond is needed
    anchors = (rows.astype(np.float64) @ root).astype(np.float32)
    own = Smoothed(network, root, anchors, before, np.array([0.0, k]))
    place, w = own.nearest(anchors.astype(np.float64), itself=True)
    row = np.repeat(np.arange(n), place.shape[1])
    one_way = coo_array((w.ravel(), (row, place.ravel())), shape=(n, n))
    W = (one_way + one_way.T) / 2
    laplacian = diags_array(W.sum(axis=1)) - W
    found = []
    for weight in weights:
        system: Any = eye_array(n) + weight * laplacian
        after = np.empty_like(before)
        for column, h in enumerate(before.T):
            after[:, column], failed = cg(system.tocsr(), h, x0=h, rtol=_CLOSE)
            if failed:  # positive definite, so this needs outputs that are not numbers
                raise ValueError("The outputs of the network could not be smoothed.")
        settings = np.array([weight, k])
        found.append(Smoothed(network, root, anchors, after, settings))
    return found


METHOD = Method.of(
    GLIF,
    key="glif",
    label="GLIF",
    title="Graph Laplacian individual fairness",
    summary="Smooths the outputs of a finished network over a graph of people who are "
    "alike, so that neighbours are scored alike.",
    source="Petersen et al., Post-processing for individual fairness (NeurIPS 2021), "
    "section 2",
    efforts={"fast": FAST, "paper": LONG},
    needs_names=True,
)
