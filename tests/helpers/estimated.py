"""Tables of estimates, written by hand."""

import pandas as pd

from fairdash.metrics import views

COLUMNS = ["model", "subgroup", "group", "measure", "value", "low", "high", "n"]


def estimated(
    subgroup, values, *, n=50, gap=None, low=0.0, high=1.0, reason="", model="ROAD",
    measure="selection_rate",
):  # fmt: skip
    """Return the rows of a subgroup: ``values`` by group, and their gap."""
    counts = n if isinstance(n, dict) else dict.fromkeys(values, n)
    gap = max(values.values()) - min(values.values()) if gap is None else gap
    rows = [
        (model, subgroup, group, measure, value, None, None, counts[group])
        for group, value in values.items()
    ]
    total = sum(counts.values())
    rows.append((model, subgroup, None, views.gap_of(measure), gap, low, high, total))
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.assign(method="", reason=reason, sd=float("nan"), n_seeds=1)
