"""Tables that attack nothing, to compare the cost of crafted ones with."""

from functools import cache

import numpy as np
import pandas as pd

REFUSED = b"age,sex,hired\n"  # what a page that refuses a file costs


@cache
def plain(n_rows, n_columns):
    """Return a CSV file of so many people: two categories, then numbers."""
    rng = np.random.default_rng(0)
    columns = {"sex": rng.choice(["w", "m"], n_rows)}
    if n_columns > 1:
        columns["hired"] = rng.integers(0, 2, n_rows)
    for i in range(2, n_columns):
        columns[f"x{i}"] = rng.normal(size=n_rows).round(3)
    return pd.DataFrame(columns).to_csv(index=False).encode()
