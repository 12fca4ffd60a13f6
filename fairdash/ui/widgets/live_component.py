"""Parts of a page that follow the hand: drawn in the browser, with one look."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent


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
