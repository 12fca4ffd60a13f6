"""Estimates: one long table for everything that is measured.

A row is one number with its interval. What a user named (a model, a group, a subgroup)
is a value in it, never the name of a column.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from old_pipelines.group.intervals import Interval

WHAT = ["model", "seed", "subgroup", "group", "measure"]
NUMBERS = ["value", "low", "high"]
COLUMNS = [*WHAT, *NUMBERS, "n", "method", "reason"]
Block = dict[str, NDArray[Any]]


def block(
    measure: str,
    value: Interval,
    n: ArrayLike,
    *,
    subgroups: Sequence[str | None],
    groups: Sequence[str | None] = (None,),
    method: str = "",
    reasons: Sequence[str] | None = None,
) -> Block:
    """Return rows of estimates for every subgroup and group, by column.

    Parameters
    ----------
    value : Interval of arrays of (subgroups, groups)
    subgroups, groups : sequence of str or None
        None stands for all rows, and for the groups taken together.
    reasons : sequence of str, optional
        Why a subgroup is not estimable, one each; "" where it is.
    """
    shape = len(subgroups), len(groups)
    place, which = (grid.ravel() for grid in np.indices(shape))

    def flat(part: ArrayLike) -> Any:
        return np.broadcast_to(part, shape).ravel()

    size = len(place)
    return {
        "subgroup": _words(subgroups)[place],
        "group": _words(groups)[which],
        "measure": np.full(size, measure, dtype=object),
        **dict(zip(NUMBERS, map(flat, value), strict=True)),
        "n": flat(n),
        "method": np.full(size, method, dtype=object),
        "reason": _words(reasons or [""] * shape[0])[place],
    }


def estimates(
    blocks: Sequence[Block], *, model: str = "", seed: int | None = None
) -> pd.DataFrame:
    """Return blocks of rows as one table with the columns of `COLUMNS`.

    Returns
    -------
    DataFrame
        model, seed, subgroup (None: all rows), group (None: the groups together),
        measure, value, low, high, n, method (of the interval) and reason ("" where the
        subgroup is estimable).
    """
    joined = {
        name: np.concatenate([part[name] for part in blocks]) for name in blocks[0]
    }
    table = pd.DataFrame(joined).assign(model=model, seed=seed)
    words = dict.fromkeys(
        ["model", "subgroup", "group", "measure", "method", "reason"], "str"
    )  # None stays missing
    return table.astype({"seed": "Int64", **words})[COLUMNS]


def _words(words: Sequence[str | None]) -> Any:
    return np.array([*words, None], dtype=object)[:-1]
