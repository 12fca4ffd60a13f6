"""Local DI: gaps within subgroups, of predictions and of outcomes."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fairdash._columns import in_one_order
from fairdash.metrics.group import local_measures
from fairdash.metrics.group.counting import binary_vector
from fairdash.metrics.group.drawn import Drawn
from fairdash.metrics.group.noise import NoiseFloor, mean_of_largest

_RATIOS = ["ratio", "ratio_low", "ratio_high"]


@in_one_order
def local_di(
    y_pred: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    r"""Gap between the groups' positive rates inside every subgroup.

    .. math::

        \mathrm{DI}_g = \max_s P(\hat y = 1 \mid s, g) - \min_s P(\hat y = 1 \mid s, g)

    which is the ROAD paper's absolute difference for two groups.

    Parameters
    ----------
    y_pred : array-like of 0/1, (n_rows,), or `Drawn`
        Decisions, or any 0/1 column: with the outcome itself this is the gap in base
        rates.
    subgroups : array-like of shape (n_rows,)
        Label of every row; missing means none. Categories keep their order.
    sample_weight, cluster : array-like of shape (n_rows,), optional
        Sampling weights and units, as in :func:`measure_by_group`.

    Returns
    -------
    DataFrame, one row per subgroup: subgroup, n, ``n_<group>`` and ``rate_<group>`` of
    every group, local_di, ci_low, ci_high, estimable, reason ("", "11 rows", "one group
    only"). Where not estimable local_di and its interval are NaN. A group without rows
    in a subgroup is in none of its pairs.

    References
    ----------
    V. Grari et al. (2024), On the fairness ROAD: robust optimization for adversarial
    debiasing. ICLR.
    """
    return (
        _selection(
            _decisions(y_pred),
            sensitive_features=sensitive_features,
            subgroups=subgroups,
            min_size=min_size,
            sample_weight=sample_weight,
            cluster=cluster,
        )
        .table(confidence=confidence, value="rate", gap="local_di")
        .drop(columns=_RATIOS)
    )


def worst_k_di(table: pd.DataFrame, k: int = 1) -> float:
    """Mean of the ``k`` largest local DI of one model; NaN if fewer are estimable.

    A maximum of noisy gaps is biased upwards; :func:`noise_floor` says by how much.
    """
    return float(mean_of_largest(table["local_di"].to_numpy(np.float64), k))


@in_one_order
def noise_floor(
    y_pred: ArrayLike | Drawn,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    k: int = 1,
    n_permutations: int = 1000,
    quantile: float = 0.95,
    random_state: int | None = 0,
) -> NoiseFloor:
    """Worst-k-DI of a model that is fair in every subgroup.

    Groups share out the positive predictions of a subgroup without replacement: counts
    are drawn from the multivariate hypergeometric distribution, no row is moved. With
    weights or units see `LocalMeasure.noise_floor`. NaN if fewer than ``k`` subgroups
    are estimable; arguments as in :func:`local_di`.
    """
    return _selection(
        _decisions(y_pred),
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
        cluster=cluster,
    ).noise_floor(
        k=k, n_permutations=n_permutations, quantile=quantile, random_state=random_state
    )


def _decisions(y_pred: ArrayLike | Drawn) -> Any:
    return y_pred if isinstance(y_pred, Drawn) else binary_vector("y_pred", y_pred)


def _selection(decided: Any, **rows: Any) -> local_measures.LocalMeasure:
    return local_measures.LocalMeasure.of("selection_rate", None, decided, **rows)


@in_one_order
def expected_local_di(
    h: ArrayLike,
    *,
    sensitive_features: ArrayLike,
    subgroups: ArrayLike,
    min_size: int = 50,
    sample_weight: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
) -> pd.DataFrame:
    """Return the table of `local_di` of decisions drawn with ``h``."""
    return local_di(
        Drawn(np.asarray(h)),
        sensitive_features=sensitive_features,
        subgroups=subgroups,
        min_size=min_size,
        sample_weight=sample_weight,
        cluster=cluster,
    )
