"""Objects that the server process holds once for all sessions: store, components."""

import gc
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NoReturn

import streamlit as st

import fairdash.plots
import fairdash.sweep  # noqa: F401
from fairdash.audits import AuditRows, Noise, Setting
from fairdash.datasets import Dataset
from fairdash.jobs import engine
from fairdash.scored import ScoredModel
from fairdash.store import Store, User, home_folder, open_store
from fairdash.ui import private

# what cached functions tell these by: keys name contents, and can never be stale
BY_KEY: dict[str | type[Any], Callable[[Any], object]] = {
    **dict.fromkeys((AuditRows, Dataset, Noise), attrgetter("key")),
    **dict.fromkeys((ScoredModel, Setting), attrgetter("contents")),
}
_HERE = Path(__file__).parent
_THEME_WATCH = """
let timer = 0
// called anew at every change of theme; what it returns is called when the page goes
export default function ({ parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement
  const read = () =>
    getComputedStyle(host).getPropertyValue("--st-background-color").trim()
  // a step of a slider is no place to go back to: only another page is
  if (!Object.hasOwn(history, "pushState")) history.pushState = (state, _, url) => {
    const same = new URL(url ?? "", location.href).pathname === location.pathname
    History.prototype[same ? "replaceState" : "pushState"].call(history, state, "", url)
  }
  let last = read()
  clearInterval(timer)
  timer = setInterval(() => {
    const now = read()
    if (now !== last) { last = now; setStateValue("background", now) }
  }, 300)
  return () => clearInterval(timer)
}"""


def store() -> Store:
    """Return the store of this server, or where there is a login the user's own."""
    user = who()
    opened, _ = _opened() if user is None else _opened_for(user)
    return opened


def who() -> User | None:
    """Return who is logged in; None where there is no login.

    Raises ValueError when the login names nobody.
    """
    if not st.user.get("is_logged_in"):
        return None
    return User.of(st.user.to_dict())


def _close(opened: tuple[Store, engine.Lease]) -> None:
    store, lease = opened
    lease.close()
    store.close()


@st.cache_resource(show_spinner=False, on_release=_close)
def _opened() -> tuple[Store, engine.Lease]:
    opened = open_store()
    return opened, engine.attach(opened.root)


@st.cache_resource(show_spinner=False, ttl="1h", on_release=_close)
def _opened_for(user: User) -> tuple[Store, engine.Lease]:
    opened = open_store(user.home(home_folder()))
    return opened, engine.attach(opened.root)


@st.cache_resource(show_spinner=False)
def freeze_imports() -> None:
    """Spare the garbage collector what is imported; call at the end of every page.

    Streamlit collects garbage after every script run and walks all imported modules,
    which costs 50 ms a run; frozen objects are not walked.
    """
    gc.collect()
    gc.freeze()


def end_page() -> NoReturn:
    """End a page before its last line."""
    freeze_imports()
    private.end_script()


@cache
def live_component(name: str, folder: Path, scripts: tuple[str, ...] = ()) -> Any:
    """Return the component of ``name.js`` and ``name.css`` in a box of its name.

    A larger one has several scripts, which are put together in their order. Its sliders
    look alike everywhere: a native track stays white in the dark theme when the accent
    is dark.
    """
    styles = (_HERE / "live_slider.css", folder / f"{name}.css")
    return st.components.v2.component(
        f"fairdash.{name}",
        html=f'<div class="{name}"></div>',
        css="\n".join(style.read_text() for style in styles),
        js="\n".join(
            (folder / f"{script}.js").read_text() for script in scripts or (name,)
        ),
    )


@cache
def _theme_component() -> Any:
    return st.components.v2.component("fairdash.theme_watch", js=_THEME_WATCH)


def theme_watch() -> None:
    """Rerun once when the reader changes the theme; call once per page.

    Streamlit 1.67 swaps the colour tokens of a figure when it mounts and repaints only
    the page on a change of theme; a rerun with the new theme in the figure mounts it
    again.
    """
    _theme_component()(key="theme_watch", on_background_change=lambda: None)
