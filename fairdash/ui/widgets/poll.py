"""Watch a run while it goes on elsewhere."""

import os
from collections.abc import Callable

import streamlit as st

from fairdash.jobs import wake
from fairdash.store import Snapshot
from fairdash.ui.widgets.state import store

_INTERVAL = "1s"


def follow(run_id: str, draw: Callable[[Snapshot], None]) -> None:
    """Redraw once a second until the run has ended, then rerun the page once.

    One flat fragment: nested ones with an interval crash. Every poll also sees to it
    that the engine lives, so a run survives the loss of its host.

    Parameters
    ----------
    run_id : str
    draw : callable
        Receives the snapshot of the run and draws it, from one read transaction.
    """
    over = store().run(run_id).over
    interval = None if over else os.environ.get("FAIRDASH_POLL", _INTERVAL)

    @st.fragment(run_every=interval)
    def poll() -> None:
        snapshot = store().snapshot(run_id)
        draw(snapshot)
        if not snapshot.run.over:
            wake(store())
        elif not over:
            st.rerun()

    poll()
