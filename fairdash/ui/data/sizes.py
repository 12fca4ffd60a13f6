"""How many rows of each group every subgroup has, before anything is trained."""

import pandas as pd
import streamlit as st

from fairdash._wording import plural
from fairdash.ui.results.summary import BaseRates


def size_table(rates: BaseRates) -> pd.DataFrame:
    """Return one row per subgroup: rows, rows of each group, whether it is estimable.

    Parameters
    ----------
    rates : BaseRates
    """
    local = rates.local.set_index("subgroup")
    counts = rates.cells.pivot_table("n", "subgroup", "group", "sum", observed=True)
    table = counts.reindex(local.index).fillna(0).astype(int)
    table.insert(0, "Rows", local["n"])
    table["Estimable"] = local["estimable"]
    table["Why not"] = local["reason"]
    return table.rename_axis("Subgroup").reset_index().rename_axis(columns=None)


def show_sizes(rates: BaseRates) -> None:
    """Draw the sizes of all subgroups, those that cannot be estimated first."""
    table = size_table(rates)
    lost = int((~table["Estimable"]).sum())
    st.caption(
        f"{plural(len(table), 'subgroup')}, {lost} not estimable"
        if lost
        else f"{plural(len(table), 'subgroup')}, all estimable"
    )
    ordered = table.sort_values("Estimable", kind="stable")
    st.dataframe(ordered, hide_index=True, height=min(35 * (len(table) + 1) + 3, 250))
