"""Where there is a login: for an admin, who did what."""

import pandas as pd
import streamlit as st

from fairdash.store import UserStore, read_trail
from fairdash.ui.widgets.blocks import table_download
from fairdash.ui.widgets.state import store

_SHOWN = 500  # lines of the trail


def trail() -> None:
    """Draw, for an admin, who did what on this server."""
    own = store()
    if not isinstance(own, UserStore) or not own.user.admin:
        return
    with st.expander("Who did what", icon=":material/history:"):
        columns = ["time", "user", "action", "what"]
        acts = pd.DataFrame(read_trail(own.root), columns=columns)
        acts["time"] = pd.to_datetime(acts["time"], unit="s").dt.floor("s")
        acts = acts.set_axis(["Time (UTC)", "User", "Did", "What"], axis="columns")
        st.dataframe(acts.head(_SHOWN), hide_index=True)
        table_download("Download all", acts, "fairdash-trail.csv", type="secondary")
