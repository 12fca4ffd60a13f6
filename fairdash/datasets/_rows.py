"""Which rows of a table are used, and why the others are left out."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairdash.datasets._columns import label_codes
from fairdash.datasets._groups import group_codes
from fairdash.datasets._prepare import has_row_rule, repeated_rows
from fairdash.datasets._roles import Roles


def row_reasons(
    frame: pd.DataFrame, roles: Roles
) -> Iterator[tuple[str, str, NDArray[np.bool_]]]:
    """Yield why rows are left out: the reason, its column and a flag per row."""
    for column, values in roles.keep.items():
        codes, labels = label_codes(frame[column])
        kept = np.isin(codes, [i for i, label in enumerate(labels) if label in values])
        yield "outside the row filter", column, ~kept
    yield "outcome missing", roles.target, _missing(frame[roles.target])
    if roles.sensitive_missing == "exclude":
        for column in roles.sensitive_columns():
            yield "sensitive feature missing", column, _missing(frame[column])
    codes, _ = group_codes(frame, roles)
    yield "value in no group", roles.sensitive_feature, codes < 0
    if has_row_rule(roles):
        yield "repeats an earlier row", "", repeated_rows(frame)
    if roles.missing == "exclude":
        for column in roles.features:
            yield "feature missing", column, _missing(frame[column])


def used_rows(frame: pd.DataFrame, roles: Roles) -> NDArray[np.bool_]:
    """Return a flag per row: no reason to leave it out."""
    reasons = [flags for _, _, flags in row_reasons(frame, roles)]
    used: NDArray[np.bool_] = ~np.any(reasons, axis=0)
    return used


def _missing(column: "pd.Series[Any]") -> NDArray[np.bool_]:
    return column.isna().to_numpy()
