"""What can be said for certain of a network, on people it was not trained on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdash.audits._model import AuditedModel
from fairdash.metrics import (
    DIFCertificate,
    FairMetric,
    LossRatio,
    dif_certificate,
    free_sensitivity,
    loss_ratio,
)


@dataclass(frozen=True)
class Certified:
    r"""Certificate, loss ratio and :math:`\lVert A^T W_1 \rVert` of a network."""

    certificate: DIFCertificate
    ratio: LossRatio
    sensitivity: float


def certify(
    model: AuditedModel,
    metric: FairMetric,
    *,
    places: NDArray[np.int64],
    radius: float,
    threshold: float,
) -> Certified:
    """Certify a network on some of its test rows.

    Raises
    ------
    ValueError
        When the model is not a network, with the reason.
    """
    if model.network is None:
        raise ValueError(model.why_no_slopes)
    X, y = model.rows.test.X[places], model.rows.y[places]
    free = model.rows.free_range(metric)
    return Certified(
        dif_certificate(model.network, X, metric, radius=radius, free=free),
        loss_ratio(
            model.network,
            X,
            y,
            metric,
            radius=radius,
            threshold=threshold,
            free=free,
        ),
        free_sensitivity(model.network, metric),
    )
