"""Parts of Streamlit that pages use and it does not promise, here of version 1.67.

Each function says why no public one does. ``tests/ui/test_private.py`` calls each, and
fails where another version works otherwise.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from streamlit import error_util
from streamlit.delta_generator import DeltaGenerator
from streamlit.delta_generator_singletons import get_dg_singleton_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

__all__ = [
    "UploadedFile",
    "drop_polls",
    "end_script",
    "forget_upload",
    "is_shown",
    "is_written",
    "main_part",
    "tell_errors_by",
    "went_back",
]


def tell_errors_by(tell: Callable[..., None]) -> None:
    """Have ``tell`` say of an error of a page or a fragment what Streamlit would say.

    `streamlit.starlette.App` takes a handler, but not every page is served by one:
    ``streamlit run app.py`` and `AppTest` have no place for it.
    """
    error_util._log_uncaught_app_exception = lambda ex: None
    error_util.show_uncaught_app_exception = tell


def main_part() -> DeltaGenerator:
    """Return the page itself, whatever container a script was writing to.

    A page that fails inside a column would say so in the column: ``st`` writes to the
    innermost container.
    """
    return get_dg_singleton_instance().main_dg


def drop_polls() -> None:
    """Forget the fragments of the page that is left.

    A poll on its way is run after the new page, for the old one, and leaves the window
    empty; nothing public ends a fragment that was drawn with ``run_every``.
    """
    context = get_script_run_ctx()
    if context is not None:
        context.fragment_storage.clear()


def went_back() -> bool:
    """Return whether the browser's Back or Forward led here: `st` does not say."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def is_shown(key: str, value: Any) -> bool:
    """Return whether the browser said, when this run began, that a widget has a value.

    ``st.session_state`` does not tell what the browser said from what a page wrote.
    """
    context = get_script_run_ctx()
    if context is None:
        return False
    state = context.session_state._state
    widget_id = state.get_widget_id_from_key(key)
    said = state._new_widget_state
    if widget_id is None or widget_id not in said or state.is_new_state_value(key):
        return False
    return bool(said[widget_id] == value)


def is_written(key: str) -> bool:
    """Return whether a widget's value was written and not yet sent to the browser.

    A run that ends by `st.rerun` leaves it to the next, which `st` does not say. To
    write the value and to fill the widget in by an argument is one too many: Streamlit
    warns of it.
    """
    context = get_script_run_ctx()
    return context is not None and context.session_state._state.is_new_state_value(key)


def end_script() -> NoReturn:
    """End a page before its last line, as its last line would.

    `st.stop` drops what the reader did in a fragment while the page was drawn.
    """
    raise StopException


def forget_upload(uploaded: UploadedFile) -> None:
    """Give the memory of an uploaded file back, which is kept elsewhere by now.

    Streamlit holds it as long as the widget is there; nothing public clears one.
    """
    context = get_script_run_ctx()
    if context is None:
        return
    manager = context.uploaded_file_mgr
    if isinstance(manager, MemoryUploadedFileManager):
        manager.remove_file(context.session_id, uploaded.file_id)
    uploaded.close()
