"""Rates that a constraint compares, and checks that all functions here share."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from fairdash._arrays import FloatArray
from fairdash._validation import check_lengths, encode_groups, value_label
from fairdash.metrics import counting

Labels = NDArray[np.int64]
RATE_NAMES = {
    "tpr": "true positive rate",
    "fpr": "false positive rate",
    "positive_rate": "rate of positive predictions",
}
SLACK_OF_SUMS = 1e-6  # by how much a sum of probabilities may miss 1


class Side(NamedTuple):
    """One rate of every group, compared with the same rate of all rows.

    Attributes
    ----------
    rate : {"tpr", "fpr", "positive_rate"}
    outcomes : tuple of int
        Outcomes of the rows that the rate is over.
    sign : {-1, 1}
        -1 when the rate of a group must not be below that of all rows, 1 when it must
        not be above.
    """

    rate: str
    outcomes: tuple[int, ...]
    sign: int
    worst: str

    def rows(self, y: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which rows the rate is over."""
        return np.isin(y, self.outcomes)

    def check_groups(
        self, y: Labels, codes: Labels, groups: NDArray[np.generic]
    ) -> None:
        """Raise ValueError when a group has no rows that the rate is over."""
        n = np.bincount(codes[self.rows(y)], minlength=len(groups))
        if not n.all():
            empty = value_label(groups[int(n.argmin())])
            message = (
                f"Group {empty} has no rows with outcome {self.outcomes[0]}, so its "
                f"{RATE_NAMES[self.rate]} is not defined. Exclude the group or join it "
                "with another. Rows whose sample_weight is 0 do not count."
            )
            raise ValueError(message)


TPR = Side("tpr", (1,), -1, "min_tpr")
FPR = Side("fpr", (0,), 1, "max_fpr")
POSITIVE_RATE = Side("positive_rate", (0, 1), -1, "min_positive_rate")
SIDES = {
    "true_positive_rate_parity": (TPR,),
    "false_positive_rate_parity": (FPR,),
    "equalized_odds": (TPR, FPR),
    "demographic_parity": (POSITIVE_RATE,),
}


def check_distribution(name: str, values: ArrayLike) -> FloatArray:
    """Return probabilities as float64; their last axis must sum to one."""
    p = np.asarray(values, dtype=np.float64)
    if not np.isfinite(p).all() or (p < 0).any():
        raise ValueError(f"`{name}` must hold finite probabilities >= 0.")
    sums = p.sum(axis=-1)
    errors = np.abs(sums - 1)
    if (errors > SLACK_OF_SUMS).any():
        worst = float(np.ravel(sums)[errors.argmax()])
        raise ValueError(f"`{name}` must sum to 1, got {worst:.6g}.")
    return p


def check_shares(name: str, values: ArrayLike) -> FloatArray:
    """Return numbers in [0, 1] as float64."""
    shares = np.asarray(values, dtype=np.float64)
    if not ((shares >= 0) & (shares <= 1)).all():
        flat = np.ravel(shares)
        outside = flat[~((flat >= 0) & (flat <= 1))]
        raise ValueError(f"`{name}` must be in [0, 1], got {outside[0]:g}.")
    return shares


def check_share(name: str, value: float) -> None:
    """Raise ValueError unless ``value`` is in [0, 1]."""
    check_shares(name, value)


def check_noise_matrix(matrix: ArrayLike, n_noisy: int) -> FloatArray:
    """Return P(G = j | noisy group k), one row per noisy group."""
    b = np.asarray(matrix, dtype=np.float64)
    if b.ndim != 2 or b.shape[0] != n_noisy:
        message = (
            f"`group_given_noisy` must have one row for each of the {n_noisy} noisy "
            f"groups and a column per true group, got shape {b.shape}."
        )
        raise ValueError(message)
    return check_distribution("group_given_noisy", b)


def by_group(name: str, values: object, groups: NDArray[np.generic]) -> FloatArray:
    """Return one number in [0, 1] for each group.

    ``values`` is one for all groups, a mapping from group to number, or a sequence in
    the order of ``groups``.
    """
    if isinstance(values, dict | pd.Series):
        by_label = {value_label(key): value for key, value in values.items()}
        labels = [value_label(group) for group in groups]
        missing = [label for label in labels if label not in by_label]
        if missing:
            raise ValueError(f"`{name}` has no entry for the group {missing[0]!r}.")
        return check_shares(name, [by_label[label] for label in labels])
    shares = check_shares(name, values)  # type: ignore[arg-type]
    if shares.ndim and shares.shape != (len(groups),):
        message = f"one number, or one for each of the {len(groups)} groups"
        raise ValueError(f"`{name}` must be {message}, got shape {shares.shape}.")
    return np.array(np.broadcast_to(shares, (len(groups),)))


class DecidedRows(NamedTuple):
    """Rows with a decision.

    Attributes
    ----------
    outcome, decision : ndarray of shape (n_rows,)
        0 or 1.
    names : ndarray of shape (n_groups,)
        The noisy groups.
    codes : ndarray of shape (n_rows,)
        Index in ``names`` of each row's group.
    """

    outcome: Labels
    decision: Labels
    names: NDArray[np.generic]
    codes: Labels


def decided_rows(
    y: ArrayLike, y_pred: ArrayLike, noisy_groups: ArrayLike
) -> DecidedRows:
    """Return outcomes, decisions and groups as checked arrays."""
    outcome = np.asarray(counting.binary_vector("y", y), np.int64)
    decision = np.asarray(counting.binary_vector("y_pred", y_pred), np.int64)
    check_lengths(outcome, decision)
    names, codes = encode_groups(noisy_groups, outcome, at_least=1)
    return DecidedRows(outcome, decision, names, codes)
