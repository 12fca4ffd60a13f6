"""What a reader is told when a page fails: why, or a number that is also in the log.

No traceback and no path of the server reaches a browser.
"""

import secrets

import streamlit as st
from streamlit import error_util
from streamlit.delta_generator_singletons import get_dg_singleton_instance
from streamlit.logger import get_logger

from fairdash.store import trouble
from fairdash.ui.selection import selection
from fairdash.ui.widgets.blocks import problem
from fairdash.ui.widgets.frame import missing

log = get_logger("fairdash")


class Incident(Exception):
    """What nobody foresaw, by its number."""

    alternate_name = ""  # the box on the page names no type


def tell(ex: BaseException) -> None:
    """Say what stopped a page.

    That is a store that does not work, a run or data set that was deleted in another
    window while the page was drawn, or else an incident: its number stands on the page,
    and in the log beside the traceback.
    """
    with get_dg_singleton_instance().main_dg:
        try:
            chosen = selection()
            why = trouble(ex)
            gone = None if why else missing(chosen.run, chosen.data)
        except OSError as now:
            why, gone = trouble(now), None
        if why:
            log.error("%s", why)
            problem("The store does not work", why)
        elif gone:
            problem(gone[1], "It was deleted in another window.")
        else:
            number = secrets.token_hex(3)
            log.error("incident %s", number, exc_info=ex)
            st.exception(
                Incident(
                    f"Something unexpected went wrong: incident {number}. What was "
                    "finished is not lost. Load the page again; the server's log says "
                    "under this number what happened."
                )
            )


# Streamlit calls these two for whatever a page or a fragment raises, and has a place
# for a handler only where it is started in another way
error_util._log_uncaught_app_exception = lambda ex: None
error_util.show_uncaught_app_exception = tell
