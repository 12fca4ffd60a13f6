"""Parts of a page that run in the browser: live sliders, and a watch on the theme."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_THEME_WATCH = """
export default function ({ parentElement, setStateValue }) {
  const host = parentElement.host ?? parentElement
  const read = () =>
    getComputedStyle(host).getPropertyValue("--st-background-color").trim()
  let last = read()
  const timer = setInterval(() => {
    const now = read()
    if (now !== last) { last = now; setStateValue("background", now) }
  }, 300)
  return () => clearInterval(timer)
}"""


@cache
def live_component(name: str, folder: Path) -> Any:
    """Return the component of ``name.js`` and ``name.css`` in a box of its name.

    Its sliders look alike everywhere: a native track stays white in the dark theme when
    the accent is dark.
    """
    styles = (_HERE / "live_slider.css", folder / f"{name}.css")
    return st.components.v2.component(
        f"fairdash.{name}",
        html=f'<div class="{name}"></div>',
        css="\n".join(style.read_text() for style in styles),
        js=(folder / f"{name}.js").read_text(),
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
