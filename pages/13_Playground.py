"""Playground: what each method does, in two dimensions."""

import streamlit as st

from fairdash import ui
from fairdash.methods import CATALOG
from fairdash.ui import pages, playground

view = ui.page(pages.PLAYGROUND)
scene, method = playground.choose()
st.markdown(f"**{scene.question}** {scene.look_for}")
playground.draw_plane(scene, method)
st.caption(
    f"{CATALOG[method].summary} Figures are of the 600 people drawn here, who are also "
    "those the models were trained on."
)
ui.freeze_imports()
