"""What the multipliers of fair log-loss count for, cell by cell."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdash._validation import value_label
from fairdash.methods._truncation import Float

OUTCOMES = {
    "demographic_parity": ((0, 1),),
    "true_positive_rate_parity": ((1,),),
    "equalized_odds": ((1,), (0,)),
}


def bounds(labels: Float, constraints: str, n_groups: int) -> Float:
    """Return the share of the rows that each multiplier's constraint compares."""
    shares = [np.isin(labels, outcomes).mean() for outcomes in OUTCOMES[constraints]]
    return np.repeat(np.array(shares), n_groups - 1)


def scales(
    target: NDArray[np.int64],
    codes: NDArray[np.int64],
    groups: NDArray[Any],
    constraints: str,
) -> Float:
    """Return what each multiplier counts for in each cell, (2, n_groups, multipliers).

    One over the share of the cell in all rows: positive for the compared group,
    negative for the first group, 0 elsewhere.

    Raises
    ------
    ValueError
        When a cell is empty.
    """
    columns = []
    for outcomes in OUTCOMES[constraints]:
        chosen = np.isin(target, outcomes)
        sizes = np.bincount(codes[chosen], minlength=len(groups))
        if not sizes.all():
            empty = value_label(groups[sizes.argmin()])
            message = (
                f"Group {empty} has no rows with outcome class {outcomes[0]}, so "
                f"{constraints} compares nothing; leave the group "
                "out, join it with another, or use demographic_parity."
            )
            raise ValueError(message)
        for group in range(1, len(groups)):
            column = np.zeros((2, len(groups)))
            column[list(outcomes), group] = len(codes) / sizes[group]
            column[list(outcomes), 0] = -len(codes) / sizes[0]
            columns.append(column)
    return np.stack(columns, axis=-1)
