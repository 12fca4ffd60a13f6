"""Where there is a login: what is shared by a link, and for an admin who did what."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from fairdash._escaping import plain
from fairdash._wording import clock_time
from fairdash.jobs import open_share, share_report, share_run, shares, withdraw
from fairdash.store import KeptReport, RunRecord, UserStore, read_trail
from fairdash.ui.widgets.blocks import problem, table_download
from fairdash.ui.widgets.frame import open_unpacked
from fairdash.ui.widgets.state import store

_COPY = (
    "Whoever is logged in here and has the link gets a copy of this run, **with the "
    "rows of its table**. The link opens the run as it is now, even if you delete it, "
    "until you stop sharing; copies opened before stay with those who opened them."
)
_REPORT = (
    "Whoever is logged in here and has the link reads this report, which holds no row "
    "of the table. The link opens it even if you delete the snapshot, until you stop "
    "sharing, on Runs."
)
_SHOWN = 500  # lines of the trail


def open_shared() -> None:
    """Open what the address shares, where it shares something."""
    token = st.query_params.get("shared")
    if not token:
        return
    own = store()
    try:
        if not isinstance(own, UserStore):
            raise ValueError("This server has no login: its runs are all under Runs.")
        found = open_share(own, token)
    except ValueError as error:
        problem("The link was not opened", error)
        return
    del st.query_params["shared"]
    open_unpacked(found)


def share_button(run: RunRecord | None) -> None:
    """Draw the button that shares a run that is over, where there is a login."""
    own = store()
    if not isinstance(own, UserStore):
        return
    possible = run is not None and run.over
    if st.button("Share", icon=":material/share:", disabled=not possible) and run:
        _share(_COPY, "?shared=", lambda: share_run(own, run.id).token)


def share_snapshot(kept: KeptReport) -> None:
    """Draw the button that shares a snapshot of one's own, where there is a login."""
    own = store()
    if not isinstance(own, UserStore) or not kept.address:
        return
    if st.button("Share", icon=":material/share:"):
        _share(_REPORT, "Runs?snapshot=", lambda: share_report(own, kept.id).token)


@st.dialog("Share by a link")
def _share(words: str, address: str, make: Callable[[], str]) -> None:
    st.markdown(words)
    if not st.button("Make a link", type="primary", icon=":material/link:"):
        return
    try:
        token = make()
    except (OSError, ValueError) as error:
        problem("It was not shared", error)
        return
    server = (st.context.url or "").rpartition("/")[0]
    st.code(f"{server}/{address}{token}", "text", wrap_lines=True)


def for_users() -> None:
    """Draw what a user shares and, for an admin, who did what."""
    own = store()
    if not isinstance(own, UserStore):
        return
    shared = shares(own)
    if shared:
        label = f"Shared by link: {len(shared)}"
        with st.expander(label, icon=":material/share:"):
            for one in shared:
                with st.container(horizontal=True, vertical_alignment="center"):
                    text = f"{plain(one.name)} · {clock_time(one.created)}"
                    st.markdown(text, width="content")
                    if st.button("Stop sharing", type="tertiary", key=one.token):
                        withdraw(own, one.token)
                        st.rerun()
    if own.user.role == "admin":
        with st.expander("Who did what", icon=":material/history:"):
            columns = ["time", "user", "action", "what"]
            acts = pd.DataFrame(read_trail(own.root), columns=columns)
            acts["time"] = pd.to_datetime(acts["time"], unit="s").dt.floor("s")
            acts = acts.set_axis(["Time (UTC)", "User", "Did", "What"], axis="columns")
            st.dataframe(acts.head(_SHOWN), hide_index=True)
            table_download("Download all", acts, "fairdash-trail.csv", type="secondary")
