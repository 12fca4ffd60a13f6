"""What the server process holds once for all sessions."""

import gc

import streamlit as st

import fairdash.plots
import fairdash.sweep  # noqa: F401
from fairdash.jobs import Lease, attach
from fairdash.store import Store, open_store

_leases: list[Lease] = []  # held as long as this process lives


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Return the store of this server, whose app lease lives as long as the process.

    The engine goes on while at least one app holds a lease and while runs are open.
    """
    opened = open_store()
    _leases.append(attach(opened.home))
    return opened


@st.cache_resource(show_spinner=False)
def freeze_imports() -> None:
    """Spare the garbage collector what is imported; call at the end of every page.

    Streamlit collects garbage after every script run and walks all imported modules,
    which costs 50 ms a run; frozen objects are not walked.
    """
    gc.collect()
    gc.freeze()
