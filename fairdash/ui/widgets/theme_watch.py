"""Rerun once when the reader changes the theme.

Streamlit 1.67 swaps the colour tokens of a figure when it mounts and repaints only the
page on a change of theme; a rerun with the new theme in the figure mounts it again.
"""

from functools import cache
from typing import Any

import streamlit as st

_SCRIPT = """
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
def _component() -> Any:
    return st.components.v2.component("fairdash.theme_watch", js=_SCRIPT)


def theme_watch() -> None:
    """Mount the watcher; call once per page."""
    _component()(key="theme_watch", on_background_change=lambda: None)
